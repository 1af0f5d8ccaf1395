"""The store on SQLite: one file, one engine, nothing to install."""
