"""The one stream of a page over HTTP: topics of every kind, cursors, refusals, and the end of the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import pytest

from tests.api.server import Detent, serving

STREAM = "/api/v1/stream"
WAITS = "name: waits\ntasks:\n  a: {action: core.echo}\n  w: {needs: [a], wait_for_webhook: {}}\n"


def topics(*names: str) -> str:
    """The query as a browser spells it: each topic is escaped, and then the whole."""
    return f"{STREAM}?topics={quote(','.join(quote(name, safe='') for name in names), safe='')}"


class Events:
    """The events of an open stream."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer
        self.last = ""

    async def next(self, name: str | None = None) -> Any:
        """The data of the next event, or of the next one with that name."""
        async with asyncio.timeout(300):
            while True:
                fields = await self._block()
                if "event" in fields:
                    self.last = fields["id"]
                    if name in (None, fields["event"]):
                        return json.loads(fields["data"])

    async def _block(self) -> dict[str, str]:
        fields: dict[str, str] = {}
        while line := (await self._answer.content.readline()).decode().rstrip("\n"):
            key, _, value = line.partition(": ")
            fields[key] = value
        assert fields or not self._answer.content.at_eof(), "the stream has ended"
        return fields

    async def is_over(self) -> bool:
        async with asyncio.timeout(300):
            while await self._answer.content.readline():
                pass
        return True


@asynccontextmanager
async def opened(detent: Detent, *names: str, last: str = "") -> AsyncIterator[Events]:
    headers = {"Last-Event-ID": last} if last else {}
    async with detent.opened("GET", topics(*names), headers) as answer:
        assert answer.status == 200, await answer.text()
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        yield Events(answer)


async def waiting(detent: Detent) -> dict[str, Any]:
    await detent.call("PUT", "/api/v1/workflows/waits", data=WAITS)
    started = await detent.start("waits", {})
    await detent.until(started, lambda run: run["tasks"]["w"]["status"] == "waiting")
    return started


async def test_a_page_follows_a_run_a_list_the_counts_and_the_inbox_in_one_stream(detent: Detent) -> None:
    started = await waiting(detent)
    run = started["run_id"]
    names = (f"run:{run}@0", f"runs:workflow=waits&status=active;ids={run}", "counts", "inbox")
    async with opened(detent, *names) as events:
        seen: dict[str, Any] = {}
        while len(seen) < 4:
            data = await events.next()
            seen[data.get("topic") or ("counts" if "views" in data else "inbox")] = data
        assert seen[names[0]]["entries"][0]["step"] == "a"
        assert (seen[names[0]]["run_id"], seen[names[0]]["seq"], seen[names[0]]["status"]) == (run, 1, "running")
        [row] = seen[names[1]]["changed"]
        assert (row["id"], row["stage"]["kind"]) == (run, "waiting")
        assert seen["inbox"]["count"] == 1
        assert seen["counts"]["views"]["waiting"] == 1
        second = await detent.start("waits", {})
        new = await events.next("runs")
        assert (new["new"], new["gone"]) == (1, [])
        answer = await detent.call("POST", f"/api/v1/runs/{run}/steps/w/answer", json={})
        assert answer.status == 200
        entries = await events.next("entries")
        assert (entries["entries"][0]["step"], entries["status"]) == ("w", "completed")
        changed = await events.next("runs")
        while not changed["changed"] or changed["changed"][0]["status"] != "completed":
            changed = await events.next("runs")
        assert changed["changed"][0]["finished_at"]
        assert second["run_id"] != run


