"""Runs of every kind that are made on a real engine and kept as tests."""
