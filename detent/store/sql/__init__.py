"""Stores on SQL databases: one description of the tables, one folder per dialect."""
