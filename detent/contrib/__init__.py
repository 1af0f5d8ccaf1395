"""Detent inside frameworks."""
