"""Sleeps, waits, delays, retries and expiry: what waits for a time, and until when."""

from __future__ import annotations

from typing import Any

import pytest

from detent.graph.model import Graph, Retry, Step, StepKind
from detent.instant import SECOND
from detent.planner.retry import retry_at
from detent.run import events
from detent.run.journal import decode_data
from detent.run.plan import NOTHING
from tests.planner.play import NOON, failure, play, play_steps

DAY = 86_400.0


@pytest.mark.parametrize(
    ("written", "seconds"),
    [(30, 30), ("30s", 30), ("5m", 300), ("2h", 7200), ("1d", DAY), (0, 0), ("{{trigger.body.wait}}", 90)],
)
def test_a_sleep_lasts_as_long_as_it_says(written: object, seconds: float) -> None:
    run = play_steps({"nap": {"sleep": written}, "then": {"needs": ["nap"]}}, {"body": {"wait": "1m30s"}})
    assert run.statuses() == {"nap": "sleeping", "then": "pending"}
    assert run.until("nap") == seconds
    run.sleep(seconds)
    assert run.statuses() == {"nap": "success", "then": "running"}
    assert decode_data(run.entries[0].data).ms == seconds * 1000


def test_a_sleep_is_not_over_before_its_time() -> None:
    run = play_steps({"nap": {"sleep": "30s"}})
    run.sleep(29.999999)
    assert run.statuses()["nap"] == "sleeping"
    run.sleep(0.000001)
    assert run.statuses()["nap"] == "success"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("soon", "seconds: 'soon' is not a duration"),
        (-1, "seconds: cannot be negative"),
        (1e18, "must be at most"),
        (None, "sleep: it is null"),
    ],
)
def test_a_sleep_whose_length_is_no_duration_ends_as_template_error(value: object, message: str) -> None:
    run = play_steps({"nap": {"sleep": "{{trigger.body.wait}}"}}, {"body": {"wait": value}})
    assert run.statuses()["nap"] == "template_error"
    assert message in run.error("nap").message
    assert run.status == "failed"


def test_a_sleep_whose_length_cannot_be_read_ends_as_template_error() -> None:
    run = play_steps({"nap": {"sleep": "{{trigger.body.wait}}"}})
    assert run.statuses()["nap"] == "template_error"
    assert run.error("nap").message.startswith("Failed to resolve {{trigger.body.wait}}")


def test_the_trial_expires_after_its_reminder() -> None:
    steps: dict[str, Any] = {
        "start-trial": {"body": {"user_id": "{{trigger.body.user_id}}"}},
        "wait-13-days": {"needs": ["start-trial"], "sleep": "13d"},
        "send-reminder": {"needs": ["wait-13-days"]},
        "wait-1-day": {"needs": ["send-reminder"], "sleep": "1d"},
        "expire-trial": {"needs": ["wait-1-day"]},
    }
    run = play_steps(steps, {"body": {"user_id": 7}})
    run.succeed("start-trial")
    run.sleep(13 * DAY)
    run.succeed("send-reminder")
    run.sleep(DAY)
    run.succeed("expire-trial")
    assert run.status == "completed"
    assert set(run.statuses().values()) == {"success"}


def test_a_delay_is_waited_before_the_first_attempt() -> None:
    run = play(Graph((Step("a", StepKind.ACTION, delay=5.0),)))
    assert run.started == []
    run.sleep(5)
    assert run.started == ["a"]
    run.give("a", 1)
    assert run.status == "completed"
    assert [entry.attempt for entry in run.entries] == [1]


def test_a_delay_makes_a_sleep_and_the_limit_of_a_wait_longer() -> None:
    nap = Step("nap", StepKind.SLEEP, {"seconds": 10}, delay=5.0)
    wait = Step("wait", StepKind.WAIT, {"timeout": 20}, delay=5.0)
    run = play(Graph((nap, wait)))
    assert run.until("nap") == 15
    assert run.until("wait") == 25


# -- waits

CHECKOUT: dict[str, Any] = {
    "create-checkout": {"body": {"callback_url": "{{wait.payment-result.url}}"}},
    "payment-result": {"needs": ["create-checkout"], "wait_for_webhook": {"timeout": "1h"}},
    "fulfill-order": {
        "needs": ["payment-result"],
        "if": "tasks.payment-result.body.status == 'paid'",
        "body": {"payment_id": "{{tasks.payment-result.body.payment_id}}"},
    },
    "handle-timeout": {"needs": ["payment-result"], "if": "tasks.payment-result.status == 'timeout'"},
}
PAID = {"status": "paid", "payment_id": "p1"}


