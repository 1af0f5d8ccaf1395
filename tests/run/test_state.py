"""The timers of a state: the earliest that still counts, each given once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detent.run.state import Phase, RunFacts, RunState

FACTS = RunFacts(bytes(16), 1, "orders", b"{}", 0, None, lambda step: step)
SETTINGS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 50)), max_size=20)


def _state(expires_at: int | None = None) -> RunState:
    facts = RunFacts(FACTS.id, 1, "orders", b"{}", 0, expires_at, FACTS.callback_url)
    return RunState(facts, undecided=[0] * 5)


@given(SETTINGS, st.integers(0, 50))
def test_only_the_latest_setting_of_a_step_counts_and_only_once(settings: list[tuple[int, int]], now: int) -> None:
    state = _state()
    for step, until in settings:
        state.set_timer(step, Phase.SLEEPING, until)
    latest = dict(settings)
    due = {step for step, until in latest.items() if until <= now}
    found = list(state.due(now))
    assert set(found) == due
    assert state.next_timer() == min((until for until in latest.values() if until > now), default=None)
    assert list(state.due(now)) == []


def test_a_step_that_ended_has_no_timer() -> None:
    state = _state()
    state.set_timer(0, Phase.SLEEPING, 5)
    state.phase[0] = Phase.ENDED
    assert state.next_timer() is None
    assert list(state.due(10)) == []


def test_a_wait_without_a_limit_has_no_timer() -> None:
    state = _state()
    state.set_timer(0, Phase.WAITING, None)
    assert state.next_wake() is None
    assert _state(expires_at=9).next_wake() == 9


def test_a_run_that_is_not_open_wakes_when_it_is_to_begin() -> None:
    state = _state(expires_at=90)
    state.postpone(40)
    assert (state.status, state.next_wake(), state.next_timer()) == ("pending", 40, None)
    assert [state.may_open(now) for now in (39, 40, 41)] == [False, True, True]
    state.paused_by = "detent (error)"
    assert state.next_wake() == 90
    assert not state.may_open(41)
