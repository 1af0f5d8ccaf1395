"""Untrusted values: JSON, YAML and HTTP bodies as plain data, fields read with all problems at once, and limits."""
