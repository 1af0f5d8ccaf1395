"""Answers of runs to the callers of webhooks: what they get, when, and that a repeated request gets the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from detent.python.functions import Run, workflow
from tests.api.conftest import EVERY_DATABASE
from tests.api.server import Answer, Detent, serving

WEBHOOK = "/webhook/workflow/trigger"
SUM = """
name: sum
trigger: {type: webhook, respond: output}
tasks:
  add: {action: core.echo, with: {sum: "{{trigger.body.a + trigger.body.b}}"}}
output: {sum: "{{tasks.add.output.sum}}"}
"""
ORDER = """
name: order
trigger: {type: webhook, respond: step}
tasks:
  check: {action: core.echo, with: {ok: "{{trigger.body.n > 0}}"}}
  accept:
    needs: [check]
    if: tasks.check.output.ok
    respond:
      status: 201
      headers: {x-order: "{{trigger.body.n}}", location: /orders/1}
      body: {order: "{{trigger.body.n}}"}
  refuse:
    needs: [check]
    if: "!tasks.check.output.ok"
    respond: {status: 422, body: "n must be more than 0"}
  later: {needs: [accept], wait_for_webhook: {timeout: 1h}}
  again: {needs: [accept], respond: {status: 599, body: never}}
"""
WAITS = """
name: waits
trigger: {type: webhook, respond: %s, wait: %s}
tasks:
  hold: {wait_for_webhook: {timeout: 1h}}
  say: {needs: [hold], respond: {status: 202, body: {said: "{{tasks.hold.body.word}}"}}}