def test_a_callback_ends_its_wait_and_its_payload_is_readable() -> None:
    run = play_steps(CHECKOUT)
    assert run.parameters("create-checkout")["body"] == {
        "callback_url": "https://detent.example/wh/payment-result",
    }
    run.succeed("create-checkout")
    assert run.active == {"payment-result": NOON + 3600 * SECOND}
    run.receive("payment-result", PAID)
    assert run.statuses()["payment-result"] == "received"
    assert run.statuses()["handle-timeout"] == "skipped"
    assert run.parameters("fulfill-order")["body"] == {"payment_id": "p1"}
    run.succeed("fulfill-order")
    assert run.status == "completed"
    assert run.entries[1].outcome == "success"


def test_a_wait_ends_as_timeout_only_when_its_callback_was_expired() -> None:
    run = play_steps(CHECKOUT)
    run.succeed("create-checkout")
    run.sleep(3600)
    assert run.statuses()["payment-result"] == "waiting"
    assert run.expiring == [run.number("payment-result")]
    run.expire_callbacks()
    assert run.statuses() == {
        "create-checkout": "success",
        "payment-result": "timeout",
        "fulfill-order": "skipped",
        "handle-timeout": "running",
    }
    run.succeed("handle-timeout")
    assert run.status == "completed"


@pytest.mark.parametrize("is_answered", [True, False])
def test_the_journal_says_how_long_a_wait_lasted_however_it_ended(*, is_answered: bool) -> None:
    run = play_steps({"nap": {"sleep": "1h"}, "answer": {"needs": ["nap"], "wait_for_webhook": {"timeout": "1d"}}})
    run.sleep(3600)
    run.sleep(90)
    run.reload()
    if is_answered:
        run.receive("answer")
    else:
        run.tell(events.WaitExpired(run.number("answer")))
    assert decode_data(run.entries[-1].data).ms == 90_000


def test_a_sleep_that_ends_by_a_clock_that_went_back_lasted_no_time() -> None:
    run = play_steps({"nap": {"sleep": 0}})
    run.now -= SECOND
    run.wake(run.number("nap"))
    assert decode_data(run.entries[-1].data).ms == 0


def test_a_callback_that_was_accepted_as_the_time_ran_out_wins() -> None:
    run = play_steps(CHECKOUT)
    run.succeed("create-checkout")
    run.sleep(3600)
    run.receive("payment-result", PAID)
    assert run.statuses()["payment-result"] == "received"
    run.expire_callbacks()
    assert run.statuses()["payment-result"] == "received"


def test_an_early_callback_is_kept_and_ends_the_wait_as_it_begins() -> None:
    run = play_steps(CHECKOUT)
    run.receive("payment-result", PAID)
    assert run.entries[0].kind == "received"
    assert run.statuses()["payment-result"] == "pending"
    run.succeed("create-checkout")
    assert run.statuses()["payment-result"] == "received"
    assert run.active == {}, "nobody is to be told that the wait is active"
    assert run.parameters("fulfill-order")["body"] == {"payment_id": "p1"}


def test_an_early_callback_survives_the_node_that_read_it() -> None:
    run = play_steps(CHECKOUT)
    run.receive("payment-result", PAID)
    run.crash()
    run.succeed("create-checkout")
    assert run.statuses()["payment-result"] == "received"


def test_a_second_callback_changes_nothing() -> None:
    run = play_steps(CHECKOUT)
    run.receive("payment-result", PAID)
    assert run.receive("payment-result", {"status": "refused"}).entry is None
    run.succeed("create-checkout")
    assert run.receive("payment-result", {"status": "refused"}).entry is None
    assert run.statuses()["fulfill-order"] == "running"


def test_a_callback_for_a_wait_that_was_skipped_is_dropped() -> None:
    run = play_steps({"a": {}, "w": {"needs": ["a"], "wait_for_webhook": True}, "b": {}})
    run.fail("a")
    assert run.receive("w").entry is None


def test_a_wait_without_a_time_limit_waits_until_the_run_expires() -> None:
    run = play_steps({"w": {"wait_for_webhook": True}}, max_duration="2h")
    assert run.active == {"w": None}
    assert run.state.next_timer() is None
    assert run.state.next_wake() == NOON + 7200 * SECOND


def test_a_wait_whose_time_limit_cannot_be_read_ends_as_template_error() -> None:
    run = play(Graph((Step("w", StepKind.WAIT, {"timeout": "{{trigger.body.limit}}"}),)))
    assert run.statuses() == {"w": "template_error"}


def test_a_run_expires_after_thirty_days_unless_it_says_otherwise() -> None:
    run = play_steps({"w": {"wait_for_webhook": True}})
    assert run.facts.expires_at == NOON + 30 * 86_400 * SECOND


