"""Detent inside frameworks and libraries that have no folder of their own."""
