"""What templates and conditions can read of a run, what is said when they cannot, and what a run gives back."""

from __future__ import annotations

from typing import Any

import pytest

from detent.graph.model import Edge, Graph, Step, StepKind
from detent.ids import RUN as RUN_PREFIX
from detent.ids import show
from detent.planner.scope import build_scope
from detent.run.outcomes import Done
from tests.planner.play import RUN, play, play_steps


def _echo(template: Any, given: dict[str, Any] | None = None) -> Any:
    """What a template of the second step renders to."""
    steps = (Step("first", StepKind.HTTP), Step("second", StepKind.ACTION, {"with": template}))
    run = play(Graph(steps, (Edge("first", "second"),)), given)
    run.succeed("first", 201, {"id": 7, "items": [1, 2]}, **{"Content-Type": "text/x", "X-Request-Id": "abc"})
    return run.parameters("second")["with"]


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{tasks.first.status_code}}", 201),
        ("{{tasks.first.body.id}}", 7),
        ("{{tasks.first.body}}", {"id": 7, "items": [1, 2]}),
        ("{{tasks.first.output.items[1]}}", 2),
        ("{{tasks.first.status}}", "success"),
        ("{{tasks.first.headers.content-type}}", "text/x"),
        ("{{tasks.first.headers.Content-Type}}", "text/x"),
        ("{{tasks.first.headers['x-REQUEST-id']}}", "abc"),
        ("{{trigger.body.order}}", 5),
        ("{{trigger.headers.X-Token}}", "t"),
        ("{{trigger.headers.x-token}}", "t"),
        ("{{trigger.query.page}}", "2"),
        ("{{$input.order}}", 5),
        ("{{workflow.name}}/{{run.id}}", f"orders/{show(RUN_PREFIX, RUN)}"),
        ("order {{trigger.body.order}}", "order 5"),
    ],
)
def test_a_template_reads_the_run(template: str, value: object) -> None:
    given = {"body": {"order": 5}, "headers": {"x-token": "t"}, "query": {"page": "2"}}
    assert _echo(template, given) == value


def test_an_actions_body_is_its_output() -> None:
    steps = (Step("a", StepKind.ACTION), Step("b", StepKind.ACTION, {"with": "{{tasks.a.body.n}}"}))
    run = play(Graph(steps, (Edge("a", "b"),)))
    run.give("a", {"n": 1})
    assert run.parameters("b") == {"with": 1}


def test_a_callback_url_is_known_before_its_wait_and_in_other_spellings() -> None:
    config = {"with": ["{{wait.w.url}}", "{{$execution.w.resume_url}}", "{{$execution.resume_url}}"]}
    run = play(Graph((Step("a", StepKind.ACTION, config), Step("w", StepKind.WAIT)), (Edge("a", "w"),)))
    assert run.parameters("a")["with"] == ["https://detent.example/wh/w"] * 3


def test_the_only_callback_url_is_an_error_where_there_are_several() -> None:
    steps = (
        Step("a", StepKind.ACTION, {"with": "{{$execution.resume_url}}"}),
        Step("v", StepKind.WAIT),
        Step("w", StepKind.WAIT),
    )
    run = play(Graph(steps))
    run.begin("a")
    assert run.statuses()["a"] == "template_error"


def test_the_url_of_a_step_that_does_not_wait_is_an_error() -> None:
    run = play(Graph((Step("a", StepKind.ACTION, {"with": "{{wait.a.url}}"}), Step("w", StepKind.WAIT))))
    run.begin("a")
    assert run.error("a").message.startswith("Failed to resolve {{wait.a.url}}")


def test_the_scope_names_every_step_and_every_wait() -> None:
    run = play(Graph((Step("a", StepKind.ACTION), Step("w", StepKind.WAIT))))
    scope: Any = build_scope(run.prepared, run.state)
    assert (list(scope["tasks"]), len(scope["tasks"])) == (["a", "w"], 2)
    assert (list(scope["wait"]), len(scope["wait"])) == (["w"], 1)
    assert scope["tasks"]["a"].resolve()["status"] is None, "it has not ended"


def test_a_missing_value_is_never_sent() -> None:
    run = play_steps({"charge": {}, "ship": {"needs": ["charge"], "body": {"id": "{{tasks.charge.body.order_id}}"}}})
    run.succeed("charge", 200, {"orderId": 1})
    run.begin("ship")
    assert run.statuses()["ship"] == "template_error"
    assert run.error("ship").message.startswith("Failed to resolve {{tasks.charge.body.order_id}}")
    assert run.status == "failed"


