"""Dead-path elimination: after a step has ended, decide which edges are taken, and which steps run or are skipped.

Every edge is decided once, when its source ends. Every step is decided once, when its last incoming edge is decided.
Each step counts its undecided edges down, and nothing is scanned. So a branch that is not taken cannot block a join,
and a wide join costs no more than a chain.
"""

from __future__ import annotations

from typing import Final

from detent.graph.model import FAILURES, Ending, FailurePolicy, StepKind
from detent.instant import Instant
from detent.planner.context import step_ended
from detent.planner.judge import TEMPLATE_ERROR, Judge
from detent.planner.maps import gather
from detent.planner.prepared import Prepared, PreparedStep
from detent.planner.suspects import wait_if_suspect
from detent.run.outcomes import StepError
from detent.run.plan import Activated
from detent.run.state import ChildRun, Phase, RunState

# Members that are read for every step. A member of an enum class takes fifteen times as long to load as a global.
_PENDING: Final = Phase.PENDING
_READY: Final = Phase.READY
_RUNNING: Final = Phase.RUNNING
_ENDED: Final = Phase.ENDED
_SKIPPED: Final = Ending.SKIPPED
_WAIT: Final = StepKind.WAIT
_SLEEP: Final = StepKind.SLEEP
_CONDITION: Final = StepKind.CONDITION
#: The endings of a wait whose callback is closed already: it was received, or it expired.
_ANSWERED: Final = (Ending.SUCCESS, Ending.TIMEOUT)
#: The endings of a member of a race that does not win it.
_LOST: Final = (Ending.SKIPPED, Ending.CANCELLED)


