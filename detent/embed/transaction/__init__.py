"""A start that is part of the caller's own transaction: rolled back with it, begun once it is committed.

Where Detent's tables are in the caller's database, the run's row itself is written there. Elsewhere, and in every
SQLite file (which is not Detent's own: that has one writer), the start is put into the table `detent_outbox`, from
which a node fetches it.
"""
