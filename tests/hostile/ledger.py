"""Everything that was sent and what was answered, and the judgement over it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

#: Nobody answered: it may have been taken or not.
UNKNOWN: Final = 0
_OVER: Final = frozenset({"completed", "failed", "timeout", "cancelled"})


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: its message (the `webhook-id`, or what makes it unlike all others), its mark, and its answer."""

    message: str
    mark: str
    status: int

    @property
    def is_accepted(self) -> bool:
        return 200 <= self.status < 300


@dataclass
class Ledger:
    """What was sent, by run and step. `odd` are answers that must not be."""

    sent: dict[tuple[str, str], list[Sent]] = field(default_factory=lambda: defaultdict(list))
    statuses: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    odd: list[str] = field(default_factory=list)

    def note(self, scenario: str, run: str, step: str, sent: Sent, allowed: frozenset[int]) -> None:
        """Write down a request and its answer."""
        self.sent[run, step].append(sent)
        self.statuses[scenario][sent.status] += 1
        if sent.status not in allowed and sent.status != UNKNOWN:
            self.odd.append(f"{scenario}: {run} {step} was answered {sent.status}, not one of {sorted(allowed)}")

    def judge(self, runs: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Every promise that was broken."""
        found = list(self.odd)
        for (run, step), sent in self.sent.items():
            document = runs.get(run)
            if document is None:
                found.append(f"lost: {run} is not there")
            else:
                found += [f"{problem}: {run} {step}" for problem in judge_step(document, step, sent)]
        return found

    def accepted(self) -> int:
        """Waits with an accepted payload."""
        return sum(any(each.is_accepted for each in sent) for sent in self.sent.values())


def judge_step(document: Mapping[str, Any], step: str, sent: list[Sent]) -> list[str]:
    """What is wrong with one wait of one run, given everything that was sent to it."""
    found = []
    accepted = {each.message for each in sent if each.is_accepted}
    if len(accepted) > 1:
        found.append("two messages were accepted for one wait")
    counts = accepted or {each.message for each in sent if each.status == UNKNOWN}
    task = document["tasks"][step]
    kept = task["body"]
    if document["status"] not in _OVER:
        found.append(f"stuck: the run is {document['status']}")
    if accepted and kept is None:
        found.append("lost: an accepted payload was not consumed")
    if kept is not None and kept["mark"] not in {each.mark for each in sent if each.message in counts}:
        found.append("what was consumed was not accepted")
    if (task["status"] == "success") != (kept is not None):
        found.append(f"the step is {task['status']} with the payload {kept!r}")
    if len(task["attempts"]) > 1:
        found.append("consumed more than once")
    return found
