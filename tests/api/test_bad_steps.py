"""What only shows when a step runs ends that step with its reason: nothing wrong is sent, nothing is stuck."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from detent.steps.actions import registry
from tests.api.conftest import POSTGRES_TOO
from tests.api.server import Detent
from tests.api.shop import Shop

pytestmark = pytest.mark.slow


async def last_step(detent: Detent, first: dict[str, Any], step: dict[str, Any], body: Any) -> dict[str, Any]:
    """How `step` ended, after a first one, in a run that was given `body`."""
    tasks = {"first": first, "step": {"needs": ["first"], "retries": 0, **step}}
    await detent.save(json.dumps({"name": "w", "tasks": tasks}))
    run = await detent.ended(await detent.start("w", body))
    found: dict[str, Any] = run["tasks"]["step"]
    return found


ECHO = {"action": "core.echo", "with": {"a": {"b": None, "n": 5}}}
TEMPLATES = {
    "a key that is missing": ("{{trigger.body.missing}}", "Failed to resolve {{trigger.body.missing}}"),
    "a path through null": ("{{tasks.first.output.a.b.c}}", "Failed to resolve {{tasks.first.output.a.b.c}}"),
    "a path into a number": ("{{tasks.first.output.a.n.c}}", "Failed to resolve {{tasks.first.output.a.n.c}}"),
    "a number plus an object": ("{{1 - tasks.first.output.a}}", "Failed to resolve"),
}


@pytest.mark.case("F10")
@pytest.mark.parametrize("case", TEMPLATES)
async def test_a_template_that_cannot_be_resolved_sends_nothing(api: Detent, shop: Shop, case: str) -> None:
    template, message = TEMPLATES[case]
    step = await last_step(api, ECHO, {"url": f"{shop.url}/x", "body": {"x": template}}, {})
    assert step["status"] == "template_error"
    assert step["error"]["message"].startswith(message)
    assert shop.calls == []


async def test_a_path_into_a_truncated_body_says_that_it_was_truncated(api: Detent, shop: Shop) -> None:
    shop.charge = (200, {"amount": "x" * 300_000})
    first = {"url": f"{shop.url}/api/charge"}
    step = await last_step(api, first, {"url": f"{shop.url}/x", "body": "{{tasks.first.body.amount}}"}, {})
    assert step["status"] == "template_error"
    assert step["error"]["message"].startswith(
        "Cannot read 'body.amount' because the response from 'first' exceeded the 256KB limit and was truncated"
    )
    assert shop.paths() == ["/api/charge"]


HEADERS = ["a\r\nB: c", "a\nb", "a\x00b", "a\r b", "\x7f"]


@pytest.mark.parametrize("value", HEADERS)
async def test_a_header_that_would_become_two_is_not_sent(api: Detent, shop: Shop, value: str) -> None:
    request = {"url": f"{shop.url}/x", "headers": {"X-A": "{{trigger.body.v}}"}}
    step = await last_step(api, ECHO, request, {"v": value})
    assert (step["status"], step["error"]["code"]) == ("failed", "invalid_request")
    assert shop.calls == []


URLS = [
    "http://shop@evil.example/",
    "http:\\\\evil.example",
    "ftp://example.org",
    "javascript:1",
    "http://a b/",
    "http://\t/",
    "",
    "//x",
]


@pytest.mark.parametrize("value", URLS)
async def test_an_address_that_a_template_made_is_checked_after_it_is_made(api: Detent, value: str) -> None:
    step = await last_step(api, ECHO, {"url": "{{trigger.body.v}}"}, {"v": value})
    assert (step["status"], step["error"]["code"]) == ("failed", "invalid_request"), step


@POSTGRES_TOO
async def test_a_step_cannot_call_the_api_or_the_database_of_detent_itself(detent: Detent) -> None:
    step = await last_step(detent, ECHO, {"url": f"{detent.app.base_url}/health/live", "method": "GET"}, {})
    assert (step["status"], step["error"]["code"]) == ("failed", "egress_denied")
    if detent.app.settings.database_url.startswith("postgresql"):
        port = detent.app.settings.database_url.rpartition(":")[2].partition("/")[0]
        await detent.call("PUT", "/api/v1/workflows/db", json={"name": "db", "tasks": {
            "a": {"url": f"http://127.0.0.1:{port}/", "retries": 0}}})  # fmt: skip
        run = await detent.ended(await detent.start("db", {}))
        assert run["tasks"]["a"]["error"]["code"] == "egress_denied"


@pytest.mark.case("F13")
async def test_a_condition_that_cannot_be_decided_fails_its_step_instead_of_skipping_it(api: Detent) -> None:
    step = await last_step(api, ECHO, {"if": "tasks.first.output.missing == 1", "action": "core.echo"}, {})
    assert (step["status"], step["error"]["code"]) == ("failed", "condition_error")


@registry.action("test.returns")
def returns(what: str) -> Any:
    """Gives back what JSON cannot hold."""
    return {"bytes": b"\xff", "set": {1}, "object": object(), "nan": float("nan"), "date": datetime.date(2026, 1, 2)}[
        what
    ]


@pytest.mark.parametrize("what", ["set", "object", "nan"])
async def test_a_result_that_is_no_json_fails_the_step_and_the_run_goes_on(api: Detent, what: str) -> None:
    step = await last_step(api, ECHO, {"action": "test.returns", "with": {"what": what}}, {})
    assert (step["status"], step["error"]["code"]) == ("failed", "unserialisable"), step
