"""What the steps of every form have in common as far as they could be read: kind, config, policies, and their reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from detent.forms.compiled import Respond, TriggerDefinition
from detent.forms.kinds import CORE_PREFIX, Work, WrittenMap
from detent.forms.templates import Read
from detent.graph.model import NO_RETRY, OnCrash, Repeat, Retry, Step, StepKind
from detent.values.answer import RESPOND
from detent.values.fields import Fields, Problems, shown

LONGEST_CREDENTIAL: Final = 64
CREDENTIAL_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
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
    sensitive: bool = False
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

    def read_sensitive(self, fields: Fields, *, is_map: bool) -> None:
        """Read whether the result is sealed. A child run has its own results, and those of a map are gathered."""
        self.sensitive = fields.boolean("sensitive", False)
        if self.sensitive and (self.kind is StepKind.SUBWORKFLOW or is_map):
            what = "a child run" if self.kind is StepKind.SUBWORKFLOW else "a step that runs once for each item"
            fields.problems.add(fields.at("sensitive"), f"has no meaning for {what}; write it at a single step")
        if self.sensitive and "large" in self.config:
            message = "a sealed result has no blob beside it; remove `large`, or `sensitive`"
            fields.problems.add(fields.at("sensitive"), message)

    def read_credential(self, fields: Fields) -> None:
        """Read the stored credential that the requests of the step carry. Its name is constant, so that it is known
        before a run."""
        name = fields.text("credential", most=LONGEST_CREDENTIAL)
        if name is None:
            return
        action = self.config.get("action")
        if self.kind is StepKind.ACTION and str(action).startswith(CORE_PREFIX):
            fields.problems.add(fields.at("credential"), f"has no meaning for {action!r}, which sends no request")
        elif not CREDENTIAL_NAME.fullmatch(name):
            fields.problems.add(fields.at("credential"), f"{shown(name)} cannot be the name of a credential")
        else:
            self.config = {**self.config, "credential": name}

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
            sensitive=self.sensitive,
            each=None if self.map is None else self.map.each,
            repeat=self.repeat,
            **own,
        )


def check_answers(
    trigger: TriggerDefinition, written: Iterable[tuple[str, WrittenWork]], problems: Problems, word: str
) -> None:
    """Report a webhook that waits for the answer of a step if no step answers, and steps that cannot answer. `word` is
    how the form writes such a step."""
    is_answered = False
    for path, one in written:
        if one.kind is not StepKind.ACTION or one.config.get("action") != RESPOND:
            continue
        is_answered = True
        if one.map is not None or one.repeat is not None or one.sensitive:
            message = "a step that answers the caller runs once and in the open"
            problems.add(path, f"{message}; it cannot run for each item, repeat, or be sensitive")
    if trigger.config.get("respond") == Respond.STEP and not is_answered:
        message = f"no step answers the caller; add {word}, or write respond: output"
        problems.add("trigger.respond", message)


def too_long(most: float | None, written: Iterable[tuple[str, WrittenWork]], key: str) -> Iterator[str]:
    """Yield a warning for each sleep or wait that lasts longer than a run may. Each step comes with its path; `key` is
    what the form calls the limit of a run."""
    for path, one in written:
        length = one.config.get(_LENGTHS[one.kind]) if one.kind in _LENGTHS else None
        if most is not None and isinstance(length, int | float) and length > most:
            yield f"{path}: it lasts up to {length:g} s, and a run only {most:g} s; write a longer {key}"
