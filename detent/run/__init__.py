"""A run as plain values: what happened (`journal`), what that adds up to (`state`), what comes next (`plan`).

Pure: nothing here does I/O, asks the time or knows a database.
"""
