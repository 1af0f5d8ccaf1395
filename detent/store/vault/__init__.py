"""Sealed values: their rows, and the verbs of a store for them."""
