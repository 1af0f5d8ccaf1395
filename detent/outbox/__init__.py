"""Starts that wait in an application's database, apart from Detent's own tables.

The application writes a row of `detent_outbox` in its own transaction. A node that knows that database
(DETENT_OUTBOX_URLS) starts the run and deletes the row. A row starts one run, however often it is read.
"""
