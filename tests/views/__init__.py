"""Tests of what pages and streams show."""
