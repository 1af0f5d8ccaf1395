"""Secrets that code opens, and where code could leave them: results, errors, logs, links, alerts, transactions."""

from __future__ import annotations

import io
import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import detent
from detent import ActionContext, Link, Linked, Run, StepContext, Workflow, action, gather, step, workflow
from detent.observe.logs import log_events
from detent.python.transactions import keeper
from detent.run.links import InvalidLink
from detent.testing import speedrun
from detent.vault.redaction import spellings
from detent.vault.sealing import new_key
from tests.api.server import Detent, serving

CANARY = "canary-8183-of-the-code"
WORDS = "a text of many words; " * 500


@action("leak.links")
def _links(context: ActionContext) -> Linked:
    own = context.secret("CANARY")
    context.find_or_create(
        "crm", "note", "key", lambda _: Link("crm", "note", f"id {own}", url=f"https://x.y/?k={own}")
    )
    with suppress(InvalidLink):
        context.find_or_create("crm", "note", f"key {own}", lambda _: "17")
    return Linked("linked", [Link("crm", "item", f"item {own}", url=f"https://crm.example/{own}")])


@action("leak.raises")
def _raises(context: ActionContext, at: int) -> None:
    # A long message: its end is kept with the traceback, and the cut may be within the value.
    own = context.secret("CANARY")
    raise ValueError(f"{WORDS[:at]}{own}{WORDS[: 8_150 - at]}")


class Keeps(Workflow):
    """Leaves the secret in its state, its log, its results and its errors."""

    name = "keeps"
    on_exception = "skip"
    state: dict[str, str]

    @step
    def plain(self) -> str:
        own = self.secret("CANARY")
        self.state["own"] = own
        self.log.warning("plain %s", own)
        try:
            raise KeyError(own)
        except KeyError:
            self.log.exception("it raised")
        return f"plain {own}"

    @step
    async def awaited(self) -> list[str]:
        own = await self.secret_async("CANARY")
        return [own, self.results["plain"], json.dumps(self.state)]

    @step(transactional=True)
    def booked(self) -> str:
        return f"booked {self.secret('CANARY')}"

    @step
    async def blocked(self) -> str:
        return self.secret("CANARY")

    @step
    def missing(self) -> str:
        return self.secret("NONE_SUCH")


def _thread(context: StepContext) -> str:
    return f"thread {context.secret('CANARY')}"


async def _loop(context: StepContext) -> str:
    return f"loop {await context.secret_async('CANARY')}"


@step(transactional=True)
def _booked(session: object, context: StepContext) -> str:
    return f"booked {context.secret('CANARY')}"


async def _angry(context: StepContext) -> None:
    raise ValueError(f"no {await context.secret_async('CANARY')}")


@workflow
async def telling(run: Run) -> list[str]:
    results = list(await gather(run.step(_thread), run.step(_loop), run.step(_booked)))
    try:
        await run.step(_angry)
    except detent.StepFailed as error:
        results.append(str(error))
    return results


def _dump(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(path)) as connection:
        for (table,) in connection.execute("select name from sqlite_master where type = 'table'").fetchall():
            for row in connection.execute(f'select * from "{table}"'):
                cells = (one.decode(errors="replace") if isinstance(one, bytes) else str(one) for one in row)
                yield f"{table}: {' '.join(cells)}"


def _leaks(text: str) -> list[str]:
    parts = [CANARY[start : start + 12] for start in range(len(CANARY) - 11)]
    return [one for one in (*spellings(CANARY), *parts) if one in text]


async def _campaign(detent_: Detent) -> dict[str, dict[str, Any]]:
    answer = await detent_.call("PUT", "/api/v1/secrets/CANARY", json={"value": CANARY})
    assert answer.status == 200, answer.text
    alert = {"alert_type": "x", "severity": "high", "title": "t {{secrets.CANARY}}", "message": "m {{secrets.CANARY}}"}
    alert["context"] = {"c": ["{{secrets.CANARY}}"]}  # type: ignore[assignment]
    tasks: dict[str, Any] = {
        "links": {"action": "leak.links"},
        "alert": {"action": "core.alert", "with": alert},
        "log": {"action": "core.log", "with": {"message": "say {{secrets.CANARY}}"}},
        **{f"raises-{at}": {"action": "leak.raises", "with": {"at": at}, "retries": 0} for at in (0, 5, 60, 980, 990)},
    }
    await detent_.save(json.dumps({"name": "leaks", "tasks": tasks}))
    runs = {}
    for name in ("leaks", "keeps", "telling"):
        runs[name] = await detent_.ended(await detent_.start(name, {}))
    return runs


async def test_what_code_does_with_a_secret_is_redacted_wherever_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    logged = io.StringIO()
    monkeypatch.setattr("sys.stderr", logged)
    path = tmp_path / "detent.db"
    sinks: dict[str, str] = {}
    stored: list[bytes] = []  # what transactional steps write into the database of the user

    def run_once(call: object, generation: int, body: Any) -> bytes:
        stored.append(body(None))
        return stored[-1]

    monkeypatch.setattr(keeper, "run_once", run_once)
    handler = logging.StreamHandler(logged)
    logging.getLogger("detent.workflow").addHandler(handler)
    quiet = log_events("json")
    try:
        async with serving(f"sqlite:///{path}", encryption_key=new_key()) as detent_:
            runs = await _campaign(detent_)
            for place in ("alerts", "links", "runs", "search?q=canary", "overview", "workflows"):
                sinks[place] = (await detent_.call("GET", f"/api/v1/{place}")).text
    finally:
        quiet()
        logging.getLogger("detent.workflow").removeHandler(handler)
    sinks |= {name: json.dumps(run) for name, run in runs.items()}
    assert len(stored) == 2
    sinks["transactions"] = str(stored)
    sinks |= {"log": logged.getvalue() + caplog.text}
    sinks |= {f"row {number}": row for number, row in enumerate(_dump(path))}
    found = {(name, leak) for name, text in sinks.items() for leak in _leaks(text)}
    assert not found, {name: sinks[name][:300] for name, _ in found}
    assert runs["telling"]["output"][:3] == ["thread ***", "loop ***", "booked ***"]
    assert "no ***" in runs["telling"]["output"][3]
    kept = {name: one.get("output") or str(one.get("error")) for name, one in runs["keeps"]["tasks"].items()}
    assert kept["plain"] == "plain ***"
    assert kept["awaited"] == ["***", "plain ***", '{"own": "***"}']
    assert kept["booked"] == "booked ***"
    assert "secret_async" in kept["blocked"]
    assert "detent secrets set NONE_SUCH" in kept["missing"]
    assert "plain ***" in sinks["log"]


def test_a_speedrun_opens_every_secret_as_its_name() -> None:
    tried = speedrun(telling_of_one)
    assert tried.output == ["thread {{secrets.CANARY}}", "loop {{secrets.CANARY}}"]


@workflow
async def telling_of_one(run: Run) -> list[str]:
    return list(await gather(run.step(_thread), run.step(_loop)))
