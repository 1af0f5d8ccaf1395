"""What must have happened at least once in a campaign: a fault that never fired has tested nothing."""

from __future__ import annotations

from collections import Counter
from typing import Final

SOMETIMES: Final = (
    "world was quiet",
    "run completed",
    "run failed",
    "run cancelled",
    "run timeout",
    "run paused",
    "run resumed",
    "run started unowned",
    "run ended at its start",
    "node crashed",
    "node paused",
    "node paused beyond its lease",
    "node drained",
    "node lost its lease and began again",
    "node taken over",
    "deadly step",
    "heart was cut off",
    "store was gone",
    "database clock jumped",
    "statement met a lock",
    "late flush",
    "late claim",
    "late flush fenced",
    "fence refused a flush",
    "fence refused a claim",
    "reply lost: flush",
    "reply lost: claim",
    "reply lost: beat",
    "reply lost: register",
    "reply lost: raise_epoch",
    "flush repeated: it had been applied",
    "flush repeated: it had not been applied",
    "run moved to another version",
    "move refused",
    "run adopted",
    "run parked",
    "run woken from its park",
    "run claimed for its mail",
    "watchdog gave a run back",
    "step poisoned",
    "suspect attempt started",
    "suspect attempt began",
    "suspect was struck",
    "step failed because its node died",
    "step is uncertain after a crash",
    "step retried",
    "step ran again after a crash",
    "step timed out",
    "step skipped",
    "step waited for a slot",
    "callback accepted",
    "callback came early",
    "early callback kept for its wait",
    "early callback refused",
    "callback used twice",
    "callback repeated with its message id",
    "callback came too late",
    "callback beat the timeout",
    "timeout beat the callback",
    "attempt in flight was stopped",
    "start with a request id",
    "start was refused by the store",
    "start refused: request_id_taken",
    "start refused: already_active",
    "start refused: not_startable",
    "run started for later",
    "run opened at its time",
    "run started again: retry",
    "run started again: fork",
    "result taken over from another run",
    "uncertain step resolved",
    "callback received in a batch",
    "run started by a schedule",
    "firing started",
    "firing skipped",
    "firing refused",
    "step says skip",
    "step says reattempt",
    "step says pause",
    "step says cancel",
    "run finished by a step",
    "run finished by a person",
    "step skipped by a person",
    "step tried anew by a person",
    "run moved",
    "step left out as in another run",
    "memory compared with the journal",
    "memory compared after an event",
    "as many attempts were in flight as the graph allows",
    "otherwise edge was taken",
    "condition could not be evaluated",
    "condition step was answered",
    "failure was followed",
    "failure was followed and not handled",
)


class Counters:
    """Counts over all worlds of a campaign."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, name: str) -> None:
        self._counts[name] += 1

    def __getitem__(self, name: str) -> int:
        return self._counts[name]

    def missing(self) -> list[str]:
        """What never happened though it must sometimes."""
        return [name for name in SOMETIMES if not self._counts[name]]

    def lines(self) -> list[str]:
        others = sorted(set(self._counts) - set(SOMETIMES))
        return [f"{self._counts[name]:>9,}  {name}" for name in (*SOMETIMES, *others)]
