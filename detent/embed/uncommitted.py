"""Handles of runs whose start is in an open transaction: their end can be awaited before it is committed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from detent.client import runs
from detent.client.calls import Seconds
from detent.client.client import RunHandle, RunOperations, SyncRunHandle, asks_of
from detent.client.runs import WaitForEnd, WaitForResult

#: For how many seconds a run may not exist yet.
LONGEST_COMMIT: Final = 60.0


def wait_uncommitted(run: str, timeout: Seconds | None = None) -> WaitForEnd:
    """Wait as `wait` does, also while the transaction that started the run is open. Raise NotFound if it is not
    committed in time."""
    return replace(runs.wait(run, timeout), commit=LONGEST_COMMIT)


def result_uncommitted(run: str, timeout: Seconds | None = None) -> WaitForResult:
    """Return the output as `result` does, also while the transaction that started the run is open. Raise NotFound if it
    is not committed in time."""
    return WaitForResult(wait_uncommitted(run, timeout))


class UncommittedOperations(RunOperations):
    """The operations on a run whose start is in an open transaction."""

    wait = asks_of(wait_uncommitted)
    result = asks_of(result_uncommitted)


class SyncUncommittedRun(UncommittedOperations, SyncRunHandle):
    """A handle of a run that begins when a transaction is committed, whose methods block."""


class UncommittedRun(UncommittedOperations, RunHandle):
    """A handle of a run that begins when a transaction is committed, whose methods are awaited."""

    @property
    def sync(self) -> SyncUncommittedRun:
        return SyncUncommittedRun(self.id, self.started, driver=self.driver.sync())
