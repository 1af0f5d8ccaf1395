"""Everything that can be wrong with a definition in the steps form, each with its field and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import InvalidDefinition, Problem
from detent.forms.compiled import Limits
from detent.forms.steps.form import compile_steps

URL = "https://shop.example/x"
GOOD: dict[str, Any] = {"url": URL}


def problems(document: Any, **options: Any) -> list[Problem]:
    with pytest.raises(InvalidDefinition) as caught:
        compile_steps(document, **options)
    assert caught.value.message == "workflow validation failed"
    return list(caught.value.problems)


def only(document: Any, **options: Any) -> tuple[str, str]:
    """The one problem of a document."""
    found = problems(document, **options)
    assert len(found) == 1, found
    return found[0].field, found[0].message


WORKFLOW = [
    ({"name": None}, "name", "is missing"),
    ({"name": ""}, "name", "must not be empty"),
    ({"name": "  "}, "name", "must not be empty"),
    ({"name": 5}, "name", "must be text, not the number 5"),
    ({"name": "x" * 201}, "name", "has 201 characters; at most 200 are allowed"),
    ({"name": "a\nb"}, "name", "control character"),
    ({"name": " a"}, "name", "cannot be the name of a workflow"),
    ({"name": "../etc"}, "name", "without slashes"),
    ({"name": ".."}, "name", "cannot be the name of a workflow"),
    ({"name": "a\u202eb"}, "name", "invisible characters"),
    ({"name": "a\u200bb"}, "name", "invisible characters"),
    ({"nmae": "a"}, "nmae", "unknown field 'nmae'; did you mean 'name'?"),
    ({"zzz": 1}, "zzz", "unknown field 'zzz'; known are cron_expression, description"),
    ({"form": "graph"}, "form", "must be 'steps', not the text 'graph'"),
    ({"form": []}, "form", "must be 'steps', not a list"),
    ({"description": 5}, "description", "must be text"),
    ({"description": "x" * 10_001}, "description", "at most 10000"),
    ({"enabled": "yes"}, "enabled", "must be true or false, not the text 'yes'"),
    ({"queue": "a b"}, "queue", "'a b' cannot be the name of a queue"),
    ({"priority": 1001}, "priority", "must be from -1000 to 1000, not 1001"),
    ({"priority": 1.5}, "priority", "must be a whole number, not the number 1.5"),
    ({"priority": True}, "priority", "must be a whole number, not true"),
    ({"labels": ["a"]}, "labels", "must be a mapping, not a list"),
    ({"labels": {"a": 1}}, "labels.a", "must be text, not the number 1"),
    ({"labels": {"a": None}}, "labels.a", "must be text, not nothing"),
    ({"labels": {" ": "a"}}, "labels. ", "the name of a label has 1 to 200 characters"),
    ({"labels": {str(number): "x" for number in range(65)}}, "labels", "has 65 labels; at most 64"),
    ({"max_duration": "P1Y"}, "max_duration", "'P1Y' is not a duration"),
    ({"max_duration": 0}, "max_duration", "must be more than zero"),
    ({"max_duration": "11000d"}, "max_duration", "must be at most 3650d"),
    ({"max_duration_seconds": "1h"}, "max_duration_seconds", 'must be a number; or write max_duration: "30d"'),
    ({"max_duration_seconds": -5}, "max_duration_seconds", "must be more than zero"),
    ({"max_duration": 5, "max_duration_seconds": 5}, "max_duration_seconds", "write one of them"),
    ({"trigger": "crom"}, "trigger", "is not one of api, cron, webhook, event, manual, schedule; did you mean 'cron'?"),
    ({"trigger": 5}, "trigger", "must be one of api"),
    ({"trigger": {"type": "x"}}, "trigger.type", "'x' is not one of"),
    ({"trigger": {"typ": "api"}}, "trigger.typ", "did you mean 'type'?"),
    ({"trigger": "cron"}, "cron_expression", 'is missing; write for example "0 9 * * 1-5"'),
    ({"trigger": {"type": "cron"}}, "trigger.cron_expression", "is missing"),
    ({"trigger": "cron", "cron_expression": "61 * * * *"}, "cron_expression", "not a cron expression (Bad minute)"),
    ({"trigger": "cron", "cron_expression": "* * *"}, "cron_expression", "Wrong number of fields"),
    ({"trigger": "cron", "cron_expression": "0 0 30 2 *"}, "cron_expression", "Bad day-of-month"),
    ({"trigger": "cron", "cron_expression": "0 0 */29 2 1#5"}, "cron_expression", "never matches a time"),
    ({"trigger": "cron", "cron_expression": "@dialy"}, "cron_expression", "did you mean '@daily'?"),
    ({"trigger": "cron", "cron_expression": "@reboot"}, "cron_expression", "unknown schedule '@reboot'"),
    ({"trigger": "cron", "cron_expression": 5}, "cron_expression", "must be text"),
    ({"trigger": "cron", "cron_expression": "@daily", "timezone": "Europe/Zuric"}, "timezone", "'Europe/Zurich'?"),
    ({"trigger": "cron", "cron_expression": "@daily", "timezone": "../x"}, "timezone", "unknown time zone '../x'"),
    ({"trigger": "cron", "cron_expression": "@daily", "timezone": "Europe"}, "timezone", "unknown time zone 'Europe'"),
    ({"trigger": "api", "cron_expression": "@daily"}, "cron_expression", "is only for the cron trigger"),
    ({"trigger": "api", "timezone": "UTC"}, "timezone", "is only for the cron trigger, and this one is api"),
    ({"trigger": {"type": "api"}, "timezone": "UTC"}, "timezone", "belongs inside the trigger block"),
    ({"tasks": None}, "tasks", "there are no steps"),
    ({"tasks": {}}, "tasks", "there are no steps"),
    ({"tasks": []}, "tasks", "there are no steps"),
    ({"tasks": "x"}, "tasks", "must be a mapping of names to steps, not the text 'x'"),
    ({"steps": {"b": GOOD}}, "steps", "is another spelling of 'tasks'; write one of them"),
    ({"tasks": ["x"]}, "tasks[0]", "a step in a list must be a mapping with a name"),
    ({"tasks": [{"name": 5}]}, "tasks[0]", "must be named by a text, not the number 5"),
    ({"tasks": [{"name": "a", **GOOD}, {"name": "a", **GOOD}]}, "tasks.a", "there are two steps named 'a'"),
    ({"tasks": {"a": GOOD, "A": GOOD}}, "tasks.A", "'A' and 'a' differ only in case"),
    ({"tasks": {"a": 5}}, "tasks.a", "a step must be a mapping, not the number 5"),
    ({"tasks": {"a": None}}, "tasks.a", "a step must be a mapping, not nothing"),
    ({"output": "{{ tasks.b.body }}"}, "output", "no step 'b'"),
    ({"output": {"x": ["{{"]}}, "output.x[0]", "'{{' is not closed"),
]


@pytest.mark.parametrize(("fields", "field", "message"), WORKFLOW)
def test_a_problem_of_a_workflow_is_named(fields: dict[str, Any], field: str, message: str) -> None:
    where, what = only({"name": "a", "tasks": {"a": GOOD}, **fields})
    assert where == field
    assert message in what


STEP = [
    ({}, "", "a step needs one of url, sleep, wait_for_webhook, approve, first_of, action"),
    ({"method": "GET"}, "", "a step needs one of url"),
    (
        {"url": URL, "sleep": 1},
        "",
        "action, workflow, condition, respond; this one has url and sleep",
    ),
    ({"sleep": 1, "action": "x", "wait_for_webhook": {}}, "", "this one has sleep and wait_for_webhook and action"),
    ({"ulr": URL}, ".ulr", "unknown field 'ulr'; did you mean 'url'?"),
    ({**GOOD, "name": "Ship it"}, ".name", "this step is named 'it' by its key"),
    ({**GOOD, "if": " {{ tasks.other.status_code = 200 }}"}, ".if", "(at character 29)"),
    ({**GOOD, "if": "{{ tasks.other.body }}"}, ".if", "add it to its needs (at character 4)"),
    ({**GOOD, "need": ["x"]}, ".need", "did you mean 'needs'?"),
    ({**GOOD, "depends": ["x"]}, ".depends", "unknown field 'depends'; known are acting_user_headers, action"),
    ({"url": 5}, ".url", "must be text"),
    ({"url": ""}, ".url", "must not be empty"),
    ({"url": "shop.example/x"}, ".url", "must begin with http:// or https://"),
    ({"url": "ftp://shop.example/x"}, ".url", "must begin with http:// or https://"),
    ({"url": "shop/{{run.id}}"}, ".url", "must begin with http:// or https://"),
    ({"url": "https://"}, ".url", "names no host"),
    ({"url": "https://a b/"}, ".url", "has a blank in it"),
    ({"url": "https://a:99999/"}, ".url", "is not a URL: Port out of range"),
    ({"url": "https://[::1/"}, ".url", "is not a URL: Invalid IPv6"),
    ({"url": "https://a/" + "x" * 9000}, ".url", "at most 8192"),
    ({**GOOD, "method": "PSOT"}, ".method", "did you mean 'POST'?"),
    ({**GOOD, "method": 5}, ".method", "must be one of GET"),
    ({**GOOD, "headers": []}, ".headers", "must be a mapping, not a list"),
    ({**GOOD, "headers": {"X": 5}}, ".headers.X", 'the value of a header must be text; write "5"'),
    ({**GOOD, "headers": {"X": []}}, ".headers.X", "must be text"),
    ({**GOOD, "headers": {"X": None}}, ".headers.X", "must be text"),
    ({**GOOD, "headers": {"a b": "c"}}, ".headers.a b", "'a b' cannot be the name of a header"),
    ({**GOOD, "headers": {"": "c"}}, ".headers.", "cannot be the name of a header"),
    ({**GOOD, "headers": {"X": "a\r\nY: b"}}, ".headers.X", "control character"),
    ({**GOOD, "headers": {"Content-Length": "5"}}, ".headers.Content-Length", "is set by Detent"),
    ({**GOOD, "headers": {"x-a": "1", "X-A": "2"}}, ".headers.X-A", "is the same header as 'x-a'"),
    ({**GOOD, "headers": {f"h{number}": "" for number in range(65)}}, ".headers", "has 65 headers; at most 64"),
    ({**GOOD, "headers": {"a": "x" * 17_000}}, ".headers", "at most 16384 are allowed"),
    ({**GOOD, "headers": {"a": "{{triger.x}}"}}, ".headers.a", "unknown name 'triger'; did you mean 'trigger'?"),
    ({**GOOD, "body": {"a": ["x", "{{ 1 +"]}}, ".body.a[1]", "is not closed"),
    ({**GOOD, "body": {"a": "{{ 1 + }}"}}, ".body.a", "(at character"),
    ({**GOOD, "body": "x" * 300_000}, ".body", "256 KB"),
    ({**GOOD, "retries": -1}, ".retries", "must be from 0 to 100, not -1"),
    ({**GOOD, "retries": 101}, ".retries", "must be from 0 to 100"),
    ({**GOOD, "retries": "3"}, ".retries", "must be a whole number, not the text '3'"),
    ({**GOOD, "retries": True}, ".retries", "must be a whole number, not true"),
    ({**GOOD, "retries": {"atempts": 3}}, ".retries.atempts", "did you mean 'attempts'?"),
    ({**GOOD, "retries": {"factor": 0.5}}, ".retries.factor", "must be from 1 to 100, not 0.5"),
    ({**GOOD, "retries": {"factor": "2"}}, ".retries.factor", "must be a number"),
    ({**GOOD, "retries": {"delay": "x"}}, ".retries.delay", "'x' is not a duration"),
    ({**GOOD, "retries": {"delay": 9, "max_delay": 5}}, ".retries.max_delay", "is shorter than the first delay of 9 s"),
    ({**GOOD, "retries": 1, "retry": 2}, ".retry", "is another spelling of 'retries'"),
    ({**GOOD, "timeout": 0}, ".timeout", "must be more than zero"),
    ({**GOOD, "timeout": -1}, ".timeout", "must be more than zero"),
    ({**GOOD, "timeout": "30"}, ".timeout", "or a number of milliseconds"),
    ({**GOOD, "timeout": 1e300}, ".timeout", "must be at most 3650d"),
    ({**GOOD, "on_crash": "retyr"}, ".on_crash", "is not one of retry, fail, ask, probe; did you mean 'retry'?"),
    ({**GOOD, "on_crash": 5}, ".on_crash", "must be one of retry, fail, ask, probe, not the number 5"),
    ({**GOOD, "on_crash": "probe"}, ".on_crash", "a step of kind http cannot be probed; only an action that declares"),
    (
        {"action": "mail", "on_crash": "probe", "repeat": {"until": "1 == 1", "every": "1s"}},
        ".on_crash",
        "a repeated step cannot be probed",
    ),
    ({**GOOD, "queue": "1"}, ".queue", "cannot be the name of a queue"),
    ({**GOOD, "priority": "high"}, ".priority", "must be a whole number"),
    ({**GOOD, "description": []}, ".description", "must be text"),
    ({**GOOD, "with": {}}, ".with", "'with' has no meaning for a step with 'url'"),
    ({"sleep": 1, "retries": 1}, ".retries", "'retries' has no meaning for a step with 'sleep'"),
    ({"sleep": 1, "body": {}}, ".body", "'body' has no meaning for a step with 'sleep'"),
    ({"sleep": -1}, ".sleep", "cannot be negative"),
    ({"sleep": True}, ".sleep", "a duration is a number or a text"),
    ({"sleep": "tomorrow"}, ".sleep", "'tomorrow' is not a duration"),
    ({"sleep": "{{ x }}d"}, ".sleep", "unknown name 'x'"),
    ({"sleep": {}}, ".sleep", "a duration is a number or a text"),
    ({"wait_for_webhook": {}, "timeout": 5}, ".timeout", 'write wait_for_webhook: {timeout: "1h"}'),
    ({"wait_for_webhook": {"timeot": 5}}, ".wait_for_webhook.timeot", "did you mean 'timeout'?"),
    ({"wait_for_webhook": {"timeout": 0}}, ".wait_for_webhook.timeout", "must be more than zero"),
    ({"wait_for_webhook": {"early": "drop"}}, ".wait_for_webhook.early", "is not one of buffer, reject"),
    ({"wait_for_webhook": False}, ".wait_for_webhook", "must be a mapping such as"),
    ({"wait_for_webhook": []}, ".wait_for_webhook", "a duration is a number or a text"),
    ({"action": 5}, ".action", "must be text"),
    ({"action": "a b"}, ".action", "'a b' cannot be the name of an action"),
    ({"action": "{{trigger.body.a}}"}, ".action", "cannot be the name of an action"),
    ({"action": "mial"}, ".action", "no action 'mial'; did you mean 'mail'?"),
    ({"action": "core.ehco"}, ".action", "did you mean 'core.echo'?"),
    ({"action": "mail", "with": []}, ".with", "must be a mapping, not a list"),
    ({"action": "mail", "with": {"to": "{{tasks.x.body}}"}}, ".with.to", "no step 'x'"),
    ({"action": "mail", "url": None, "body": {}}, ".body", "'body' has no meaning for a step with 'action'"),
    ({"action": "core.delay"}, ".with", 'write either "seconds" or "duration"; one is needed'),
    ({"action": "core.delay", "with": {"seconds": 1, "duration": 1}}, ".with", "one is enough"),
    ({"action": "core.delay", "with": {"seconds": 1, "x": 1}}, ".with.x", "unknown field 'x'"),
    ({"action": "core.delay", "with": {"seconds": "1 s"}}, ".with.seconds", "is not a duration"),
    ({"action": "core.delay", "with": {"seconds": 1}, "timeout": 5}, ".timeout", "has no meaning"),
    ({"action": "core.wait", "retries": 1}, ".retries", "has no meaning"),
    ({"action": "core.wait", "with": {"early": 5}}, ".with.early", "must be one of buffer, reject"),
    ({"action": "core.http.request"}, ".with.url", "is missing"),
    ({"action": "core.http.request", "with": {"url": "x"}}, ".with.url", "must begin with http://"),
    ({"action": "core.http.request", "with": {"url": URL, "a": 1}}, ".with.a", "unknown field 'a'"),
    ({"action": "core.http.request", "with": {"url": URL, "body": ["{{x}}"]}}, ".with.body[0]", "unknown name 'x'"),
    ({**GOOD, "if": "tasks.other.status_code = 200"}, ".if", "use == to compare (at character"),
    ({**GOOD, "if": ""}, ".if", "the expression is empty"),
    ({**GOOD, "if": 5}, ".if", "must be a condition, such as"),
    ({**GOOD, "if": "tasks.it.status == 'x'"}, ".if", "a step cannot read its own result"),
    ({**GOOD, "if": "x" * 5000}, ".if", "longer than 4096 characters"),
    ({**GOOD, "needs": "it"}, ".needs", "a step cannot need itself"),
    ({**GOOD, "needs": 5}, ".needs", "must be the name of a step or a list of names, not the number 5"),
    ({**GOOD, "needs": {"other": 1}}, ".needs", "must be the name of a step or a list of names, not a mapping"),
    ({**GOOD, "needs": [5]}, ".needs[0]", "must be the name of a step, not the number 5"),
    ({**GOOD, "needs": ["other", "other"]}, ".needs[1]", "'other' is given twice"),
    ({**GOOD, "needs": ["other", "ohter"]}, ".needs[1]", "no step 'ohter'; did you mean 'other'?"),
    ({**GOOD, "needs": ["nothing-like-it"]}, ".needs[0]", "no step 'nothing-like-it'"),
    ({**GOOD, "needs": [""]}, ".needs[0]", "no step ''"),
]


@pytest.mark.parametrize(("fields", "field", "message"), STEP)
@pytest.mark.case("F2")
def test_a_problem_of_a_step_is_named(fields: dict[str, Any], field: str, message: str) -> None:
    where, what = only({"name": "a", "tasks": {"other": GOOD, "it": fields}}, actions=["mail"])
    assert where == f"tasks.it{field}"
    assert message in what


READ = [
    ("triger.body", "unknown name 'triger'; did you mean 'trigger'?"),
    ("env.SECRET", "unknown name 'env'; there is trigger, tasks, steps, wait, run, workflow, $input, $execution"),
    ("upper(secrets.key)", "a secret is sent as it is and nothing else can read it"),
    ("trigger", "name a part: trigger.body, trigger.headers, trigger.query, trigger.scheduled_at"),
    ("trigger.bdoy.x", "trigger has no 'bdoy'; did you mean 'body'?"),
    ("trigger[0]", "trigger has no 0; there is trigger.body"),
    ("run.name", "run has no 'name'; there is run.id"),
    ("tasks", "name a step and a part of its result: tasks.NAME.body"),
    ("keys(steps)", "name a step and a part of its result: steps.NAME.body"),
    ("tasks[trigger.body.x].body", "name a step and a part of its result"),
    ("tasks[0].body", "name a step and a part of its result"),
    ("tasks.frist.body", "no step 'frist'; did you mean 'first'?"),
    ("tasks.first", "name a part: tasks.first.status, tasks.first.status_code"),
    ("tasks.first.bdy", "tasks.first has no 'bdy'; did you mean 'body'?"),
    ("steps.first.result", "steps.first has no 'result'; there is steps.first.status"),
    ("tasks.beside.body", "'it' does not need 'beside', directly or through others; add it to its needs"),
    ("steps.beside.body", "'it' does not need 'beside'"),
    ("tasks.after.body", "'it' does not need 'after'"),
    ("tasks.it.body", "a step cannot read its own result"),
    ("first.body", "write tasks.first to read the result of that step"),
    ("wait.first.url", "'first' is not a wait step, so it has no callback URL"),
    ("wait.on.url", "no step 'on'; did you mean 'one'?"),
    ("wait.one", "write wait.NAME.url with the name of a wait step"),
    ("wait.one.uri", "write wait.NAME.url"),
    ("$execution.first.resume_url", "'first' is not a wait step"),
    ("$execution.resume_url", "there are 2 wait steps; write $execution.one.resume_url"),
    ("$execution.id", "write $execution.NAME.resume_url"),
    ("trigger.body.x ?? tasks.beside.body", "'it' does not need 'beside'"),
]


@pytest.mark.parametrize(("read", "message"), READ)
@pytest.mark.case("H8")
def test_only_what_is_known_and_upstream_may_be_read(read: str, message: str) -> None:
    tasks = {
        "first": GOOD,
        "beside": GOOD,
        "one": {"wait_for_webhook": {}},
        "two": {"wait_for_webhook": {}},
        "it": {**GOOD, "needs": "first", "body": {"x": "{{ " + read + " }}"}},
        "after": {**GOOD, "needs": "it"},
    }
    where, what = only({"name": "a", "tasks": tasks})
    assert where == "tasks.it.body.x"
    assert message in what
    tasks["it"] = {**GOOD, "needs": "first", "if": read}
    where, what = only({"name": "a", "tasks": tasks})
    assert where == "tasks.it.if"
    assert message in what


def test_the_only_callback_needs_a_wait_step() -> None:
    document = {"name": "a", "tasks": {"a": {**GOOD, "body": "{{ $execution.resume_url }}"}}}
    assert only(document)[1].startswith("'$execution.resume_url': there is no wait step")


@pytest.mark.parametrize("name", ["", "a b", "1a", "-a", "a.b", "ä", "a" * 65, "a/b", "a\n", "{{a}}", "a%00", "\u0430"])
@pytest.mark.case("F5")
def test_a_step_name_that_others_could_not_spell_is_refused(name: str) -> None:
    found = problems({"name": "a", "tasks": {name: GOOD}})
    assert "cannot be the name of a step: letters, digits, - and _" in found[0].message


@pytest.mark.case("F1")
def test_a_cycle_is_named() -> None:
    tasks = {"a": {**GOOD, "needs": "b"}, "b": {**GOOD, "needs": "a"}, "c": {**GOOD, "needs": "b"}}
    assert only({"name": "a", "tasks": tasks}) == ("tasks.a.needs", "cycle: a -> b -> a")


@pytest.mark.case("F1")
def test_a_cycle_of_a_thousand_steps_is_named() -> None:
    tasks = {f"s{number}": {**GOOD, "needs": f"s{(number - 1) % 1000}"} for number in range(1000)}
    field, message = only({"name": "a", "tasks": tasks})
    assert field == "tasks.s0.needs"
    assert message.startswith("cycle: s0 -> s1 -> ")


def test_a_misspelled_need_is_one_problem_and_not_one_for_each_template_behind_it() -> None:
    body = "{{tasks.charge.body}}"
    tasks = {
        "charge": GOOD,
        "ship": {**GOOD, "needs": ["chrage"], "body": body},
        "mail": {**GOOD, "needs": ["ship"], "body": body},
    }
    assert only({"name": "a", "tasks": tasks}) == (
        "tasks.ship.needs[0]",
        "no step 'chrage'; did you mean 'charge'?",
    )


def test_too_many_steps_or_needs_are_refused() -> None:
    tasks = {f"s{number}": {**GOOD, "needs": [f"s{before}" for before in range(number)]} for number in range(50)}
    assert only({"name": "a", "tasks": tasks}, limits=Limits(steps=49)) == (
        "tasks",
        "has 50 steps; at most 49 are allowed",
    )
    assert only({"name": "a", "tasks": tasks}, limits=Limits(steps=50))[1] == (
        "there are 1225 needs in all; at most 1000 are allowed"
    )


def test_an_unknown_action_is_fine_while_nobody_knows_the_actions() -> None:
    assert compile_steps({"name": "a", "tasks": {"a": {"action": "mail"}}}).code == ("mail",)


TWENTY = {
    "name": " a ",
    "trigger": "crom",
    "enabled": 1,
    "priority": "x",
    "queue": "a b",
    "labels": [],
    "max_duration": "P1Y",
    "tasks": {
        "charge": {"url": "x", "method": "PSOT", "headers": {"a": 1}, "retries": -1, "timeout": "30"},
        "ship": {"url": URL, "needs": ["chrage", "ship"], "body": ["{{ triger }}", "{{ 1 + }}"]},
        "a": {"sleep": -1, "needs": "b"},
        "b": {"wait_for_webhook": {"x": 1}, "needs": "a"},
    },
    "output": "{{tasks.x.body}}",
}
TWENTY_FIELDS = [
    *("name", "trigger", "enabled", "priority", "queue", "labels", "max_duration", "output"),
    *("tasks.charge.url", "tasks.charge.method", "tasks.charge.headers.a", "tasks.charge.retries"),
    *("tasks.charge.timeout", "tasks.ship.needs[0]", "tasks.ship.needs[1]", "tasks.ship.body[0]"),
    *("tasks.ship.body[1]", "tasks.a.sleep", "tasks.b.wait_for_webhook.x", "tasks.a.needs"),
]


def test_a_definition_with_twenty_problems_lists_twenty() -> None:
    assert sorted(problem.field for problem in problems(TWENTY)) == sorted(TWENTY_FIELDS)
    assert len(TWENTY_FIELDS) == 20


def test_a_definition_with_endless_problems_is_refused_shortly_with_hints_for_the_first() -> None:
    names = [f"step-number-{number}" for number in range(1000)]
    tasks = {name: {**GOOD, "needs": [other + "x" for other in names[:19]]} for name in names}
    found = problems({"name": "a", "tasks": tasks})
    assert len(found) == 1001
    assert sum("did you mean" in problem.message for problem in found) == 40
    assert str(found[-1]) == "and 18000 more problems"


def test_a_core_action_is_checked_without_a_list_of_actions() -> None:
    where, what = only({"name": "a", "tasks": {"it": {"action": "core.ehco"}}}, actions=None)
    assert (where, what) == ("tasks.it.action", "no core action 'core.ehco'; did you mean 'core.echo'?")
