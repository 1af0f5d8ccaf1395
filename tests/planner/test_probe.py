"""Steps that ask their probe after a crash: what it answers decides, and the journal says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.graph.model import Edge, FailurePolicy, Graph, OnCrash, Probe, Retry, Step, StepKind
from detent.planner.history import history
from detent.planner.moves.version import Refused
from detent.planner.why import why
from detent.run import events
from detent.run.outcomes import Done, Reattempt
from tests.planner.play import Play, answer, failure, play

PROBE = Probe("bank.find")


def _pay(**given: Any) -> Step:
    config = {"action": "bank.pay", "version": "1.0.0", "with": {"amount": 7}}
    return Step("pay", StepKind.ACTION, config, on_crash=OnCrash.PROBE, **{"probe": PROBE, **given})


def _crashed(step: Step | None = None, *others: Step, **graph: Any) -> Play:
    """A run whose node died while `pay` was in flight."""
    steps = (step or _pay(), *(others or (Step("ship", StepKind.ACTION),)))
    run = play(Graph(steps, tuple(Edge("pay", one.name) for one in steps[1:]), **graph))
    run.crash()
    return run


def _say(run: Play, happened: Any, **output: Any) -> None:
    run.give("pay", {"happened": happened, **output})


def test_after_a_crash_the_probe_is_asked_with_the_parameters_and_the_key_of_the_step() -> None:
    run = play(Graph((_pay(),)))
    before = run.carry_out("pay")
    run.crash()
    assert (run.started, run.status) == (["pay"], "running")
    call = run.carry_out("pay")
    assert call.parameters == {"action": "bank.find", "with": {"amount": 7}}
    assert call.idempotency_key == before.idempotency_key
    assert run.prepared.steps[0].asks == Step("pay", StepKind.ACTION, call.parameters, on_crash=OnCrash.PROBE), (
        "what the executor is asked for its needs"
    )


def test_the_version_of_a_probe_that_is_data_is_pinned() -> None:
    run = _crashed(_pay(probe=Probe("bank.find", "2.1.0")))
    assert run.parameters("pay") == {"action": "bank.find", "version": "2.1.0", "with": {"amount": 7}}


def test_what_happened_is_a_success_with_the_output_of_the_probe() -> None:
    run = _crashed()
    _say(run, True, output={"id": "p1"})
    assert run.statuses() == {"pay": "success", "ship": "running"}
    assert json.loads(run.state.results[0]) == {"output": {"id": "p1"}}
    entry, data = run.entries[-1], run.data()
    assert (entry.kind, entry.attempt, entry.outcome) == ("ended", 1, "success"), "the attempt that was in flight"
    assert data.probe is not None
    assert (data.probe.action, data.probe.answer) == ("bank.find", "happened")


def test_without_an_output_of_its_own_the_answer_is_the_output() -> None:
    run = _crashed()
    _say(run, True, id="p1")
    assert json.loads(run.state.results[0]) == {"output": {"happened": True, "id": "p1"}}


def test_what_did_not_happen_is_tried_again_and_may_succeed() -> None:
    run = _crashed(_pay(retry=Retry(attempts=1)))
    _say(run, False)
    assert run.data().probe is not None
    assert (run.entries[-1].kind, run.error("pay").code) == ("retry", "did_not_happen")
    run.sleep(0)
    assert run.parameters("pay")["action"] == "bank.pay"
    assert run.state.attempt_number(0) == 2
    run.give("pay", {"id": "p2"})
    assert run.statuses()["pay"] == "success"
    rows = history(run.prepared, run.facts, run.opening, run.entries)
    found = [(row.attempt, row.outcome, row.error and row.error.code) for row in rows if row.step == "pay"]
    assert found == [(1, "reattempted", "did_not_happen"), (2, "success", None)]


@pytest.mark.parametrize(
    "outcome",
    [
        Done(b'{"output":{"happened":null}}'),
        Done(b'{"output":5}'),
        Done(b'{"output":{"happened":"yes"}}'),
        Done(answer(200, {"happened": True})),
        failure("connect"),
        Reattempt(),
    ],
)
def test_an_answer_that_does_not_say_it_is_asked_for_again_and_then_a_user_is(outcome: Any) -> None:
    run = _crashed(_pay(retry=Retry(attempts=1, delay=4.0)))
    for _ in range(2):
        run.attempt("pay", outcome)
        assert run.statuses()["pay"] == "retrying"
        run.sleep(60)
        assert run.parameters("pay")["action"] == "bank.find", "it is never repeated without an answer"
    run.attempt("pay", outcome)
    assert (run.statuses()["pay"], run.state.paused_by, run.state.doubts) == ("uncertain", "uncertain", {0: 1})
    run.resolve("pay", happened=True)
    assert run.statuses() == {"pay": "success", "ship": "running"}


def test_a_probe_that_fails_for_good_is_not_asked_again() -> None:
    run = _crashed()
    run.attempt("pay", failure("missing_credential", retry=False))
    assert (run.statuses()["pay"], run.error("pay").code) == ("uncertain", "missing_credential")


def test_a_resume_asks_the_probe_again_and_a_reattempt_does_not() -> None:
    run = _crashed()
    run.attempt("pay", failure(retry=False))
    run.resume()
    assert run.parameters("pay")["action"] == "bank.find"
    run.attempt("pay", failure(retry=False))
    run.reattempt("pay")
    run.sleep(0)
    assert run.parameters("pay")["action"] == "bank.pay", "a user knows better"
    assert run.state.attempt_number(0) == 2


def test_a_reattempt_stops_the_probe_and_is_not_an_attempt_of_its_own() -> None:
    run = _crashed()
    run.reattempt("pay")
    run.sleep(0)
    assert (run.stopped, run.parameters("pay")["action"], run.state.attempt_number(0)) == (["pay"], "bank.pay", 2)


def test_a_skip_ends_the_attempt_in_doubt() -> None:
    run = _crashed()
    run.skip("pay")
    assert (run.entries[-1].attempt, run.statuses()["pay"], run.state.probes) == (1, "skipped", {})


def test_a_node_that_dies_while_the_probe_is_asked_changes_nothing() -> None:
    run = _crashed()
    run.crash()
    run.sleep(5)
    assert run.parameters("pay")["action"] == "bank.find"
    _say(run, True, output=1)
    assert run.entries[-1].attempt == 1


def test_a_probe_that_kills_its_nodes_is_left_to_a_user() -> None:
    run = _crashed()
    for _ in range(10):
        if run.statuses()["pay"] == "uncertain":
            break
        run.sleep(400)
        run.crash()
    assert (run.statuses()["pay"], run.state.doubts) == ("uncertain", {0: 1})


def test_an_attempt_that_kills_its_nodes_before_its_effect_is_left_to_a_user() -> None:
    run = play(Graph((_pay(),)))
    for deaths in range(1, 6):
        run.sleep(400)
        assert run.parameters("pay")["action"] == "bank.pay"
        run.crash(poison_after=5)
        if deaths < 5:
            run.sleep(400)
            _say(run, False)
    assert (run.statuses()["pay"], run.status) == ("uncertain", "paused")
    assert [row.outcome for row in history(run.prepared, run.facts, run.opening, run.entries)] == ["reattempted"] * 4


def test_a_released_probe_is_asked_again() -> None:
    run = _crashed()
    run.crash()
    run.sleep(5)
    assert 0 in run.state.begun, "that of a suspect run"
    run.tell(events.Released(0))
    run.sleep(5)
    assert run.parameters("pay")["action"] == "bank.find"


@pytest.mark.parametrize(
    ("output", "code"), [({"happened": False}, "did_not_happen"), ({"happened": None}, "uncertain"), (None, None)]
)
def test_a_failing_run_asks_but_tries_nothing_again(output: Any, code: str | None) -> None:
    steps = (_pay(), Step("other", StepKind.ACTION))
    run = play(Graph(steps, on_failure=FailurePolicy.FAIL_FAST))
    run.crash()
    run.fail("other")
    run.give("pay", output if code else {"happened": True})
    assert run.status == "failed"
    assert run.statuses()["pay"] == ("failed" if code else "success")
    assert code is None or run.error("pay").code == code


def test_a_paused_run_asks_when_it_is_resumed() -> None:
    run = play(Graph((_pay(),)))
    run.pause()
    run.crash()
    assert (run.started, run.state.paused_by) == ([], "ann")
    message = why(run.prepared, run.state, run.now, owned=False)[-1].message
    assert message.endswith("is asked whether it happened when the run is resumed.")
    run.resume()
    assert run.parameters("pay")["action"] == "bank.find"


def test_why_says_what_is_asked_and_what_it_said() -> None:
    run = _crashed(_pay(retry=Retry(attempts=5, delay=60.0, jitter=False)))
    [asked, *_] = why(run.prepared, run.state, run.now, owned=True)
    assert (asked.kind, asked.step) == ("probe", "pay")
    assert asked.message == ("The node of step 'pay' died during attempt 1. 'bank.find' is asked whether it happened.")
    run.attempt("pay", failure("connect"))
    [again, *_] = why(run.prepared, run.state, run.now, owned=True)
    assert again.details == {
        "attempt": 1,
        "action": "bank.find",
        "tries": 1,
        "last_error": {"code": "connect", "message": "it failed with connect"},
    }
    assert "again at" in again.message
    assert again.message.endswith("Its last answer: it failed with connect.")
    run.sleep(60)
    run.attempt("pay", failure(retry=False))
    [left, *_] = why(run.prepared, run.state, run.now, owned=True)
    assert left.message.endswith("Resolve the step, or resume the run to ask 'bank.find' again.")


def test_a_run_that_asks_moves_only_to_a_version_with_the_same_probe() -> None:
    run = _crashed()
    found = run.move_to(Graph((_pay(probe=Probe("bank.other")), Step("ship", StepKind.ACTION)), (Edge("pay", "ship"),)))
    assert isinstance(found, Refused)
    assert "its probe is asked whether it happened" in found.in_words()
    run.move_to(Graph((_pay(), Step("send", StepKind.ACTION)), (Edge("pay", "send"),)))
    assert run.parameters("pay")["action"] == "bank.find"
    _say(run, False)
    run.move_to(Graph((_pay(), Step("ship", StepKind.ACTION)), (Edge("pay", "ship"),)))
    assert run.state.refuted == {0: 1}
    run.sleep(0)
    _say(run, True)
    assert run.statuses() == {"pay": "success", "ship": "running"}
