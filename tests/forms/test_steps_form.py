"""The steps form: what a definition becomes."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import InvalidDefinition
from detent.forms.compiled import Compiled, Limits, TriggerDefinition, TriggerType
from detent.forms.definition import read_definition
from detent.forms.steps.form import compile_steps
from detent.graph import codec
from detent.graph.check import check
from detent.graph.model import NO_RETRY, ON_ANY, ON_SUCCESS, Edge, FailurePolicy, Join, OnCrash, Retry, Step, StepKind
from tests.forms.workflows import CHECKOUT_FLOW, ORDER_PROCESSING, TRIAL_EXPIRY

URL = "https://shop.example/x"
SCHEDULE: dict[str, Any] = {
    "timezone": "UTC",
    "jitter": 0,
    "missed": "last",
    "missed_window": 86400,
    "overlap": "allow",
}
HTTP: dict[str, Any] = {"url": URL, "method": "POST", "headers": {}, "body": None}


def one(**fields: Any) -> Step:
    """The only step of a workflow."""
    return compiled(tasks={"it": fields}).graph.steps[0]


def cron(expression: str, **fields: Any) -> TriggerDefinition:
    return TriggerDefinition(TriggerType.CRON, {"cron_expression": expression, **SCHEDULE, **fields})


def compiled(**fields: Any) -> Compiled:
    return compile_steps({"name": "a", "tasks": {"it": {"url": URL}}, **fields})


def test_order_processing_compiles_word_for_word() -> None:
    workflow = compile_steps(read_definition(ORDER_PROCESSING))
    assert (workflow.name, workflow.form, workflow.enabled) == ("order-processing", "steps", True)
    assert workflow.trigger == TriggerDefinition(TriggerType.API)
    assert [step.name for step in workflow.graph.steps] == [
        "charge",
        "send-receipt",
        "notify-warehouse",
        "handle-failure",
    ]
    assert workflow.graph.edges == tuple(
        Edge("charge", name, ON_ANY) for name in ("send-receipt", "notify-warehouse", "handle-failure")
    )
    assert workflow.graph.steps[3] == Step(
        "handle-failure",
        StepKind.HTTP,
        {"url": "https://myapp.com/api/payment-failed", "method": "POST", "headers": {}, "body": None},
        guard="tasks.charge.status_code != 200",
        retry=Retry(attempts=6, delay=2.0, factor=2.0, jitter=True),
        timeout=30.0,
    )
    assert workflow.graph.steps[1].config["body"]["amount"] == "{{tasks.charge.body.amount}}"


def test_trial_expiry_compiles_word_for_word() -> None:
    graph = compile_steps(read_definition(TRIAL_EXPIRY)).graph
    assert [edge.on for edge in graph.edges] == [ON_SUCCESS] * 4
    assert graph.steps[1] == Step("wait-13-days", StepKind.SLEEP, {"seconds": 13 * 86400.0})
    assert graph.steps[3] == Step("wait-1-day", StepKind.SLEEP, {"seconds": 86400.0})


def test_checkout_flow_compiles_word_for_word() -> None:
    graph = compile_steps(read_definition(CHECKOUT_FLOW)).graph
    assert graph.steps[1] == Step("payment-result", StepKind.WAIT, {"timeout": 3600.0, "early": "buffer"})
    assert graph.edges == (
        Edge("create-checkout", "payment-result"),
        Edge("payment-result", "fulfill-order", ON_ANY),
        Edge("payment-result", "handle-timeout", ON_ANY),
    )
    assert graph.steps[2].guard == "tasks.payment-result.body.status == 'paid'"


@pytest.mark.parametrize("text", [ORDER_PROCESSING, TRIAL_EXPIRY, CHECKOUT_FLOW])
def test_json_is_yaml_too(text: str) -> None:
    assert compile_steps(read_definition(text, syntax="yaml")) == compile_steps(read_definition(text, syntax="json"))


def test_a_workflow_has_the_promised_defaults() -> None:
    workflow = compiled()
    assert workflow == Compiled(name="a", form="steps", graph=workflow.graph)
    assert workflow.graph.max_duration == 30 * 86400
    assert workflow.graph.on_failure is FailurePolicy.SETTLE
    assert workflow.graph.scope == "steps"
    assert workflow.graph.output is None
    assert workflow.graph.edges == ()
    assert workflow.graph.steps == (Step("it", StepKind.HTTP, HTTP, retry=Retry(), timeout=30.0, join=Join.ALL),)


def test_every_field_of_a_workflow_is_read() -> None:
    workflow = compiled(
        description="Two\nlines",
        form="steps",
        enabled=False,
        output={"code": "{{tasks.it.status_code}}"},
        labels={"team": "shop"},
        queue="slow",
        priority=5,
        max_duration="2h",
        trigger="webhook",
    )
    assert (workflow.description, workflow.enabled, workflow.queue, workflow.priority) == (
        "Two\nlines",
        False,
        "slow",
        5,
    )
    assert workflow.labels == {"team": "shop"}
    assert workflow.graph.output == {"code": "{{tasks.it.status_code}}"}
    assert workflow.graph.max_duration == 7200
    assert workflow.trigger == TriggerDefinition(TriggerType.WEBHOOK)


@pytest.mark.parametrize(
    "fields", [{"max_duration": 60}, {"max_duration_seconds": 60}, {"max_duration": "1m", "max_duration_seconds": None}]
)
def test_the_longest_duration_of_a_run_counts_seconds(fields: dict[str, Any]) -> None:
    assert compiled(**fields).graph.max_duration == 60


@pytest.mark.parametrize(
    ("fields", "trigger"),
    [
        ({"trigger": None}, TriggerDefinition()),
        ({"trigger": "manual"}, TriggerDefinition(TriggerType.MANUAL)),
        ({"trigger": {"type": "webhook"}}, TriggerDefinition(TriggerType.WEBHOOK)),
        ({"trigger": {}}, TriggerDefinition()),
        ({"trigger": "cron", "cron_expression": "0 9 * * 1-5"}, cron("0 9 * * 1-5")),
        (
            {"trigger": "cron", "cron_expression": " */5  * * * * ", "timezone": "Europe/Zurich"},
            cron("*/5 * * * *", timezone="Europe/Zurich"),
        ),
        (
            {"trigger": {"type": "Schedule", "cron_expression": "@Daily", "timezone": "UTC"}},
            cron("0 0 * * *"),
        ),
        ({"trigger": "cron", "cron_expression": "30 0 0 * * *"}, cron("30 0 0 * * *")),
    ],
)
def test_a_trigger_is_a_word_or_a_block(fields: dict[str, Any], trigger: TriggerDefinition) -> None:
    assert compiled(**fields).trigger == trigger


@pytest.mark.parametrize("key", ["tasks", "steps"])
def test_steps_are_a_mapping_or_a_list_under_either_name(key: str) -> None:
    mapping = {"b": {"url": URL}, "a": {"sleep": 1, "needs": "b"}}
    listed = [{"name": "b", "url": URL}, {"name": "a", "sleep": 1, "needs": ["b"]}]
    from_mapping = compile_steps({"name": "x", key: mapping})
    assert from_mapping == compile_steps({"name": "x", key: listed})
    assert [step.name for step in from_mapping.graph.steps] == ["b", "a"]


@pytest.mark.parametrize(
    ("written", "seconds"), [(30_000, 30.0), (1500, 1.5), ("2m", 120.0), ("500ms", 0.5), (None, 30.0)]
)
def test_a_timeout_in_numbers_counts_milliseconds(written: object, seconds: float) -> None:
    assert one(url=URL, timeout=written).timeout == seconds
    assert one(action="mail", timeout=written).timeout == seconds


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (30, 30.0),
        (0, 0.0),
        (0.5, 0.5),
        ("3d", 259200.0),
        ("1h30m", 5400.0),
        ("{{trigger.body.d}}d", "{{trigger.body.d}}d"),
    ],
)
def test_a_sleep_in_numbers_counts_seconds_and_may_be_a_template(written: object, seconds: object) -> None:
    assert one(sleep=written) == Step("it", StepKind.SLEEP, {"seconds": seconds}, retry=NO_RETRY)
    assert one(action="core.delay", **{"with": {"duration": written}}) == one(sleep=written)
    assert one(action="core.delay", **{"with": {"seconds": written}}) == one(sleep=written)


@pytest.mark.parametrize(
    ("written", "config"),
    [
        ({"timeout": "1h"}, {"timeout": 3600.0, "early": "buffer"}),
        ({"timeout": 60, "early": "reject"}, {"timeout": 60.0, "early": "reject"}),
        ({}, {"timeout": None, "early": "buffer"}),
        (None, {"timeout": None, "early": "buffer"}),
        (True, {"timeout": None, "early": "buffer"}),
        ("2h", {"timeout": 7200.0, "early": "buffer"}),
        (90, {"timeout": 90.0, "early": "buffer"}),
    ],
)
def test_a_wait_has_a_timeout_or_lasts_until_the_run_expires(written: object, config: dict[str, Any]) -> None:
    assert one(wait_for_webhook=written) == Step("it", StepKind.WAIT, config)


def test_a_wait_may_be_written_as_an_action() -> None:
    assert one(action="core.wait", **{"with": {"timeout": "1h", "early": "reject"}}) == one(
        wait_for_webhook={"timeout": "1h", "early": "reject"}
    )
    assert one(action="core.wait") == one(wait_for_webhook={})


def test_a_request_may_be_written_as_an_action() -> None:
    request = {"url": URL, "method": "put", "headers": {"X": "{{run.id}}"}, "body": [1]}
    tried = {"retries": 1, "timeout": 5000, "on_crash": "fail"}
    step = one(**request, **tried)
    assert step == one(action="core.http.request", **{"with": request}, **tried)
    assert (step.config["method"], step.timeout, step.on_crash) == ("PUT", 5.0, OnCrash.FAIL)


@pytest.mark.parametrize(
    ("fields", "retry"),
    [
        ({}, Retry(attempts=6)),
        ({"retries": 0}, Retry(attempts=1)),
        ({"retries": 3}, Retry(attempts=4)),
        ({"retry": 3}, Retry(attempts=4)),
        ({"retries": {}}, Retry(attempts=6)),
        (
            {"retries": {"attempts": 2, "delay": "500ms", "factor": 3, "max_delay": 60, "jitter": False}},
            Retry(attempts=3, delay=0.5, factor=3.0, max_delay=60.0, jitter=False),
        ),
        ({"retry": {"delay": "2h"}}, Retry(attempts=6, delay=7200.0, max_delay=7200.0)),
    ],
)
def test_retries_count_the_tries_after_the_first(fields: dict[str, Any], retry: Retry) -> None:
    assert one(url=URL, **fields).retry == retry
    assert one(action="mail", **fields).retry == retry


def test_an_action_step_carries_its_parameters_and_names_its_code() -> None:
    tasks = {
        "b": {"action": "shop.mail", "with": {"to": "{{trigger.body.email}}"}, "queue": "mail", "priority": -2},
        "a": {"action": "archive"},
        "c": {"action": "core.echo", "with": {}},
        "d": {"action": "archive"},
    }
    workflow = compiled(tasks=tasks)
    assert workflow.code == ("archive", "shop.mail")
    assert workflow.graph.steps[0] == Step(
        "b",
        StepKind.ACTION,
        {"action": "shop.mail", "with": {"to": "{{trigger.body.email}}"}},
        retry=Retry(),
        timeout=30.0,
        queue="mail",
        priority=-2,
    )
    assert workflow.graph.steps[1].config == {"action": "archive", "with": {}}


@pytest.mark.parametrize(
    ("written", "guard"),
    [
        ("tasks.a.status == 'success'", "tasks.a.status == 'success'"),
        ("  {{ tasks.a.status_code == 200 }} ", "tasks.a.status_code == 200"),
        ("${{ trigger.body.go }}", "trigger.body.go"),
        (True, "true"),
        (False, "false"),
    ],
)
def test_a_condition_is_the_guard_and_takes_every_ending(written: object, guard: str) -> None:
    graph = compiled(tasks={"a": {"url": URL}, "b": {"needs": "a", "if": written, "url": URL}}).graph
    assert graph.steps[1].guard == guard
    assert graph.edges == (Edge("a", "b", ON_ANY),)


def test_null_counts_as_not_written() -> None:
    nothing = dict.fromkeys(
        ("method", "headers", "body", "retries", "timeout", "needs", "if", "sleep", "wait_for_webhook")
    )
    assert one(url=URL, **nothing) == one(url=URL)


def test_every_name_of_the_scope_may_be_read() -> None:
    reads = [
        *(
            "trigger.body",
            "trigger.body.a[0]['b']",
            "trigger.headers['x-id']",
            "trigger.query.q",
            "trigger.scheduled_at",
        ),
        *("$input", "$input.a", "run.id", "tasks.first.status", "tasks.first.status_code", "tasks.first.headers.etag"),
        *("tasks.first.body.a.length", "tasks.first.output", "steps.first.body", "tasks['first'].body"),
        *("wait.later.url", "$execution.later.resume_url", "$execution.resume_url", "wait['later'].url"),
    ]
    body = ["{{ " + read + " }}" for read in reads]
    tasks = {
        "first": {"url": URL},
        "second": {"url": URL, "needs": "first"},
        "third": {"url": URL, "needs": "second", "body": body, "if": " != ".join(reads[:2])},
        "later": {"wait_for_webhook": {}, "needs": "third"},
    }
    assert compiled(tasks=tasks).graph.steps[2].config["body"] == body


def test_remarks_that_do_not_stop_a_workflow_are_warnings() -> None:
    workflow = compiled(tasks={"a": {"url": URL, "method": "GET", "body": {}, "timeout": 30}})
    assert workflow.warnings == (
        "tasks.a.body: many servers ignore the body of a GET",
        'tasks.a.timeout: 30 counts milliseconds; write "30ms" to say so, or "30s"',
    )


def test_a_number_of_tries_and_a_limit_without_a_unit_say_what_they_count() -> None:
    echo = {"action": "core.echo"}
    tasks = {
        "a": {**echo, "retries": {"attempts": 3}},
        "b": {**echo, "retries": {"max_attempts": 4, "delay": "1s"}, "timeout": "5s"},
        "c": {**echo, "retries": 3},
        "d": {"wait_for_webhook": {"timeout": 60}},
        "e": {"action": "core.wait", "with": {"timeout": 60}},
        "f": {"wait_for_webhook": 60},
    }
    found = compiled(tasks=tasks)
    assert [step.retry.attempts for step in found.graph.steps[:3]] == [4, 4, 4]
    first = "3 more after the first, 4 in all; write max_attempts: 4 to say so"
    rest = 'counts seconds; write "60s" to say so, or "60ms"'
    assert found.warnings == (
        f"tasks.a.retries.attempts: counts the tries after the first: {first}",
        f"tasks.d.wait_for_webhook.timeout: 60 {rest}",
        f"tasks.e.with.timeout: 60 {rest}",
        f"tasks.f.wait_for_webhook: 60 {rest}",
    )
    both = {"a": {**echo, "retries": {"max_attempts": 4, "attempts": 3}}}
    with pytest.raises(InvalidDefinition) as refused:
        compiled(tasks=both)
    assert [problem.field for problem in refused.value.problems] == ["tasks.a.retries.attempts"]


def test_a_thousand_steps_are_allowed_and_more_if_the_limit_is_raised() -> None:
    tasks = {
        f"s{number}": {"action": "core.echo", "needs": [f"s{number - 1}"] if number else []} for number in range(5_000)
    }
    workflow = compile_steps({"name": "long", "tasks": tasks}, limits=Limits(steps=5_000))
    assert len(workflow.graph.edges) == 4_999
    assert check(workflow.graph) == []


def test_where_one_step_has_its_own_queue_the_others_say_theirs() -> None:
    tasks: dict[str, Any] = {"a": {"action": "core.echo"}, "b": {"action": "core.echo", "queue": "mail"}}
    plain = compile_steps({"name": "w", "tasks": tasks}).graph
    assert [(step.queue, step.priority) for step in plain.steps] == [("default", None), ("mail", None)]
    own = compile_steps({"name": "w", "queue": "slow", "tasks": tasks}).graph
    assert [step.queue for step in own.steps] == ["slow", "mail"]
    none = compile_steps({"name": "w", "queue": "slow", "tasks": {"a": {"action": "core.echo"}}}).graph
    assert [step.queue for step in none.steps] == [None]
    tasks["b"] = {"action": "core.echo", "priority": 7}
    ranked = compile_steps({"name": "w", "priority": 3, "tasks": tasks}).graph
    assert [(step.queue, step.priority) for step in ranked.steps] == [(None, 3), (None, 7)]


@pytest.mark.parametrize(
    "fields",
    [
        {"tasks": {"it": {"url": URL, "body": {"at": ["{{now()}}"]}}}},
        {"tasks": {"it": {"url": URL, "if": "trigger.body.items.any(i => i.qty > 0)"}}},
        {"tasks": {"it": {"url": URL}}, "output": {"skus": "{{tasks.it.body.map(i => i.sku)}}"}},
        {"tasks": {"it": {"sleep": "{{diff(trigger.body.due, now(), 'seconds')}}"}}},
        {"tasks": {"it": {"action": "core.echo", "with": {"id": "{{uuid()}}"}}}},
    ],
)
def test_a_graph_has_the_revision_that_its_expressions_need(fields: dict[str, Any]) -> None:
    assert compiled(**fields).graph.language == 2


def test_a_graph_that_needs_nothing_new_keeps_revision_1_and_its_checksum() -> None:
    for text in (ORDER_PROCESSING, CHECKOUT_FLOW, TRIAL_EXPIRY):
        graph = compile_steps(read_definition(text)).graph
        assert graph.language == 1
        assert b"language" not in codec.encode(graph)
    assert compiled(tasks={"it": {"url": URL, "body": "{{trigger.body.now}} => map(x)"}}).graph.language == 1


def test_an_arrow_may_read_what_its_step_may_read_and_nothing_else() -> None:
    tasks = {
        "first": {"url": URL},
        "second": {"url": URL, "needs": ["first"], "body": "{{tasks.first.body.map(tasks => tasks.other.x)}}"},
    }
    assert compiled(tasks=tasks).graph.language == 2
    wrong = {
        "first": {"url": URL},
        "second": {"url": URL, "body": "{{trigger.body.map(i => [i].map(j => i + j + tasks.first.body))}}"},
        "third": {"url": URL, "body": "{{trigger.body.map(i => i)}} {{i.x}}"},
    }
    with pytest.raises(InvalidDefinition) as raised:
        compiled(tasks=wrong)
    assert [problem.field for problem in raised.value.problems] == ["tasks.second.body", "tasks.third.body"]
    assert "'second' does not need 'first'" in raised.value.problems[0].message
    assert "unknown name 'i'" in raised.value.problems[1].message
