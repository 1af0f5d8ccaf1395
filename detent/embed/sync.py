"""Detent for programs without an event loop: scripts, Flask, Django.

    run = detent.sync.start(Signup, hero=user)
    print(run.result(timeout=60))

Any thread may call it, and so may a process that was forked after it was used.
"""

from __future__ import annotations

from detent.embed.changes import record_change_blocking as record_change
from detent.embed.runs import SyncRunHandle as RunHandle
from detent.embed.runs import sync_runs as runs
from detent.embed.start import start_blocking as start

__all__ = ["RunHandle", "record_change", "run", "runs", "start"]


def run(id: str) -> RunHandle:  # noqa: A002
    """Return the handle of a run. It sends no request yet."""
    return RunHandle(id)
