"""Tests of the catalog: manifests, what becomes of them, and the documents that connectors are imported from."""
