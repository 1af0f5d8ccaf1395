"""Runs that continue with another graph: `code` after their code has changed, `version` to another version of their
workflow. `rehearsal` tries a version on recorded runs, and `shape` groups runs that would do the same."""
