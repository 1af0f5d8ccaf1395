"""A step that looks again and again until its result is as wanted."""

from __future__ import annotations

import pytest

from detent.graph.model import Graph, Repeat, Retry, Step, StepKind
from tests.planner.play import Play, play


def looking(repeat: Repeat, *, attempts: int = 3) -> Play:
    """A run of one request that is repeated, and of a step after it."""
    retry = Retry(attempts=attempts, delay=1.0, jitter=False)
    return play(Graph((Step("look", StepKind.HTTP, {"url": "https://x.example"}, retry=retry, repeat=repeat),)))


DONE = Repeat("result.body.state == 'done'", every=10.0)


def test_a_result_that_is_as_wanted_ends_the_step() -> None:
    run = looking(DONE)
    run.succeed("look", 200, {"state": "done"})
    assert run.status == "completed"
    assert run.output == {"state": "done"}


def test_between_two_looks_the_step_waits_and_nothing_is_in_flight() -> None:
    run = looking(DONE)
    run.succeed("look", 200, {"state": "busy"})
    assert run.statuses() == {"look": "retrying"}
    assert run.state.running == 0
    assert run.state.next_wake() == run.now + 10_000_000
    run.sleep(10)
    run.succeed("look", 200, {"state": "done"})
    assert run.status == "completed"


def test_a_look_is_neither_a_failure_nor_an_attempt() -> None:
    run = looking(DONE, attempts=1)
    for _ in range(5):
        run.succeed("look", 200, {"state": "busy"})
        assert run.state.attempt_number(0) == 1
        assert not run.state.errors
        run.sleep(10)
    run.succeed("look", 200, {"state": "done"})
    assert run.status == "completed"


def test_failed_attempts_count_only_since_the_last_look() -> None:
    run = looking(DONE, attempts=2)
    for _ in range(4):
        run.fail("look", 503, retry=True)
        run.sleep(1)
        run.succeed("look", 200, {"state": "busy"})
        run.sleep(10)
    run.fail("look", 503, retry=True)
    run.sleep(1)
    run.fail("look", 503, retry=True)
    assert run.status == "failed"


def test_the_pause_grows_up_to_its_limit() -> None:
    run = looking(Repeat("false", every=10.0, factor=3.0, max_wait=60.0))
    pauses = []
    for _ in range(4):
        run.succeed("look", 200)
        wake = run.state.next_wake()
        assert wake is not None
        pauses.append((wake - run.now) / 1_000_000)
        run.sleep(pauses[-1])
    assert pauses == [10.0, 30.0, 60.0, 60.0]


def test_a_step_that_gives_up_has_timed_out() -> None:
    run = looking(Repeat("false", every=10.0, give_up_after=25.0))
    for _ in range(2):
        run.succeed("look", 200)
        run.sleep(10)
    run.succeed("look", 200)
    assert run.statuses() == {"look": "timeout"}
    assert run.ended is not None
    assert run.ended.error == "look: its result was not as wanted after 3 looks"


@pytest.mark.parametrize("until", ["result.body.nothing.such", "result.body.state > 3"])
def test_a_condition_that_cannot_be_evaluated_fails_the_step(until: str) -> None:
    run = looking(Repeat(until))
    run.succeed("look", 200, {"state": "busy"})
    assert run.statuses() == {"look": "failed"}
    assert run.ended is not None
    assert run.ended.error is not None
    assert run.ended.error.startswith("look: until: ")