def test_a_wake_up_of_a_step_that_waits_for_no_time_changes_nothing() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"]}})
    assert run.tell(events.Woke(run.number("a"))) is NOTHING
    assert run.tell(events.Woke(run.number("b"))) is NOTHING
    assert run.tell(events.WaitExpired(run.number("b"))) is NOTHING


def test_the_next_wake_is_the_earlier_of_timer_and_expiry() -> None:
    assert play_steps({"nap": {"sleep": "1h"}}, max_duration="2h").state.next_wake() == NOON + 3600 * SECOND
    assert play_steps({"nap": {"sleep": "3h"}}, max_duration="2h").state.next_wake() == NOON + 7200 * SECOND
    assert play(Graph((Step("nap", StepKind.SLEEP, {"seconds": 5}),))).state.next_wake() == NOON + 5 * SECOND


# -- retries


def test_a_step_is_tried_five_times_after_the_first() -> None:
    run = play_steps({"a": {}})
    for number in range(1, 6):
        assert run.state.attempt_number(0) == number
        run.fail("a", 503, retry=True)
        assert run.statuses()["a"] == "retrying"
        run.sleep(3600)
    run.fail("a", 503, retry=True)
    assert run.statuses()["a"] == "failed"
    assert [entry.kind for entry in run.entries] == ["retry"] * 5 + ["ended"]
    assert [entry.attempt for entry in run.entries] == [1, 2, 3, 4, 5, 6]


def test_a_failure_that_another_attempt_cannot_mend_is_the_last() -> None:
    run = play_steps({"a": {}})
    run.fail("a", 404, retry=False)
    assert run.statuses()["a"] == "failed"


def test_a_retry_is_journalled_with_its_error_and_its_time() -> None:
    run = play_steps({"a": {}})
    run.fail("a", 503, retry=True)
    data = run.data()
    assert data.error is not None
    assert data.error.code == "http_status"
    assert data.retry_at == run.state.until[0]


def _delays(policy: Retry, key: bytes = b"run/step", **given: Any) -> list[float]:
    found = []
    for attempt in range(1, policy.attempts):
        at = retry_at(policy, failure(**given), attempt=attempt, key=key, now=NOON)
        assert at is not None
        found.append((at - NOON) / SECOND)
    return found


def test_delays_double_up_to_the_longest() -> None:
    assert _delays(Retry(attempts=6, jitter=False, max_delay=10.0)) == [2, 4, 8, 10, 10]


def test_a_very_late_attempt_does_not_overflow() -> None:
    late = Retry(attempts=100_000, factor=100.0, jitter=False)
    assert retry_at(late, failure(), attempt=99_999, key=b"k", now=0) == 3600 * SECOND


def test_jitter_spreads_over_nearly_the_whole_delay_and_is_the_same_every_time() -> None:
    policy = Retry(attempts=2, delay=10.0)
    spread = [_delays(policy, b"run%d/step" % number)[0] for number in range(500)]
    assert spread == [_delays(policy, b"run%d/step" % number)[0] for number in range(500)]
    assert min(spread) < 1.5
    assert max(spread) > 9.5
    assert all(1.0 <= delay <= 10.0 for delay in spread)
    assert 5.0 < sum(spread) / 500 < 6.0


@pytest.mark.case("C11")
def test_a_thousand_failed_steps_do_not_come_back_together() -> None:
    policy = Retry(attempts=2, delay=10.0)
    seconds = [int(_delays(policy, b"run%d/step" % number)[0]) for number in range(1000)]
    assert max(seconds.count(second) for second in set(seconds)) < 200


@pytest.mark.case("C11")
@pytest.mark.parametrize(("said", "waited"), [(60.0, 60), (0.5, 2), (None, 2)])
def test_a_retry_waits_at_least_as_long_as_the_server_says(said: float | None, waited: float) -> None:
    assert _delays(Retry(attempts=2, jitter=False), retry_after=said) == [waited]


def test_no_more_attempts_are_made_than_allowed() -> None:
    assert retry_at(Retry(attempts=2), failure(), attempt=2, key=b"k", now=0) is None
    assert retry_at(Retry(attempts=2), failure(retry=False), attempt=1, key=b"k", now=0) is None


def test_a_woken_retry_of_a_paused_run_waits_for_the_resume() -> None:
    run = play_steps({"a": {}})
    run.fail("a", 503, retry=True)
    run.pause()
    run.sleep(3600)
    assert run.statuses()["a"] == "ready"
    run.started.clear()
    run.resume()
    assert run.started == ["a"]
