"""One attempt of a step: its run, its hero, the results of earlier steps, and what the step asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from detent.graph.model import Ending
from detent.ids import RUN, show
from detent.instant import Instant, as_datetime
from detent.python.classes.compiled import CompiledClass, CompiledStep
from detent.python.classes.drift import left_state
from detent.python.classes.state import encode_result
from detent.python.flow import FlowControl
from detent.python.results import plain
from detent.run.call import RunView, StepCall
from detent.steps.output import encode_output
from detent.steps.secret_calls import CodeSecrets
from detent.steps.user_code import CommitGuard, error_message
from detent.values.nearest import nearest

_UNREAD: Final = object()
_decode: Final = msgspec.json.Decoder().decode


class StateDoesNotFit(TypeError):
    """A state does not have the type that its class annotates."""


class ClassAttempt:
    """One attempt of one step. It belongs to one instance of the workflow class, and is over when the step ends."""

    __slots__ = (
        "_input",
        "_now",
        "_state",
        "_state_number",
        "asked",
        "call",
        "compiled",
        "guard",
        "hero",
        "is_over",
        "secrets",
        "session",
        "step",
        "unawaited",
        "view",
    )

    def __init__(
        self, compiled: CompiledClass, step: CompiledStep, call: StepCall, view: RunView, now: Callable[[], Instant]
    ) -> None:
        self.compiled, self.step, self.call, self.view = compiled, step, call, view
        self._now = now
        self.hero: Any = None
        self.session: Any = None
        self.secrets: CodeSecrets | None = None
        self.asked: FlowControl | None = None
        self.is_over = False
        self.unawaited: Awaitable[Any] | None = None  # made in a thread, and not received by the loop yet
        self.guard: CommitGuard | None = None
        self._input: Any = _UNREAD
        self._state: Any = _UNREAD
        self._state_number = 0

    @property
    def run_id(self) -> str:
        return show(RUN, self.call.run_id)

    @property
    def input(self) -> Any:
        if self._input is _UNREAD:
            self._input = _decode(self.view.facts.input).get("body")
        return self._input

    @property
    def state(self) -> Any:
        if self._state is _UNREAD:
            view = self.view
            results = [left_state(view.graph), *map(view.result_of, self.step.earlier)]
            try:
                self._state, self._state_number = self.compiled.state.read(results)
            except (msgspec.MsgspecError, TypeError, ValueError) as error:
                raise StateDoesNotFit(
                    f"the stored state of {self.compiled.target.__qualname__} is not a valid "
                    f"{self.compiled.state.name}: {error_message(error)}; give new fields a default and old ones a "
                    "type that accepts the stored value, then resume"
                ) from None
        return self._state

    @state.setter
    def state(self, value: Any) -> None:
        if not self.compiled.state.fits(value):
            of, wanted = self.compiled.target.__qualname__, self.compiled.state.name
            raise StateDoesNotFit(f"the state of {of} is a {wanted}, not a {type(value).__qualname__}")
        _ = self.state  # reads the number of the stored state, which the new one continues
        self._state = value

    def now(self) -> datetime:
        return as_datetime(self._now())

    def result(self, output: Any) -> bytes:
        """Return the encoded result of the step: its output, and the state if the step touched it."""
        if self._state is _UNREAD:
            return encode_output(output)
        return encode_result(output, self._state, self._state_number + 1)

    def clean(self, result: bytes) -> bytes:
        """Return a result without the values of secrets, for a result that the step stores itself."""
        return result if self.secrets is None else self.secrets.clean(result)

    @property
    def touched_state(self) -> bool:
        return self._state is not _UNREAD


class Results(Mapping[str, Any]):
    """The results of earlier steps by name, decoded to the annotated type. The result of a skipped step is None."""

    def __init__(self, attempt: ClassAttempt) -> None:
        self._attempt = attempt

    def __getitem__(self, name: str) -> Any:
        view, steps = self._attempt.view, self._attempt.compiled.steps
        if view.ending_of(name) is None:
            if name in steps:
                raise KeyError(f"the step {name!r} has not ended yet")
            meant = nearest(str(name), steps)
            raise KeyError(f"there is no step {name!r}" + (f"; did you mean {meant!r}?" if meant else ""))
        raw = view.result_of(name)
        step = steps.get(name)
        return None if not raw else (plain if step is None else step.decode)(raw)

    def __iter__(self) -> Iterator[str]:
        view = self._attempt.view
        return (step.name for step in view.graph.steps if view.ending_of(step.name) is Ending.SUCCESS)

    def __len__(self) -> int:
        return sum(1 for _ in self)
