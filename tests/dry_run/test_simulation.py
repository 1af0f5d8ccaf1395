"""A dry run decides and renders as a run would, and makes no effect."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.commands.dry_run import simulation
from detent.commands.dry_run.effects import RecordedStep
from detent.errors import InvalidInput
from detent.graph.model import Ending
from detent.run.outcomes import StepError
from detent.steps.actions import registry
from detent.testing import Response, speedrun
from tests.dry_run.playing import play, step
from tests.forms.graphs import document, edge, node

ORDER: dict[str, Any] = {
    "name": "order",
    "tasks": {
        "get": {"url": "https://shop.example/orders/{{trigger.body.id}}", "method": "GET"},
        "nap": {"needs": ["get"], "sleep": "3d"},
        "ask": {"needs": ["nap"], "if": "tasks.get.body.sum > 100", "wait_for_webhook": {"timeout": "2d"}},
        "ship": {
            "needs": ["ask"],
            "if": "tasks.ask.status != 'timeout'",
            "url": "https://shop.example/ship",
            "body": {"sum": "{{tasks.get.body.sum}}", "at": "{{wait.ask.url}}"},
        },
    },
    "output": {"tracking": "{{tasks.ship.body.tracking ?? null}}"},
}
PAYMENT = {
    "name": "payment",
    "tasks": {"charge": {"url": "https://bank.example/c", "body": {"n": "{{trigger.body.n}}"}}},
    "output": {"receipt": "{{tasks.charge.body.receipt}}"},
}
PAYING = {"name": "paying", "tasks": {"pay": {"workflow": "payment", "with": {"n": "{{trigger.body.n}}"}}}}


def test_requests_are_rendered_and_times_jump() -> None:
    found = play(ORDER, {"id": 7}, {"get": {"sum": 250}, "ask": {"ok": True}, "ship": {"tracking": "T1"}})
    assert (found["status"], found["route"]) == ("completed", ["get", "nap", "ask", "ship"])
    assert found["output"] == {"tracking": "T1"}
    [sent] = step(found, "ship")["attempts"]
    assert sent["request"]["body"]["sum"] == 250
    assert "dry-run-ask" in sent["request"]["body"]["at"]
    assert sent["answered_by"] == "pinned"
    assert (found["started_at"][:10], found["ended_at"][:10]) == ("2026-02-22", "2026-02-25")


def test_a_condition_that_is_false_skips_its_step() -> None:
    found = play(ORDER, {"id": 7}, {"get": {"sum": 5}, "ship": {}})
    assert "ask:skipped" in found["route"]
    assert found["problems"] == []


def test_a_wait_that_gets_nothing_runs_out_of_time() -> None:
    found = play(ORDER, {"id": 7}, {"get": {"sum": 250}, "ask": {"$timeout": True}})
    assert found["route"] == ["get", "nap", "ask:timeout", "ship:skipped"]
    assert found["ended_at"][:10] == "2026-02-27"


def test_a_callback_that_comes_after_the_timeout_is_too_late() -> None:
    late = {"get": {"sum": 250}, "ask": {"$after": "6d", "$value": 1}}
    assert "ask:timeout" in play(ORDER, {"id": 7}, late)["route"]
    in_time = {"get": {"sum": 250}, "ask": {"$after": "4d", "$value": 1}, "ship": {}}
    assert "ask" in play(ORDER, {"id": 7}, in_time)["route"]


def test_without_an_answer_the_example_has_what_later_steps_read() -> None:
    found = play(
        {"name": "x", "tasks": {"a": ORDER["tasks"]["get"]}, "output": "{{tasks.a.body.lines[1].sku}}"}, {"id": 1}
    )
    assert step(found, "a")["answered_by"] == "example"
    assert found["output"] == "example"


FORM = {"type": "object", "properties": {"center": {"type": "string"}}, "required": ["center"]}
EXPENSE = {
    "name": "expense",
    "tasks": {
        "approve": {"approve": {"title": "Pay?", "form": FORM}},
        "pay": {
            "needs": ["approve"],
            "if": "tasks.approve.output.approved",
            "action": "core.echo",
            "with": {"on": "{{tasks.approve.output.answer.center}}"},
        },
    },
}


def test_an_approval_without_an_answer_is_approved_and_a_decision_that_does_not_fit_is_refused() -> None:
    assert play(EXPENSE)["output"] == {"on": "example"}
    assert play(EXPENSE, {}, {"approve": {"approved": True, "answer": {"center": "R"}}})["output"] == {"on": "R"}
    assert play(EXPENSE, {}, {"approve": {"approved": False}})["route"] == ["approve", "pay:skipped"]
    with pytest.raises(InvalidInput, match=r"the answer of 'approve' is refused: .*center: is missing"):
        play(EXPENSE, {}, {"approve": {"approved": True}})


def test_an_example_that_does_not_fit_is_a_problem_and_no_crash() -> None:
    found = play(ORDER, {"id": 7})
    assert "ask:failed" in found["route"]
    assert found["problems"] == ["ask: cannot compare text > a number"]


def test_a_template_without_a_value_is_a_problem() -> None:
    found = play(ORDER, {})
    assert found["status"] == "failed"
    assert found["problems"][0].startswith("get: Failed to resolve {{trigger.body.id}}")


def test_attempts_are_retried_as_the_policy_says() -> None:
    definition = {"name": "x", "tasks": {"a": {"url": "https://x.example/", "retries": {"attempts": 3, "delay": "1h"}}}}
    found = play(definition, answers={"a": {"$attempts": [{"$status": 503}, {"$fail": "cut"}, {"ok": 1}]}})
    tries = step(found, "a")["attempts"]
    assert [one["status"] for one in tries] == ["failed", "failed", "success"]
    assert tries[0]["error"]["message"] == "POST https://x.example/ answered 503"
    assert tries[0]["at"] < tries[1]["at"] < tries[2]["at"]
    given_up = play(definition, answers={"a": {"$status": 404, "$body": {"no": 1}}})
    assert (len(step(given_up, "a")["attempts"]), given_up["status"]) == (1, "failed")


def test_a_request_that_could_not_be_sent_fails_whatever_its_answer_is() -> None:
    definition = {"name": "x", "tasks": {"a": {"url": "https://{{trigger.body.host}}/", "retries": 0}}}
    found = play(definition, {"host": "a b"}, {"a": {"ok": 1}})
    assert step(found, "a")["error"]["code"] == "invalid_request"


def test_the_items_of_a_map_are_rendered_one_by_one() -> None:
    definition = {
        "name": "x",
        "tasks": {
            "each": {
                "for_each": "{{trigger.body.skus}}",
                "url": "https://x.example/{{item}}/{{index}}",
                "retries": 0,
                "on_item_failure": "continue",
            }
        },
    }
    found = play(definition, {"skus": ["a", "b", "c"]}, {"each": {"$items": [{"n": 1}, {"$fail": "lost"}, {"n": 3}]}})
    each = step(found, "each")
    assert each["output"] == [{"n": 1}, None, {"n": 3}]
    assert each["items"] == {"count": 3, "succeeded": 2, "failed": 1, "pages": each["items"]["pages"]}
    urls = [one["attempts"][0]["request"]["url"] for one in each["first_items"]]
    assert urls == ["https://x.example/a/0", "https://x.example/b/1", "https://x.example/c/2"]
    assert play(definition, {"skus": []})["output"] == []
    many = play(definition, {"skus": list(range(250))})
    assert (len(step(many, "each")["first_items"]), step(many, "each")["items"]["count"]) == (100, 250)
    assert step(play(definition, {"skus": 5}), "each")["error"]["code"] == "not_a_list"


def test_a_child_is_played_unless_it_has_an_answer() -> None:
    played = play(PAYING, {"n": 3}, {"payment/charge": {"receipt": 8}}, children=(PAYMENT,))
    assert played["output"] == {"receipt": 8}
    [sent] = step(step(played, "pay")["child"], "charge")["attempts"]
    assert sent["request"]["body"] == {"n": 3}
    answered = play(PAYING, {"n": 3}, {"pay": {"receipt": 9}}, children=(PAYMENT,))
    assert (answered["output"], "child" in step(answered, "pay")) == ({"receipt": 9}, False)
    failed = play(
        PAYING, {"n": 3}, {"payment/charge": {"$fail": {"message": "no", "retry": False}}}, children=(PAYMENT,)
    )
    assert failed["status"] == "failed"
    assert "charge: no" in failed["error"]


def test_a_child_that_is_not_known_is_answered_by_an_example() -> None:
    found = play(PAYING, {"n": 3})
    assert (found["status"], step(found, "pay")["answered_by"]) == ("completed", "example")


def test_an_answer_for_a_child_that_no_run_asks_for_is_named() -> None:
    found = play(PAYING, {"n": 3}, {"paiment/charge": 1}, children=(PAYMENT,))
    assert "answers.paiment/charge: no child run asked for it" in found["problems"]


def test_conditional_edges_of_a_graph_are_decided() -> None:
    is_big, is_small = (f"context.data['first'].n {sign} 1" for sign in (">", "<="))
    definition = document(
        node("first", edge("big", condition=is_big), edge("small", condition=is_small)), node("big"), node("small")
    )
    assert set(play(definition, answers={"first": {"n": 2}})["route"]) == {"first", "small:skipped", "big"}
    assert set(play(definition, answers={"first": {"n": 1}})["route"]) == {"first", "big:skipped", "small"}


def test_a_past_run_answers_what_is_not_pinned() -> None:
    recorded = {
        "get": RecordedStep(Ending.SUCCESS, b'{"status_code":200,"headers":{},"body":{"sum":250}}', None),
        "ask": RecordedStep(Ending.TIMEOUT, b"{}", None),
        "ship": RecordedStep(Ending.FAILED, b"{}", StepError("http_status", "answered 500")),
    }
    found = play(ORDER, {"id": 7}, recorded=recorded)
    assert found["route"] == ["get", "nap", "ask:timeout", "ship:skipped"]
    assert step(found, "get")["answered_by"] == "run"
    mixed = play(ORDER, {"id": 7}, {"ask": {"ok": 1}}, recorded=recorded)
    assert (mixed["status"], step(mixed, "ship")["error"]["message"]) == ("failed", "answered 500")
    assert (step(mixed, "ask")["answered_by"], step(mixed, "ship")["answered_by"]) == ("pinned", "run")


def test_the_items_of_a_past_map_answer_the_items() -> None:
    definition = {"name": "x", "tasks": {"each": {"for_each": [1, 2, 3], "url": "https://x.example/{{item}}"}}}
    past = {"each": RecordedStep(Ending.SUCCESS, b'{"output":[{"a":1},{"a":2}]}', None)}
    each = step(play(definition, recorded=past), "each")
    assert [one["answered_by"] for one in each["first_items"]] == ["run", "run", "example"]
    assert each["output"][:2] == [{"a": 1}, {"a": 2}]


def test_an_action_is_answered_by_an_example_of_its_return_type() -> None:
    @registry.action("dryrun.charge")
    def charge(amount: int) -> dict[str, int]:
        raise AssertionError("a dry run has no effects")

    found = play({"name": "x", "tasks": {"a": {"action": "dryrun.charge", "with": {"amount": 1}}}})
    assert (found["status"], step(found, "a")["answered_by"]) == ("completed", "example")
    assert step(found, "a")["attempts"][0]["request"] == {"action": "dryrun.charge", "with": {"amount": 1}}


def test_a_step_that_repeats_looks_again_until_its_answer_is_as_wanted() -> None:
    repeat = {"until": "result.body.state == 'done'", "every": "1h"}
    definition = {"name": "x", "tasks": {"a": {"url": "https://x.example/", "repeat": repeat}}}
    answers = {"a": {"$attempts": [{"state": "new"}]}}
    stopped = play(definition, answers=answers)
    assert stopped["status"] in ("timeout", "failed")
    found = play(definition, answers={"a": {"state": "done"}})
    assert (found["status"], len(step(found, "a")["attempts"])) == ("completed", 1)


def test_every_limit_stops_the_dry_run_and_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    definition = {"name": "x", "tasks": {"each": {"for_each": list(range(50)), "url": "https://x.example/"}}}
    assert "took too long" in play(definition, late_after=5)["problems"][0]
    for name, words in (
        ("MOST_ATTEMPTS", "after 3 attempts"),
        ("MOST_EVENTS", "after 3 events"),
        ("MOST_BYTES", "3 bytes"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(simulation, name, 3)
            assert words in play(definition)["problems"][0]


def test_wrong_answers_are_refused_together() -> None:
    with pytest.raises(InvalidInput) as refused:
        play(ORDER, {}, {"gte": 1, "nap": 2, "ship": {"$fial": "x"}, "ask": {"$items": [1]}})
    assert {problem.field for problem in refused.value.problems} == {
        "answers.gte", "answers.nap", "answers.ship.$fial", "answers.ask.$items",
    }  # fmt: skip
    assert "did you mean 'get'?" in str(refused.value.problems[0])


@pytest.mark.parametrize(
    ("answers", "real"),
    [
        ({"get": {"sum": 250}, "ask": {"ok": 1}, "ship": {"tracking": 1}}, None),
        ({"get": {"sum": 5}, "ship": {"tracking": 1}}, None),
        ({"get": {"$status": 404}}, {"get": Response(status=404)}),
        ({"get": {"sum": 250}, "ask": {"$timeout": True}}, {"get": {"sum": 250}, "ask": TimeoutError}),
    ],
)
def test_a_dry_run_takes_the_route_that_the_engine_takes(answers: dict[str, Any], real: dict[str, Any] | None) -> None:
    found = play(ORDER, {"id": 7}, answers)
    run = speedrun(ORDER, {"id": 7}, answers=real or answers)
    assert (found["status"], sorted(found["route"]), found["output"]) == (run.status, sorted(run.route), run.output)


def test_a_dry_run_is_the_same_every_time() -> None:
    definition = {"name": "x", "tasks": {"a": {"action": "core.echo", "with": {"id": "{{uuid()}}"}}}}
    assert json.dumps(play(definition)) == json.dumps(play(definition))
