"""Identities in the client: the operations on keys, and the file that has the keys of servers."""
