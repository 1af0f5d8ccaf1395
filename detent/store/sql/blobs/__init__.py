"""Blobs on every SQL database: their tables and verbs."""
