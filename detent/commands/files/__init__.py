"""Workflows that files manage: what applying a folder would change, and the lock on what a folder manages.

`lock` says which folder manages a workflow and refuses edits from elsewhere. `plan` compares definitions with what is
stored.
"""
