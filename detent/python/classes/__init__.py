"""Workflow classes: their definition, the graph they compile to, and how an attempt runs a method."""
