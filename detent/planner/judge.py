"""Judges answer the questions that a decision depends on: a live judge evaluates, a recorded judge reads the journal.

Deciding and folding run the same code with different judges. So a fold returns the state that was decided, and no
condition is ever evaluated twice.
"""

from __future__ import annotations

from typing import Any, Protocol

from detent.errors import InvalidInput
from detent.expressions import Expression, ExpressionError, Scope, Template
from detent.graph.ask import ASK, AskError, build_ask
from detent.graph.model import StepKind
from detent.instant import Instant, micros
from detent.planner.prepared import Prepared, PreparedEdge, PreparedStep
from detent.planner.scope import build_scope, in_context
from detent.run.journal import Decided
from detent.run.outcomes import StepError
from detent.run.state import Phase, RunState
from detent.values.durations import parse_duration

CONDITION_ERROR = "condition_error"
TEMPLATE_ERROR = "template_error"


class Judge(Protocol):
    """The answers for one pass of decisions. Each question is asked at most once."""

    def takes(self, edge: PreparedEdge) -> bool | StepError: ...

    def passes(self, step: PreparedStep) -> bool | StepError: ...

    def answers(self, step: PreparedStep) -> bool | StepError: ...

    def sleeps_until(self, step: PreparedStep) -> Instant | StepError: ...

    def waits_until(self, step: PreparedStep) -> Instant | StepError | None: ...

    def asked(self, step: PreparedStep) -> str | None:
        """Return what a wait asks that has become active, as it is stored. A recorded judge returns None: it is stored
        already."""

    def skips(self, step: PreparedStep) -> None: ...

    def loses(self, step: PreparedStep) -> None: ...

    def gives_up(self, state: RunState) -> list[int]:
        """Return the steps that a failing run gives up: all that are not in flight and have not ended.

        A step that ended before the run was moved counts as ended. Active waits are not returned, because their
        callbacks are closed first.
        """


