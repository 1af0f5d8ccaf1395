"""Suspect runs: they were adopted twice without progress, so one of their steps may be what kills the nodes.

A node runs the attempts of suspect runs one at a time, each after its `started` entry and a growing delay. So a crash
identifies one attempt: the one that has started by the journal and has not ended. Its step gets a strike, and after
enough strikes the step ends as poison. A step with a strike stays suspect until an attempt of it ends.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from detent.expressions import masked
from detent.graph.model import OnCrash, Step
from detent.instant import Instant, micros
from detent.planner.calls import make_call
from detent.planner.prepared import Prepared
from detent.run.call import StepCall
from detent.run.outcomes import StepError
from detent.run.state import Phase, RunState

#: The code of a step that is left to a user.
UNCERTAIN: Final = "uncertain"
#: A probe is asked at least so often: it has no effect.
LEAST_PROBES: Final = 3
#: A run is suspect after this many adoptions without progress.
SUSPECT_AFTER: Final = 2
#: The delay before an attempt of a suspect run, in seconds, and its growth by strike: 1, 4, 16, 64, 256.
SHORTEST_DELAY: Final = 1.0
GROWTH: Final = 4


def is_suspect(state: RunState, step: int) -> bool:
    """Return whether the attempts of that step must run one at a time, with their start in the journal."""
    return state.stalled >= SUSPECT_AFTER or step in state.strikes


def is_suspect_run(state: RunState) -> bool:
    """Return whether any step of the run is suspect."""
    return state.stalled >= SUSPECT_AFTER or bool(state.strikes)


def waits_as_suspect(state: RunState, step: int) -> bool:
    """Return whether the step could start, but waits because it is suspect.

    This uses only the journal: a step with a `started` entry is in flight.
    """
    if step in state.begun or state.paused_by is not None or not is_suspect(state, step):
        return False
    is_timed = state.phase[step] is Phase.RETRYING and state.until.get(step) is not None
    return is_timed or state.phase[step] is Phase.READY


def may_repeat(prepared: Prepared, state: RunState, step: int) -> bool:
    """Return whether what is in flight of a step can be repeated: by its `on_crash`, or because it is its probe."""
    return prepared.steps[step].on_crash is OnCrash.RETRY or step in state.probes


def most_probes(step: Step) -> int:
    """Return how often the probe of a step is asked before a user is."""
    return max(LEAST_PROBES, step.retry.attempts)


def struck_by_crash(prepared: Prepared, state: RunState) -> list[int]:
    """Return the steps that get a strike: their start was in the journal when the run's node died.

    Steps that must not be repeated have such an entry too, but they fail or wait for a user instead of a retry.
    """
    return [index for index in state.begun if prepared.steps[index].on_crash is OnCrash.RETRY]


def judge_crash(
    prepared: Prepared, state: RunState, poison_after: int, longest: float
) -> tuple[dict[str, StepError], int | None]:
    """Judge the death of a run's node: which steps end as poison, and how long suspect attempts wait, in microseconds.

    A step is poison with its `poison_after`-th strike. The delay is None if nothing of the run is suspect.
    """
    poison, strikes = {}, 0
    for index in struck_by_crash(prepared, state):
        strikes = state.strikes.get(index, 0) + 1
        if strikes >= poison_after:
            poison[prepared.steps[index].name] = _poison(prepared, state, index, strikes)
    is_any_suspect = strikes or state.strikes or state.stalled + 1 >= SUSPECT_AFTER
    return poison, suspect_delay(strikes, longest) if is_any_suspect else None


def left_to_user(prepared: Prepared, state: RunState, poison_after: int) -> list[str]:
    """Return the steps whose probe is not asked any more: their attempts killed `poison_after` nodes, each before it
    had an effect."""
    return [
        prepared.steps[index].name
        for index in state.begun
        if prepared.steps[index].on_crash is OnCrash.PROBE
        and index not in state.probes
        and state.refuted.get(index, 0) + 1 >= poison_after
    ]


def _poison(prepared: Prepared, state: RunState, index: int, strikes: int) -> StepError:
    """Build the error of a step that is given up as poison: its payload, its attempts, and its own last failure."""
    name, call, last = prepared.steps[index].name, make_call(prepared, state, index), state.errors.get(index)
    times = "once" if strikes == 1 else f"{strikes} times"
    message = f"the node of '{name}' died {times} while this step was in flight alone; it is not tried again"
    payload = masked(call.parameters) if isinstance(call, StepCall) else None
    attempts = state.attempt_number(index)
    return StepError("poison", message, {"attempts": attempts, "payload": payload, "last_error": last and last.message})


def suspect_delay(strikes: int, longest: float) -> int:
    """Return the delay before the next attempt after so many strikes, in microseconds."""
    return micros(min(longest, SHORTEST_DELAY * GROWTH ** min(strikes, 16)))


def delay_suspects(state: RunState, struck: Collection[int], until: Instant, now: Instant) -> None:
    """Delay the suspect steps of an adopted run that could start.

    Struck steps wait until then. The others wait for the shortest delay, and once more for each strike they have. So
    the steps with the fewest strikes go first, and crashes that no step causes are spread over all of them. Steps that
    are not suspect do not wait.
    """
    delay = min(until - now, micros(SHORTEST_DELAY))
    if state.stalled >= SUSPECT_AFTER:
        state.suspect_until = now + delay
    for index in [*state.ready, *_retrying(state)]:
        if is_suspect(state, index):
            state.ready.pop(index, None)
            soonest = until if index in struck else now + delay * (1 + state.strikes.get(index, 0))
            state.set_timer(index, Phase.RETRYING, max(soonest, state.until.get(index) or now))


def wait_if_suspect(state: RunState, step: int, now: Instant) -> bool:
    """Delay a step of a suspect run that became ready, until the run's delay is over. Return false if it is over."""
    if not state.stalled or state.suspect_until <= now:
        return False
    state.set_timer(step, Phase.RETRYING, state.suspect_until)
    return True


def _retrying(state: RunState) -> list[int]:
    """Return the steps that wait for the time of their next attempt."""
    return [index for index, until in state.until.items() if state.phase[index] is Phase.RETRYING and until is not None]
