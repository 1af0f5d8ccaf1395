"""The examples are tests."""