async def test_a_page_is_told_of_alerts_that_are_raised_and_settled(detent: Detent) -> None:
    alarm = {"alert_type": "late", "severity": "low", "title": "Late", "message": "Look"}
    await detent.save(json.dumps({"name": "alarm", "tasks": {"a": {"action": "core.alert", "with": alarm}}}))
    async with opened(detent, "alerts") as events:
        assert await events.next("alerts") == {"open": 0, "acknowledged": 0, "newest": None}
        await detent.start("alarm", {})
        raised = await events.next("alerts")
        assert (raised["open"], raised["newest"][:4]) == (1, "alt_")
        await detent.call("POST", f"/api/v1/alerts/{raised['newest']}/acknowledge")
        assert await events.next("alerts") == {**raised, "open": 0, "acknowledged": 1}
        await detent.call("POST", f"/api/v1/alerts/{raised['newest']}/resolve")
        assert await events.next("alerts") == {**raised, "open": 0}


async def test_a_page_is_told_of_requests_that_triggers_receive(detent: Detent) -> None:
    schema = "trigger_schema: {type: object, required: [id]}"
    await detent.save(f"name: hook\ntrigger: {{type: webhook}}\n{schema}\ntasks: {{a: {{sleep: 1ms}}}}\n")
    [trigger] = (await detent.call("GET", "/api/v1/triggers?workflow=hook")).json["data"]
    place = urlsplit(trigger["url"]).path
    assert (await detent.call("POST", place, json={"id": 0})).status in (200, 201)
    every, refused, other = (
        f"firings:trigger={trigger['id']}",
        "firings:type=webhook&status=refused",
        "firings:type=cron",
    )

    async def send() -> None:
        while True:  # the first of them may come before the stream has read what is there
            assert (await detent.call("POST", place, json={"odd": 1})).status == 400
            await asyncio.sleep(0.2)

    async with opened(detent, every, refused, other) as events:
        sending = asyncio.create_task(send())
        told: set[str] = set()
        while told != {every, refused}:
            data = await events.next("firings")
            assert data["new"] > 0
            told.add(data["topic"])
        sending.cancel()


async def test_a_restarted_server_goes_on_by_the_cursor(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    async with serving(url) as detent:
        started = await waiting(detent)
        name = f"run:{started['run_id']}@0"
        async with opened(detent, name, "inbox") as events:
            assert [entry["seq"] for entry in (await events.next("entries"))["entries"]] == [1]
            last = events.last
    async with serving(url) as detent:
        await detent.call("POST", f"/api/v1/runs/{started['run_id']}/steps/w/answer", json={})
        await detent.ended(started)
        async with opened(detent, name, "inbox", last=last) as events:
            data = await events.next("entries")
            assert [entry["seq"] for entry in data["entries"]] == [2]
            assert data["status"] == "completed"


async def test_a_server_that_stops_ends_its_streams(tmp_path: Path) -> None:
    names = ("counts", "runs:", "run:run_01k5c1v6p2f7x8y9z0a1b2c3d4")
    async with serving(f"sqlite:///{tmp_path}/detent.db") as detent, opened(detent, *names) as events:
        seen = [await events.next(), await events.next()]
        assert {data.get("status") for data in seen} == {None}
        await detent.app.feeds.close()
        assert await events.is_over()


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "is missing"),
        (["nope"], "is not a topic"),
        (["counts:x"], "is not a topic"),
        (["run:run_x"], "is not an id"),
        (["run:run_01k5c1v6p2f7x8y9z0a1b2c3d4@x"], "is not the number of an entry"),
        (["runs:status=odd"], "must be one of"),
        (["runs:workflow=none"], "none"),
        (["runs:;ids=x"], "is not an id"),
        (["runs:;ids=" + ",".join(["run_01k5c1v6p2f7x8y9z0a1b2c3d4"] * 201)], "at most 200"),
        (["counts"] * 65, "at most 64"),
        (["firings:type=odd"], "must be one of"),
        (["firings:status=odd"], "must be one of"),
        (["firings:trigger=x"], "is not an id"),
        (["firings:odd=1"], "odd"),
    ],
)
async def test_a_topic_that_cannot_be_read_is_refused(api: Detent, names: list[str], words: str) -> None:
    answer = await api.call("GET", topics(*names))
    assert answer.status == 400, answer.text
    assert words in answer.text
    assert answer.json["message"] == "the stream cannot be opened"
