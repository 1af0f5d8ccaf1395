"""Detent: a durable workflow engine for Python teams."""

__version__ = "0.1.0"
