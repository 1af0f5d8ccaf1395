"""Migrations, numbered, one file each. Alembic reads them; only `plan` calls it, and `server` runs them on a server.

A file names its kind in its first line. `pre` only adds, is applied before the new code starts, and suits the old code.
`post` removes, raises `oldest_code`, and is applied after the old code has gone.
"""
