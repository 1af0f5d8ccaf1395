"""Starts that wait in the database of an application, where Detent's own tables are not.

The application writes a row of `detent_outbox` in its own transaction; a node that knows that database
(DETENT_OUTBOX_URLS) starts the run and deletes the row. A row starts one run however often it is read.
"""