class Settling:
    """One pass of decisions, at one moment, with one judge. It changes the state."""

    def __init__(self, prepared: Prepared, state: RunState, judge: Judge, now: Instant) -> None:
        self._prepared, self._steps = prepared, prepared.steps
        self._state, self._judge, self.now = state, judge, now
        self._decidable: list[int] = []
        self.activated: list[Activated] = []
        self.closed: list[str] = []  # waits that ended without a callback
        self.cancelled: list[tuple[str, int]] = []  # child runs that no step waits for any more, with their numbers

    def open(self) -> None:
        """Decide the steps that depend on nothing."""
        self._decidable.extend(step.index for step in self._steps if not step.incoming)
        self._settle()

    def end(self, index: int, ending: Ending, error: StepError | None = None) -> None:
        """End a step, and decide everything that follows."""
        self._end(index, ending, error)
        self._settle()

    def finish(self, index: int) -> None:
        """End a step that finishes the run. Skip all other steps that have not ended."""
        self._close(index, Ending.SUCCESS)
        self.end_all(Ending.SKIPPED)

    def end_all(self, ending: Ending) -> None:
        """End every open step with that ending. Nothing follows, because the run is over."""
        state = self._state
        for index, phase in enumerate(state.phase):
            if phase is not Phase.ENDED:
                self._close(index, ending)
        state.running = 0
        state.ready.clear()

    def _settle(self) -> None:
        decidable = self._decidable
        while decidable:
            # Process them in order, so that steps become ready in the order of the definition.
            batch, self._decidable = decidable, []
            for index in batch:
                if self._state.phase[index] is _PENDING:
                    self._decide(self._steps[index])
            decidable = self._decidable

    def _close(self, index: int, ending: Ending) -> None:
        state = self._state
        if state.phase[index] is _RUNNING:
            state.running -= 1
        state.phase[index] = _ENDED
        state.ending[index] = ending
        state.since[index] = self.now
        state.open -= 1
        state.ready.pop(index, None)
        # These are empty in most runs, and this is done for every step.
        if state.begun:
            state.begun.pop(index, None)
        if state.doubts:
            state.doubts.pop(index, None)
        if state.probes:
            state.probes.pop(index, None)
        if state.refuted:
            state.refuted.pop(index, None)
        if state.until:
            state.until.pop(index, None)
            if state.notes or state.noted:
                state.notes.pop(index, None)
                state.noted.pop(index, None)
        if state.strikes:
            state.strikes.pop(index, None)
        if state.child_of or state.maps:
            self.leave_child(index)

    def leave_child(self, index: int) -> None:
        """Cancel the child run of a step, or the pages of a map, because the step does not wait for them any more."""
        state, child = self._state, forget_child(self._state, index)
        if child is not None and not self._steps[index].is_detached:
            self._cancel(child.id)
        if index in state.maps:
            for page in state.maps[index].open:
                state.children.pop(page, None)
                self._cancel(page)
            state.maps[index].open.clear()

    def _cancel(self, child: str) -> None:
        self._state.cancelled += 1
        self.cancelled.append((child, self._state.cancelled))

    def _end(self, index: int, ending: Ending, error: StepError | None = None) -> None:
        state, step = self._state, self._steps[index]
        self._close(index, ending)
        if step.kind is _WAIT and ending not in _ANSWERED:
            self.closed.append(step.name)
        if ending is _SKIPPED:
            state.errors.pop(index, None)
        if error is not None:
            state.errors[index] = error
        if index in self._prepared.races and ending not in _LOST:
            self._end_losers(index)
        took_one = self._decide_edges(step, ending)
        if state.readers is not None:
            step_ended(self._prepared, state, step)
        elif state.gathered is not None and ending is Ending.SUCCESS:
            gather(self._prepared, state, index)
        if ending in FAILURES:
            state.failures.append(index)
            is_fail_fast = self._prepared.graph.on_failure is FailurePolicy.FAIL_FAST
            if is_fail_fast and not took_one and not state.failing:
                self._give_up()

    def _end_losers(self, winner: int) -> None:
        """End the other members of a race, because one has ended. Their callbacks are closed."""
        for index in self._prepared.races[winner]:
            if self._state.phase[index] is not _ENDED:
                self._judge.loses(self._steps[index])
                self._end(index, Ending.CANCELLED)

    def _decide_edges(self, step: PreparedStep, ending: Ending) -> bool:
        """Decide the outgoing edges of a step that has ended. Return whether one of them is taken."""
        state, took_one, is_handled = self._state, False, False
        for edge in step.outgoing:
            target = edge.target
            taken = is_satisfied = ending in edge.on
            if (step.first_match and took_one) or (edge.otherwise and is_handled):
                taken = False
            if taken and edge.condition is not None:
                answer = self._judge.takes(edge)
                if isinstance(answer, StepError):
                    state.edge_errors[target], taken = answer, False
                else:
                    taken = answer
            if taken:
                state.taken[target] += 1
                took_one = True
                is_handled = is_handled or edge.handles
            elif is_satisfied:
                state.not_taken.add(edge.index)
            state.undecided[target] -= 1
            if not state.undecided[target]:
                self._decidable.append(target)
        return took_one

    def _give_up(self) -> None:
        state = self._state
        state.failing = True
        for index in self._judge.gives_up(state):
            self._end(index, Ending.SKIPPED)
        for index, phase in enumerate(state.phase):
            if phase is Phase.WAITING:
                # Its callback may have been accepted already. Expire it now: the store decides which came first.
                state.set_timer(index, Phase.WAITING, self.now)

    def _skip(self, step: PreparedStep) -> None:
        self._judge.skips(step)
        self._end(step.index, Ending.SKIPPED)

    def _decide(self, step: PreparedStep) -> None:
        state, index = self._state, step.index
        if index in state.carried:
            # The step ended before the run was moved. It ends here only now, when all steps before it have ended.
            state.edge_errors.pop(index, None)
            self._end(index, state.carried[index].ending, state.carried[index].error)
            return
        if index in state.passed:
            self._skip(step)
            return
        verdict = self._verdict(step)
        if verdict is True:
            self._let_run(step)
        elif verdict is False:
            self._skip(step)
        else:
            self._end(index, Ending.FAILED, verdict)

    def _verdict(self, step: PreparedStep) -> bool | StepError:
        """Return whether a step runs whose incoming edges are all decided, or why a condition cannot be evaluated."""
        state, index = self._state, step.index
        if index in state.edge_errors:
            return state.edge_errors.pop(index)
        taken = state.taken[index]
        met = taken == step.incoming if step.needs_all else taken > 0 or not step.incoming
        if not met or step.guard is None:
            return met
        return self._judge.passes(step)

    def _let_run(self, step: PreparedStep) -> None:
        state, index = self._state, step.index
        state.since[index] = self.now
        state.adoptions_before[index] = state.adoptions
        if index in state.reused:
            self._reuse(index)
        elif index in state.reused_skips:
            state.left_out[index] = None
            self._end(index, Ending.SKIPPED)
        elif step.kind is _WAIT:
            self._wait(step)
        elif step.kind is _CONDITION:
            self._answer(step)
        elif step.kind is _SLEEP or (step.delay is not None and state.undelayed != index):
            until = self._judge.sleeps_until(step)
            if isinstance(until, StepError):
                self._end(index, _ending_of(until), until)
            else:
                state.set_timer(index, Phase.SLEEPING if step.kind is _SLEEP else Phase.RETRYING, until)
        elif not (state.stalled and wait_if_suspect(state, index, self.now)):
            state.phase[index] = _READY
            state.ready[index] = None

    def _reuse(self, index: int) -> None:
        """End a step at once with the result of the original run, however long it slept or waited there."""
        result = self._state.reused[index]
        if result:
            self._state.results[index] = result
        self._end(index, Ending.SUCCESS)

    def _answer(self, step: PreparedStep) -> None:
        """End a condition step at once: its output is true or false."""
        answer = self._judge.answers(step)
        if step.first_of:
            self._state.results[step.index] = self._first(step)
            self._end(step.index, Ending.SUCCESS)
            return
        if isinstance(answer, StepError):
            self._end(step.index, Ending.FAILED, answer)
        else:
            self._state.results[step.index] = b'{"output":true}' if answer else b'{"output":false}'
            self._end(step.index, Ending.SUCCESS)

    def _first(self, step: PreparedStep) -> bytes:
        """Return the result of a race: the name of its first member that ended, and how."""
        state = self._state
        won = next(index for index in step.first_of if state.ending[index] not in _LOST)
        first, ending = self._steps[won].name, state.ending[won]
        return b'{"output":{"first":"%b","status":"%b"}}' % (first.encode(), str(ending).encode())

    def _wait(self, step: PreparedStep) -> None:
        state, index = self._state, step.index
        until = self._judge.waits_until(step)
        if isinstance(until, StepError):
            self._end(index, _ending_of(until), until)
        elif index in state.early:
            # The callback arrived first and is journalled already: the wait ends at once.
            state.results[index] = state.early.pop(index)
            self._end(index, Ending.SUCCESS)
        else:
            state.set_timer(index, Phase.WAITING, until)
            if step.agenda is not None:
                note = step.agenda.note(self.now, 0)
                state.set_note(index, None if note is None else note.at)
            self.activated.append((step.name, until, self._judge.asked(step)))


def forget_child(state: RunState, index: int) -> ChildRun | None:
    """Remove the child run of a step from the state, and return it."""
    child = state.child_of.pop(index, None)
    if child is not None:
        state.children.pop(child.id, None)
    return child


def _ending_of(error: StepError) -> Ending:
    return Ending.TEMPLATE_ERROR if error.code == TEMPLATE_ERROR else Ending.FAILED
