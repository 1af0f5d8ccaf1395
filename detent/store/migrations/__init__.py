"""Migrations, numbered, one file per step. Alembic reads them; only `statements` calls it.

A file says its kind in its first line: `pre` is applied before the new code starts and must suit the old code too,
`post` after the old code has gone.
"""
