"""The numbers of an engine, each with its reason. Tests shorten the times."""

from __future__ import annotations

import logging
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tuning:
    """The tuning of one engine. All times are in seconds."""

    lease: float = 10.0  # how long a silent node keeps its runs
    beat: float = 2.0  # how often the lease is renewed
    margin: float = 2.0  # how long before the end of its lease a node stops its effects
    poll: float = 0.1  # pause between claims while there is work
    idle_poll: float = 0.5  # pause between claims while there is none
    mail_poll: float = 0.1
    watch: float = 5.0  # how often ownership is compared with memory
    orphans: float = 5.0  # how often children of parents that ended without completing are looked for
    drain: float = 25.0  # how long a stopping node waits for attempts in flight
    park_after: float = 10.0  # a run that waits longer than this leaves memory
    horizon: float = 1.0  # how far ahead of their time parked runs are claimed
    slots: int = 1_000  # attempts at once
    claim_batch: int = 500
    flush_rows: int = 2_000
    flush_bytes: int = 1_000_000
    write_patience: float = 8.0  # how long a start waits for a database that cannot be written
    queue_bytes: int = 64_000_000  # size of the write queue above which starts are refused
    poison_after: int = 5  # strikes after which a step is given up
    poison_delay: float = 300.0  # the longest delay before an attempt of a suspect run
    log_level: int = logging.INFO  # the lowest level of the lines of steps that are stored
    queues: tuple[str, ...] | None = None  # None: every queue

    @property
    def runnable_limit(self) -> int:
        """Return how many runs with work a node may own."""
        return 2 * self.slots
