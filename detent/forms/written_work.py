"""What the steps of every form have in common as far as they could be read: kind, config, policies, and their reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from detent.forms.kinds import Work, WrittenMap
from detent.forms.templates import Read
from detent.graph.model import NO_RETRY, OnCrash, Repeat, Retry, Step, StepKind

#: The kinds whose config the planner evaluates, before there is an attempt.
_PLANNED: Final = (StepKind.SLEEP, StepKind.WAIT, StepKind.CONDITION)
#: The key of the length of a step that only lasts.
_LENGTHS: Final = {StepKind.SLEEP: "seconds", StepKind.WAIT: "timeout"}


@dataclass(slots=True, kw_only=True)
class WrittenWork:
    """What a step does. `kind` is `None` if even that could not be read."""

    kind: StepKind | None = None
    config: dict[str, Any] = field(default_factory=dict)
    reads: list[Read] = field(default_factory=list)
    planned_reads: list[Read] = field(default_factory=list)  # of expressions that the planner evaluates
    warnings: list[str] = field(default_factory=list)
    retry: Retry = NO_RETRY
    timeout: float | None = None
    on_crash: OnCrash = OnCrash.RETRY
    is_retried: bool = False  # its retries are written
    is_limited: bool = False  # its time limit is written
    rerender: bool = False
    queue: str | None = None
    priority: int | None = None
    map: WrittenMap | None = None
    repeat: Repeat | None = None
    repeat_reads: list[Read] = field(default_factory=list)

    def set_work(self, work: Work) -> None:
        """Take over the kind, the config and the reads of what was read."""
        self.kind = work.kind
        self.config = work.config
        (self.planned_reads if work.kind in _PLANNED else self.reads).extend(work.reads)
        self.warnings += work.warnings

    def build_step(self, name: str, **own: Any) -> Step:
        """Build the step of the graph. `own` are the fields that only some forms have."""
        return Step(
            name=name,
            kind=self.kind or StepKind.ACTION,
            config=self.config,
            retry=self.retry,
            timeout=self.timeout,
            on_crash=self.on_crash,
            queue=self.queue,
            priority=self.priority,
            rerender=self.rerender,
            each=None if self.map is None else self.map.each,
            repeat=self.repeat,
            **own,
        )


def too_long(most: float | None, written: Iterable[tuple[str, WrittenWork]], key: str) -> Iterator[str]:
    """Yield a warning for each sleep or wait that lasts longer than a run may. Each step comes with its path; `key` is
    what the form calls the limit of a run."""
    for path, one in written:
        length = one.config.get(_LENGTHS[one.kind]) if one.kind in _LENGTHS else None
        if most is not None and isinstance(length, int | float) and length > most:
            yield f"{path}: it lasts up to {length:g} s, and a run only {most:g} s; write a longer {key}"
