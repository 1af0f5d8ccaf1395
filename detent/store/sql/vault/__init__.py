"""Sealed values: secrets and credentials, the same on every SQL database."""
