"""Workflows written in Python: classes whose methods are steps, and durable functions."""
