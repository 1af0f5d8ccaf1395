"""A start that is part of the caller's own transaction: it is rolled back with it, or begins after the commit.

If Detent's tables are in the caller's database, the run's row itself is written there. Otherwise the start is written
to the table `detent_outbox`, and a node fetches it from there. A SQLite file always gets an outbox: it cannot be
Detent's own file, which has one writer.
"""
