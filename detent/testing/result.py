"""The result of a run, for a test to check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import msgspec

from detent.commands import Commands
from detent.errors import NotFound
from detent.graph.model import StepKind
from detent.ids import RUN, show
from detent.planner.history import PastAttempt, history
from detent.planner.moves.code import graph_of
from detent.planner.prepared import Prepared
from detent.run.outcomes import StepError
from detent.run.state import RunState
from detent.run.status import TERMINAL, Status
from detent.values.nearest import nearest
from detent.views.runs import fold_row

_decode = msgspec.json.Decoder().decode
_MARKS: Final = {"success": "✓", "skipped": "-"}
#: Operations of durable functions that are not steps.
_SILENT: Final = ("@sleep", "@now", "@random", "@uuid", "@timer")


@dataclass(frozen=True, slots=True)
class StepRun:
    """One step that has ended or was attempted.

    `outcome` is success, skipped, failed, timeout, ..., or `None` if it has not ended. `result` is its output, or the
    body of an HTTP answer or a callback.
    """

    name: str
    outcome: str | None
    attempts: int
    result: Any = None
    error: str | None = None
    traceback: str | None = None

    def __str__(self) -> str:
        mark = _MARKS.get(self.outcome or "", "✗" if self.outcome else "…")
        words = [] if self.outcome == "success" else [self.outcome or "has not ended"]
        words += [f"{self.attempts} attempts"] if self.attempts > 1 else []
        words += [self.error.splitlines()[0]] if self.error else []
        return f"{mark} {self.name}" + (f"  ({', '.join(words)})" if words else "")


@dataclass(frozen=True, slots=True, repr=False)
class Speedrun:
    """How a run ended. `steps` are in the order of their ends; `slept` is the time that passed for the run."""

    workflow: str
    run_id: str
    status: str
    output: Any
    error: str | None
    steps: tuple[StepRun, ...]
    history: tuple[PastAttempt, ...]
    slept: timedelta
    paused_by: str | None = None

    @property
    def route(self) -> list[str]:
        """Return the steps in the order of their ends; one that did not succeed is `name:outcome`."""
        return [
            step.name if step.outcome == "success" else f"{step.name}:{step.outcome}"
            for step in self.steps
            if step.outcome
        ]

    @property
    def results(self) -> Mapping[str, Any]:
        """Return the results of the steps that succeeded, by name."""
        return {step.name: step.result for step in self.steps if step.outcome == "success"}

    def step(self, name: str) -> StepRun:
        """Return the step of that name. Raise NotFound if the run did not reach it."""
        for step in self.steps:
            if step.name == name:
                return step
        near = nearest(name, [step.name for step in self.steps])
        hint = f"; did you mean {near!r}?" if near else ""
        raise NotFound(f"the run did not reach a step {name!r}{hint}")

    def assert_completed(self) -> Speedrun:
        """Return the result. Raise AssertionError with the steps and tracebacks if the run did not complete."""
        if self.status != Status.COMPLETED:
            traces = [f"\n{step.traceback}" for step in self.steps if step.traceback]
            raise AssertionError(f"the run is {self.status}, not completed: {self!r}{''.join(traces)}")
        return self

    def __repr__(self) -> str:
        slept = f", slept {self.slept}" if self.slept else ""
        why = [f"  {self.error.splitlines()[0]}"] if self.error else []
        return "\n".join([f"<{self.workflow}: {self.status}{slept}>", *(f"  {step}" for step in self.steps), *why])


async def ending_of(commands: Commands, run: bytes) -> Speedrun:
    """Return the current result of a run, from the store."""
    row = await commands.runs.row(show(RUN, run))
    entries = await commands.runs.entries(run)
    prepared, versions = await commands.runs.graphs(row, entries)
    state = fold_row(row, prepared, entries, str, versions)
    past = history(prepared, state.facts, row.opening, entries, versions)
    steps = _steps(graph_of(prepared, state), state, past)
    status = row.status if row.status in TERMINAL else str(state.status)
    ended = row.ended_at if row.ended_at is not None else commands.now()
    last = next((step for step in reversed(steps) if step.error), None)
    error = row.error or (f"{last.name}: {last.error}" if last and status != Status.COMPLETED else None)
    return Speedrun(
        workflow=row.workflow_name,
        run_id=show(RUN, run),
        status=status,
        output=None if row.output is None else _decode(row.output),
        error=error or state.paused_by,
        steps=tuple(steps),
        history=tuple(past),
        slept=timedelta(microseconds=max(0, ended - row.started_at)),
        paused_by=state.paused_by,
    )


def _steps(prepared: Prepared, state: RunState, past: list[PastAttempt]) -> list[StepRun]:
    """Return one StepRun for each step with attempts, in the order of the last attempt."""
    attempts: dict[str, list[PastAttempt]] = {}
    for attempt in past:
        attempts[attempt.step] = [*attempts.pop(attempt.step, []), attempt]
    found = []
    for name, tries in attempts.items():
        begun = len({attempt.attempt for attempt in tries})
        if name in prepared.numbers:
            index = prepared.numbers[name]
            kind, ending = prepared.steps[index].kind, state.ending[index]
            if kind is StepKind.FUNCTION and ending is not None and not tries[-1].error:
                continue  # it is the run itself
            result = _value(kind, state.results.get(index))
            found.append(_step(name, ending and str(ending), begun, result, tries[-1].error))
        elif not name.startswith(_SILENT):
            found.append(_operation(state, name, begun, tries[-1].error))
    return found


def _operation(state: RunState, key: str, attempts: int, error: StepError | None) -> StepRun:
    record, name = state.history.get(key), key.partition(":")[2] or key
    if record is None:
        return _step(name, None, attempts, None, error)
    result = _decode(record.result) if record.result else {}
    value = result.get("output", result.get("body")) if isinstance(result, dict) else result
    return _step(name, str(record.ending), attempts, value, record.error)


def _step(name: str, outcome: str | None, attempts: int, result: Any, error: StepError | None) -> StepRun:
    if error is None:
        return StepRun(name, outcome, attempts, result)
    return StepRun(name, outcome, attempts, result, error.message, error.traceback)


def _value(kind: StepKind, raw: bytes | None) -> Any:
    result = {} if raw is None else _decode(raw)
    # A map has the outputs of its items, whatever kind they have.
    return result.get("body" if kind in (StepKind.HTTP, StepKind.WAIT) and "output" not in result else "output")