def test_a_template_error_is_not_tried_again_and_can_be_handled() -> None:
    steps = {
        "a": {"body": "{{trigger.body.missing}}"},
        "b": {"needs": ["a"], "if": "tasks.a.status == 'template_error'"},
    }
    run = play_steps(steps)
    run.begin("a")
    assert run.statuses() == {"a": "template_error", "b": "running"}
    run.succeed("b")
    assert run.status == "completed"


@pytest.mark.parametrize(
    ("template", "read"),
    [("{{tasks.charge.body.amount}}", "body.amount"), ("{{tasks.charge.body}}", "body")],
)
def test_a_truncated_answer_says_why_it_cannot_be_read(template: str, read: str) -> None:
    run = play_steps({"charge": {}, "ship": {"needs": ["charge"], "body": template}})
    run.attempt("charge", Done(b'{"status_code":200,"headers":{},"truncated":true}'))
    run.begin("ship")
    assert run.error("ship").message.startswith(
        f"Cannot read '{read}' because the response from 'charge' exceeded the 256KB limit and was truncated"
    )


def test_the_status_code_of_a_truncated_answer_can_be_read() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"], "if": "tasks.a.status_code == 200"}})
    run.attempt("a", Done(b'{"status_code":200,"headers":{},"truncated":true}'))
    assert run.statuses()["b"] == "running"


def test_an_answer_that_is_no_json_is_text() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"], "body": {"x": "{{tasks.a.body}}", "y": "{{tasks.a.body.z}}"}}})
    run.succeed("a", 200, "plain")
    run.begin("b")
    assert run.error("b").message.startswith("Failed to resolve {{tasks.a.body.z}}")


# -- outputs


def test_the_output_of_the_only_executed_leaf_is_the_runs() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"], "if": "1 == 1"}, "c": {"needs": ["a"], "if": "1 == 2"}})
    run.succeed("a", 200, "not this")
    run.succeed("b", 200, {"n": 1})
    assert run.output == {"n": 1}


def test_several_leaves_are_mapped_by_name() -> None:
    run = play_steps({"a": {"action": "core.echo"}, "b": {}, "nap": {"sleep": 0}})
    run.give("a", [1])
    run.succeed("b", 200, {"n": 1})
    run.sleep(0)
    assert run.output == {"a": [1], "b": {"n": 1}, "nap": None}


def test_a_failed_leaf_without_an_answer_gives_null() -> None:
    run = play_steps({"a": {}})
    run.fail("a", code="connect")
    assert run.output is None
    assert run.ended is not None
    assert run.ended.output == b"null"


def test_an_output_mapping_is_rendered_from_the_whole_run() -> None:
    run = play_steps({"a": {}, "b": {}}, output={"sum": "{{tasks.a.body.n + tasks.b.body.n}}", "kind": "sum"})
    run.succeed("a", 200, {"n": 1})
    run.succeed("b", 200, {"n": 2})
    assert run.output == {"sum": 3, "kind": "sum"}


def test_an_output_that_cannot_be_rendered_is_told_and_leaves_the_status() -> None:
    run = play_steps({"a": {}}, output={"n": "{{tasks.a.body.n}}"})
    run.succeed("a", 200, {})
    assert run.ended is not None
    assert run.status == "completed"
    assert run.ended.output is None
    assert run.ended.error is not None
    assert run.ended.error.startswith("output: Failed to resolve {{tasks.a.body.n}}")


def test_an_output_beyond_256_kb_is_not_kept() -> None:
    run = play_steps({"a": {}, "b": {}})
    run.succeed("a", 200, "x" * 140_000)
    run.succeed("b", 200, "x" * 140_000)
    assert run.ended is not None
    assert run.ended.output is None
    assert run.ended.error == "output: it is larger than 256 KB and was not stored"


def test_a_result_is_kept_as_the_bytes_it_came_as() -> None:
    raw = b'{"output":{"b":1,"a":1e5,"n":12345678901234567890}}'
    run = play_steps({"a": {"action": "core.echo"}})
    run.attempt("a", Done(raw))
    assert raw in run.entries[0].data
    assert run.ended is not None
    assert run.ended.output == raw[len(b'{"output":') : -1]