class LiveJudge:
    """A judge that evaluates expressions, and records its answers in `decided`.

    Most events decide nothing that does not follow from the graph. So `recorded` is None until something is recorded.
    """

    def __init__(self, prepared: Prepared, state: RunState, now: Instant) -> None:
        self._prepared, self._state, self._now = prepared, state, now
        self._scope: Scope | None = None
        self.recorded: Decided | None = None
        self._asks: dict[int, str] | None = None

    @property
    def decided(self) -> Decided:
        """Return what was decided, to read it or to record more."""
        if self.recorded is None:
            self.recorded = Decided()
        return self.recorded

    def scope(self, compiled: Expression | Template, place: str) -> Scope:
        """Return the scope of an expression in that place. Only revision 2 of the language can tell places apart."""
        if self._scope is None:
            self._scope = build_scope(self._prepared, self._state)
        if compiled.language == 1:
            return self._scope
        return in_context(self._scope, self._state, self._now, place)

    def takes(self, edge: PreparedEdge) -> bool | StepError:
        assert edge.condition is not None
        try:
            answer = edge.condition.test(self.scope(edge.condition, f"edge:{edge.index}"))
        except ExpressionError as error:
            if not edge.false_on_error:
                failure = StepError(CONDITION_ERROR, error.message)
                self.decided.errors[self._prepared.steps[edge.target].name] = failure
                return failure
            answer = False
            written = self._prepared.graph.edges[edge.index]
            self.decided.notes[edge.index] = f"{written.source} -> {written.target}: {error.message}"
        self.decided.edges[edge.index] = answer
        return answer

    def passes(self, step: PreparedStep) -> bool | StepError:
        assert step.guard is not None
        try:
            return step.guard.test(self.scope(step.guard, f"if:{step.name}"))
        except ExpressionError as error:
            return self._refuse(step, CONDITION_ERROR, error.message)

    def answers(self, step: PreparedStep) -> bool | StepError:
        assert step.question is not None
        try:
            answer = step.question.test(self.scope(step.question, step.name))
        except ExpressionError as error:
            self.decided.answers[step.name] = False  # so that a fold can tell this error from that of a guard
            return self._refuse(step, CONDITION_ERROR, error.message)
        self.decided.answers[step.name] = answer
        return answer

    def sleeps_until(self, step: PreparedStep) -> Instant | StepError:
        seconds = self._length(step, "seconds") if step.kind is StepKind.SLEEP else 0
        if isinstance(seconds, StepError):
            return seconds
        if seconds is None:
            return self._refuse(step, TEMPLATE_ERROR, "sleep: it is null; it must be a duration")
        until = self._now + micros(seconds + (step.delay or 0))
        self.decided.sleep[step.name] = until
        return until

    def waits_until(self, step: PreparedStep) -> Instant | StepError | None:
        seconds = self._length(step, "timeout")
        if isinstance(seconds, StepError):
            return seconds
        if step.has_ask and (problem := self._ask(step)) is not None:
            return problem
        until = None if seconds is None else self._now + micros(seconds + (step.delay or 0))
        self.decided.wait[step.name] = until
        return until

    def asked(self, step: PreparedStep) -> str | None:
        return None if self._asks is None else self._asks.get(step.index)

    def _ask(self, step: PreparedStep) -> StepError | None:
        """Render what a wait asks. Return why it cannot be rendered."""
        prepared = self._prepared
        others = [prepared.steps[index] for index in prepared.races.get(step.index, ())]
        names = [other.name for other in others if other.kind is StepKind.WAIT]
        try:
            config: Any = step.config.render({} if step.config.is_constant else self.scope(step.config, step.name))
            asked = build_ask(config[ASK], now=self._now, others=names).decode()
            self._asks = {**(self._asks or {}), step.index: asked}
        except (ExpressionError, AskError) as error:
            return self._refuse(step, TEMPLATE_ERROR, getattr(error, "message", str(error)))
        return None

    def skips(self, step: PreparedStep) -> None:
        self.decided.skipped.append(step.name)

    def loses(self, step: PreparedStep) -> None:
        self.decided.lost.append(step.name)

    def gives_up(self, state: RunState) -> list[int]:
        busy = (Phase.ENDED, Phase.RUNNING, Phase.WAITING)
        idle = [index for index, phase in enumerate(state.phase) if phase not in busy and index not in state.carried]
        self.decided.given_up = [self._prepared.steps[index].name for index in idle]
        return idle

    def _length(self, step: PreparedStep, key: str) -> float | StepError | None:
        try:
            config: Any = step.config.render({} if step.config.is_constant else self.scope(step.config, step.name))
            length = config.get(key)
            return None if length is None else parse_duration(length)
        except ExpressionError as error:
            return self._refuse(step, TEMPLATE_ERROR, error.message)
        except InvalidInput as error:
            return self._refuse(step, TEMPLATE_ERROR, f"{key}: {error.message}")

    def _refuse(self, step: PreparedStep, code: str, message: str) -> StepError:
        error = StepError(code, message)
        self.decided.errors[step.name] = error
        return error


class RecordedJudge:
    """A judge that returns the recorded answers of an earlier decision."""

    def __init__(self, prepared: Prepared, decided: Decided) -> None:
        self._prepared, self._decided = prepared, decided
        self._skipped = frozenset(decided.skipped)

    def takes(self, edge: PreparedEdge) -> bool | StepError:
        answer = self._decided.edges.get(edge.index)
        if answer is not None:
            return answer
        return self._decided.errors[self._prepared.steps[edge.target].name]

    def passes(self, step: PreparedStep) -> bool | StepError:
        error = self._decided.errors.get(step.name)
        if error is not None and error.code == CONDITION_ERROR and step.name not in self._decided.answers:
            return error
        return step.name not in self._skipped

    def answers(self, step: PreparedStep) -> bool | StepError:
        return self._decided.errors.get(step.name) or self._decided.answers[step.name]

    def sleeps_until(self, step: PreparedStep) -> Instant | StepError:
        return self._decided.errors.get(step.name) or self._decided.sleep[step.name]

    def waits_until(self, step: PreparedStep) -> Instant | StepError | None:
        return self._decided.errors.get(step.name) or self._decided.wait[step.name]

    def asked(self, step: PreparedStep) -> str | None:
        return None

    def skips(self, step: PreparedStep) -> None:
        return None

    def loses(self, step: PreparedStep) -> None:
        return None

    def gives_up(self, state: RunState) -> list[int]:
        return [self._prepared.numbers[name] for name in self._decided.given_up]