output: "{{tasks.say.output.body}}"
"""


@workflow(name="api_answers")
async def api_answers(run: Run, name: str) -> Any:
    await run.respond({"hello": name}, status=203, headers={"X-Name": name})
    await run.respond("too late")
    return await run.wait("more", timeout="1h")


async def call(detent: Detent, workflow: str, body: Any, key: str | None = None) -> Answer:
    headers = {} if key is None else {"Idempotency-Key": key}
    return await detent.call("POST", f"{WEBHOOK}/{workflow}", json=body, headers=headers)


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(300):
        while True:
            if is_so():
                return
            await asyncio.sleep(0.02)  # nothing tells it


@EVERY_DATABASE
async def test_the_caller_gets_the_output_or_the_answer_of_a_step_and_a_repetition_the_same(detent: Detent) -> None:
    await detent.save(SUM)
    first = await call(detent, "sum", {"a": 1, "b": 2}, "one")
    assert (first.status, first.json, first.headers["Content-Type"]) == (200, {"sum": 3}, "application/json")
    again = await call(detent, "sum", {"a": 1, "b": 2}, "one")
    assert (again.json, again.headers["Detent-Run"]) == (first.json, first.headers["Detent-Run"])
    await detent.save(ORDER)
    accepted = await call(detent, "order", {"n": 7}, "two")
    assert (accepted.status, accepted.json) == (201, {"order": 7})
    assert (accepted.headers["X-Order"], accepted.headers["Location"]) == ("7", "/orders/1")
    assert "sandbox" in accepted.headers["Content-Security-Policy"]
    run = (await detent.call("GET", f"/api/v1/runs/{accepted.headers['Detent-Run']}")).json["data"]
    assert run["status"] == "running"  # the run goes on after its answer
    assert (await call(detent, "order", {"n": 7}, "two")).text == accepted.text
    refused = await call(detent, "order", {"n": -1})
    assert (refused.status, refused.text) == (422, "n must be more than 0")
    assert refused.headers["Content-Type"] == "text/plain; charset=utf-8"


async def test_a_durable_function_answers_once_and_goes_on(api: Detent) -> None:
    trigger = {"workflow": "api_answers", "type": "webhook", "respond": "step"}
    created = (await api.call("POST", "/api/v1/triggers", json=trigger)).json["data"]
    assert created["config"] == {"respond": "step", "wait": 30}
    answer = await call(api, "api_answers", {"name": "Ada"}, "a")
    assert (answer.status, answer.json, answer.headers["X-Name"]) == (203, {"hello": "Ada"}, "Ada")
    assert (await call(api, "api_answers", {"name": "Ada"}, "a")).text == answer.text


async def test_a_wait_that_is_over_names_the_run_and_a_repetition_gets_its_answer(api: Detent) -> None:
    await api.save(WAITS % ("step", "50ms"))
    late = await call(api, "waits", {}, "late")
    assert late.status == 202, late.text
    document = late.json["data"]
    assert late.headers["Location"] == document["status_url"]
    assert late.headers["Retry-After"]
    found = await api.call("GET", document["status_url"])
    assert found.json["data"]["status"] == "running"
    await api.call("POST", document["callbacks"][0]["url"], json={"word": "at last"})
    async with asyncio.timeout(300):
        while (answer := await call(api, "waits", {}, "late")).json != {"said": "at last"}:
            assert answer.status == 202
    assert answer.headers["Detent-Run"] == document["run_id"]


async def test_a_run_without_an_answer_says_how_it_ended_and_not_why(api: Detent) -> None:
    await api.save("name: breaks\ntrigger: {type: webhook, respond: output}\ntasks: {a: {action: core.fail}}\n")
    broken = await call(api, "breaks", {}, "x")
    assert (broken.status, broken.json["code"]) == (502, "run_failed")
    assert "on purpose" not in broken.text
    assert broken.json["details"]["run_id"] == broken.headers["Detent-Run"]
    silent = "name: silent\ntrigger: {type: webhook, respond: step}\ntasks: {a: {if: 'false', respond: {}}}\n"
    await api.save(silent)
    assert (await call(api, "silent", {})).status == 204
    await api.save("name: bad\ntrigger: {type: webhook, respond: step}\ntasks: {a: {respond: {status: '{{9}}'}}}\n")
    assert (await call(api, "bad", {})).status == 502


async def test_two_hundred_callers_wait_at_once_and_all_are_one_question(api: Detent) -> None:
    await api.save(WAITS % ("output", "60s"))
    asked: list[int] = []
    store, ended = api.app.store, api.app.store.ended

    async def counted(tenant: int, runs: Any) -> set[bytes]:
        asked.append(len(runs))
        return await ended(tenant, runs)

    store.ended = counted  # type: ignore[method-assign]
    session = aiohttp.ClientSession(api.app.local_url, connector=aiohttp.TCPConnector(limit=0))
    many = Detent(api.app, session)
    async with session, asyncio.timeout(300):
        callers = [asyncio.create_task(call(many, "waits", {"n": n}, f"c{n}")) for n in range(200)]
        await until(lambda: max(asked, default=0) == 200)  # one poll asks for all of them
        runs = (await api.call("GET", "/api/v1/runs?limit=200")).json["data"]
        for run in runs:
            document = (await api.call("GET", f"/api/v1/runs/{run['id']}")).json["data"]
            await api.call("POST", document["callbacks"][0]["url"], json={"word": document["id"]})
        answers = await asyncio.gather(*callers)
    assert [answer.status for answer in answers] == [200] * 200
    assert all(answer.json == {"said": answer.headers["Detent-Run"]} for answer in answers)
    assert len({answer.headers["Detent-Run"] for answer in answers}) == 200
    assert api.app.feeds.waiting_callers == 0


async def test_a_node_that_stops_sends_its_callers_away_and_another_answers_them(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    async with serving(url) as first:
        await first.save(WAITS % ("output", "60s"))
        waiting = asyncio.create_task(call(first, "waits", {}, "k"))
        await until(lambda: bool(first.app.feeds.waiting_callers))
        await first.app.feeds.close()
        sent_away = await waiting
    assert (sent_away.status, "Retry-After" in sent_away.headers) == (503, True)
    async with serving(url) as second:
        waiting = asyncio.create_task(call(second, "waits", {}, "k"))
        [run] = (await second.call("GET", "/api/v1/runs")).json["data"]
        document = (await second.call("GET", f"/api/v1/runs/{run['id']}")).json["data"]
        await second.call("POST", document["callbacks"][0]["url"], json={"word": "here"})
        assert (await waiting).json == {"said": "here"}


@pytest.mark.parametrize(
    ("definition", "field", "said"),
    [
        ("trigger: {type: webhook, respond: soon}\ntasks: {a: {respond: {}}}", "trigger.respond", "not one of now"),
        ("trigger: {type: webhook, wait: 5s}\ntasks: {a: {respond: {}}}", "trigger.wait", "sent at once"),
        ("trigger: {type: webhook, respond: output, wait: 61s}\ntasks: {a: {sleep: 1s}}", "trigger.wait", "60s"),
        ("trigger: {type: cron, cron_expression: '* * * * *', respond: output}\ntasks: {a: {sleep: 1s}}",
         "trigger.respond", "only for the webhook"),
        ("trigger: {type: webhook, respond: step}\ntasks: {a: {sleep: 1s}}", "trigger.respond", "no step answers"),
        ("tasks: {a: {respond: {status: 100}}}", "tasks.a.respond.status", "from 200 to 599"),
        ("tasks: {a: {respond: {status: 600}}}", "tasks.a.respond.status", "from 200 to 599"),
        ("tasks: {a: {respond: {headers: {Set-Cookie: a=b}}}}", "tasks.a.respond.headers.Set-Cookie", "cannot have"),
        ("tasks: {a: {respond: {headers: {connection: close}}}}", "tasks.a.respond.headers.connection", "cannot have"),
        ("tasks: {a: {respond: {headers: {x-accel-redirect: /}}}}", "tasks.a.respond.headers.x-accel-redirect", "can"),
        ("tasks: {a: {respond: {headers: {x-a: 'ä'}}}}", "tasks.a.respond.headers.x-a", "ASCII"),
        ("tasks: {a: {respond: {cookies: {}}}}", "tasks.a.respond.cookies", "unknown"),
        ("tasks: {a: {respond: {}, for_each: [1]}}", "tasks.a", "cannot run for each item"),
        ("tasks: {a: {respond: {}, retries: 2}}", "tasks.a.retries", "no meaning"),
    ],
)  # fmt: skip
async def test_a_definition_says_what_cannot_be_an_answer(api: Detent, definition: str, field: str, said: str) -> None:
    answer = await api.call("POST", "/api/v1/workflows", data=f"name: x\n{definition}\n")
    assert answer.status == 400, answer.text
    found = {one["field"]: one["message"] for one in answer.json["details"]["validation_errors"]}
    assert said in found[field], found
