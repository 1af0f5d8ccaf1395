"""Bad input is refused with a clear message, is never a 5xx, and changes nothing."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from tests.api.server import Detent

pytestmark = pytest.mark.slow

WORKFLOWS = "/api/v1/workflows"


def steps(**tasks: Any) -> str:
    return json.dumps({"name": "bad", "tasks": tasks})


ECHO: dict[str, Any] = {"action": "core.echo"}
ROUND = {f"s{number}": {**ECHO, "needs": [f"s{(number + 1) % 900}"]} for number in range(900)}

DEFINITIONS: dict[str, tuple[str, str]] = {
    "a cycle of two": (steps(a={**ECHO, "needs": ["b"]}, b={**ECHO, "needs": ["a"]}), "a -> b -> a"),
    "a step that needs itself": (steps(a={**ECHO, "needs": ["a"]}), "itself"),
    "a cycle of 900": (steps(**ROUND), "->"),
    "a need that is not there": (steps(charge=ECHO, b={**ECHO, "needs": ["chrage"]}), "did you mean 'charge'?"),
    "a need twice": (steps(a=ECHO, b={**ECHO, "needs": ["a", "a"]}), "twice"),
    "names that differ in case only": (steps(a=ECHO, A=ECHO), "A"),
    "no name": (json.dumps({"tasks": {"a": ECHO}}), "name"),
    "an empty name": (json.dumps({"name": "", "tasks": {"a": ECHO}}), "name"),
    "a name of blanks": (json.dumps({"name": "   ", "tasks": {"a": ECHO}}), "name"),
    "a name that is a path": (json.dumps({"name": "../x", "tasks": {"a": ECHO}}), "name"),
    "a name with a NUL": (json.dumps({"name": "a\u0000b", "tasks": {"a": ECHO}}), "NUL"),
    "a name that turns text around": (json.dumps({"name": "a\u202eb", "tasks": {"a": ECHO}}), "name"),
    "a name without end": (json.dumps({"name": "a" * 100_000, "tasks": {"a": ECHO}}), "name"),
    "no steps": (json.dumps({"name": "bad", "tasks": {}}), "steps"),
    "a list": ("[1]", "mapping"),
    "nothing": ("", "empty"),
    "text": ("hello", "mapping"),
    "deep JSON": ('{"name":"bad","tasks":' + "[" * 100_000, "deep"),
    "deep but closed": ('{"name":"bad","tasks":' + "[" * 500 + "]" * 500 + "}", "deep"),
    "not a number": ('{"name":"bad","tasks":{"a":{"action":"core.echo","with":{"x":NaN}}}}', "NaN"),
    "infinity": ('{"name":"bad","tasks":{"a":{"action":"core.echo","with":{"x":-Infinity}}}}', "Infinity"),
    "a huge number": ('{"name":"bad","x":' + "9" * 5000 + "}", "64 bits"),
    "a key twice": ('{"name":"bad","name":"bad","tasks":{}}', "twice"),
    "half a character": ('{"name":"\\ud800","tasks":{"a":{"action":"core.echo"}}}', "half a character"),
    "an open template": (steps(a={**ECHO, "with": {"x": "{{trigger.body"}}), "tasks.a.with.x"),
    "a template of a step it does not need": (
        steps(a=ECHO, b={**ECHO, "with": {"x": "{{tasks.a.output}}"}}),
        "tasks.b.with.x",
    ),
    "a condition that is none": (steps(a={**ECHO, "if": "1 +"}), "tasks.a.if"),
    "a condition on host objects": (steps(a={**ECHO, "if": "trigger.__class__.__mro__ == 1"}), "tasks.a.if"),
    "a header with a line break": (
        steps(a={"url": "https://example.org", "headers": {"X-A": "a\r\nB: c"}}),
        "tasks.a.headers",
    ),
    "a header name with a colon": (steps(a={"url": "https://example.org", "headers": {"X:A": "a"}}), "tasks.a.headers"),
    "another scheme": (steps(a={"url": "file:///etc/passwd"}), "tasks.a.url"),
    "an unknown field": (json.dumps({"name": "bad", "taks": {}, "tasks": {"a": ECHO}}), "did you mean 'tasks'?"),
    "an unknown action": (steps(a={"action": "core.eco"}), "did you mean 'core.echo'?"),
    "two kinds in one": (steps(a={"url": "https://example.org", "sleep": "1s"}), "tasks.a"),
    "a sleep that is none": (steps(a={"sleep": "soon"}), "tasks.a.sleep"),
}


@pytest.mark.case("F1", "F2", "F3", "F5")
@pytest.mark.parametrize("case", DEFINITIONS)
async def test_a_bad_definition_is_refused_with_its_reason(api: Detent, case: str) -> None:
    text, reason = DEFINITIONS[case]
    answer = await api.call("POST", WORKFLOWS, data=text.encode())
    assert answer.status == 400, answer.text
    assert answer.json["error"] == "invalid_argument"
    assert answer.json["code"] == "WFENG005"
    assert reason in answer.text.replace("\\u", "u"), answer.text[:500]
    assert "Traceback" not in answer.text
    assert (await api.call("GET", WORKFLOWS)).json["data"] == []


async def test_all_problems_of_a_definition_are_told_at_once(api: Detent) -> None:
    text = steps(a={"url": 3, "method": "GRAB"}, b={**ECHO, "needs": ["c"], "if": "=="})
    answer = await api.call("POST", WORKFLOWS, data=text)
    fields = {problem["field"] for problem in answer.json["details"]["validation_errors"]}
    assert fields >= {"tasks.a.url", "tasks.a.method", "tasks.b.needs[0]", "tasks.b.if"}
    assert answer.json["message"] == "workflow validation failed"


INPUTS = {
    "deep": b"[" * 100_000,
    "deep but closed": b"[" * 200 + b"]" * 200,
    "not JSON": b"{order: 1}",
    "not a number": b'{"x": NaN}',
    "a huge number": b'{"x": ' + b"9" * 5000 + b"}",
    "a number that becomes infinite": b'{"x": 1e999}',
    "a key twice": b'{"x": 1, "x": 2}',
    "half a character": b'{"x": "\\ud800"}',
    "not UTF-8": b'{"x": "\xff"}',
    "something after the end": b"{} {}",
}


@pytest.mark.case("F3")
@pytest.mark.parametrize("case", INPUTS)
@pytest.mark.parametrize("place", ["/api/v1/workflows/echo/trigger", "/wh/abc"])
async def test_a_bad_body_is_refused_with_its_reason(api: Detent, case: str, place: str) -> None:
    await api.save('{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}')
    answer = await api.call("POST", place, data=INPUTS[case], headers={"Content-Type": "application/json"})
    assert answer.status == 400, answer.text
    assert answer.json["error"] == "invalid_argument"
    assert len(answer.json["message"]) > 10
    assert (await api.call("GET", "/api/v1/workflows/echo/runs")).json["data"] == []


async def test_unusual_but_good_input_is_taken(detent: Detent) -> None:
    await detent.save('{"name": "echo", "tasks": {"a": {"action": "core.echo", "with": {"x": "{{trigger.body}}"}}}}')
    for text in ('{"x": "\\u0000"}', "\ufeff{}", "null", "3", '"text"', "[]", "{}"):
        answer = await detent.call("POST", "/api/v1/workflows/echo/trigger", data=text.encode())
        assert answer.status == 201, answer.text
        run = await detent.ended(answer.json["data"])
        assert run["tasks"]["a"]["output"] == {"x": json.loads(text.removeprefix("\ufeff"))}


@pytest.mark.parametrize(("place", "limit"), [(WORKFLOWS, 1024 * 1024), (f"{WORKFLOWS}/echo/execute", 256 * 1024)])
@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_over_its_limit_is_413_whether_announced_or_streamed(
    api: Detent, place: str, limit: int, announced: bool
) -> None:
    async def chunks() -> Any:
        for _ in range(limit // 65_536 + 1):
            yield b" " * 65_536

    data: Any = io.BytesIO(b" " * (limit + 1)) if announced else chunks()
    answer = await api.call("POST", place, data=data)
    assert answer.status == 413, answer.text
    assert (answer.json["error"], answer.json["code"]) == ("too_large", "too_large")


IDS = [
    "%00",
    "..%2f..%2fetc",
    "%20",
    "a" * 5000,
    "%E2%80%AEabc",
    "'%20or%20'1'='1",
    "wf_",
    "run_1",
    "%F0%9F%92%A5",
    "%25",
]


PLACES = [
    ("GET", f"{WORKFLOWS}/{{}}"),
    ("POST", f"{WORKFLOWS}/{{}}/trigger"),
    ("GET", f"{WORKFLOWS}/{{}}/runs"),
    ("GET", f"{WORKFLOWS}/{{}}/runs/{{}}"),
    ("POST", f"{WORKFLOWS}/{{}}/runs/{{}}/cancel"),
    ("POST", "/wh/{}"),
]


@pytest.mark.case("F4", "F5")
async def test_an_id_that_nobody_has_is_not_found(detent: Detent) -> None:
    for name in IDS:
        for method, place in PLACES:
            answer = await detent.call(method, place.format(name, name))
            assert answer.status == 404, (place, name, answer.text)
            assert answer.json["error"] == "not_found"


PAGES = ["limit=0", "limit=-1", "limit=x", "limit=99999", "limit=%D9%A1", "cursor=!!", "cursor=AAAA%00", "cursor=_w"]


@pytest.mark.case("K5")
async def test_a_bad_page_of_a_list_is_refused(detent: Detent) -> None:
    await detent.save('{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}')
    for query in PAGES:
        for place in (WORKFLOWS, f"{WORKFLOWS}/echo/runs"):
            answer = await detent.call("GET", f"{place}?{query}")
            assert answer.status == 400, (place, query, answer.text)
            assert answer.json["details"]["validation_errors"][0]["field"] in ("limit", "cursor")


async def test_a_list_of_runs_of_an_unknown_status_is_refused(api: Detent) -> None:
    await api.save('{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}')
    answer = await api.call("GET", f"{WORKFLOWS}/echo/runs?status=done'--")
    assert answer.status == 400
    assert "completed" in answer.text


async def test_too_many_headers_are_refused(api: Detent) -> None:
    await api.save('{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}')
    many = {f"X-{number}": "x" for number in range(70)}
    answer = await api.call("POST", f"{WORKFLOWS}/echo/trigger", headers=many)
    assert (answer.status, answer.json["error"], answer.json["code"]) == (431, "too_large", "headers_too_large")
