"""Identities in the store: rows and verbs of people, sessions and handshakes."""
