"""A shop with a past, for tests that look at every view.

It has a day of runs, a burst of failures in the night, a schedule whose slots were missed, and a queue that no node
serves."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from detent.clock import SystemClock
from detent.ids import first_id
from detent.instant import SECOND, Instant, as_datetime, micros
from detent.run.journal import Entry, Kind
from detent.store.factory import open_store
from detent.store.rows import End, NewRun
from tests.api.server import serving
from tests.store.make import Node, start

MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
#: The queue of which no node takes runs.
PRINTERS: Final = "printers"
_ECHO: Final = {"action": "core.echo", "with": {"ok": True}}
_BATCH: Final = 200


class Past(NamedTuple):
    """How a workflow ran: runs per hour, the typical milliseconds of each step, and how it fails."""

    hourly: float
    steps: dict[str, float]
    failure: tuple[str, str, float]
    burst: bool = False
    hero: str = "order"
    trigger: str = "webhook"


PAST: Final = {
    "order-processing": Past(
        14, {"validate": 3, "fraud-score": 240, "charge": 820, "reserve-stock": 60, "send-receipt": 130, "ship": 45},
        ("charge", "POST payments.example answered 502", 0.01), burst=True,
    ),
    "refund": Past(3, {"check": 20, "transfer": 1900}, ("transfer", "account closed", 0.08), trigger="api"),
    "user-onboarding": Past(
        6, {"create-workspace": 2600, "send-welcome": 180, "schedule-tour": 30},
        ("send-welcome", "mailbox is full", 0.02), hero="user", trigger="event",
    ),
    "nightly-invoices": Past(1 / 24, {"collect": 4100, "send": 93_000}, ("send", "", 0), hero="", trigger="cron"),
}  # fmt: skip


def definitions(now: datetime) -> Iterator[dict[str, Any]]:
    """Yield the workflows as they were in the past. The slot of `stock-sync` is about half an hour ago, at any time."""
    titles = {
        "order-processing": "Charges an order, reserves its stock and ships it",
        "refund": "Pays an order back",
        "user-onboarding": "Greets a new customer",
        "nightly-invoices": "Sends the invoices of the day",
    }
    for name, past in PAST.items():
        names = list(past.steps)
        tasks = {step: {**_ECHO, "needs": names[place - 1 : place]} for place, step in enumerate(names)}
        trigger: Any = {"webhook": {"type": "webhook"}, "event": {"type": "event", "event": "user.created"}}.get(
            past.trigger, "api"
        )
        if past.trigger == "cron":
            trigger = {"type": "cron", "cron_expression": "0 3 * * *", "timezone": "Europe/Zurich", "overlap": "skip"}
        yield {"name": name, "description": titles[name], "trigger": trigger, "tasks": tasks}
    # Lagos never changes its clocks: on a day when Zurich does, other slots would be missed.
    hourly = {"type": "cron", "cron_expression": f"{(now.minute + 30) % 60} * * * *", "timezone": "Africa/Lagos"}
    sync = {"fetch-levels": _ECHO, "update-shop": {**_ECHO, "needs": ["fetch-levels"]}}
    yield {"name": "stock-sync", "description": "Copies stock levels", "trigger": hourly, "tasks": sync}
    labels = {"layout": _ECHO, "print": {**_ECHO, "needs": ["layout"], "queue": PRINTERS}}
    yield {"name": "label-printing", "description": "Prints the label of a parcel", "tasks": labels}


async def write_history(folder: Path) -> None:
    """Write the past of a shop into the database of a folder that no server uses."""
    url = f"sqlite:///{folder}/detent.db"
    now = as_datetime(SystemClock().wall())
    async with serving(url) as detent:
        for definition in definitions(now):
            await detent.save(json.dumps(definition))
    with closing(sqlite3.connect(folder / "detent.db")) as database:
        ids = dict(database.execute("select name, id from workflow"))
        _stop_schedule(database, ids["stock-sync"], now)
        database.commit()
    store = await open_store(url, SystemClock())
    try:
        node = await Node.register(store)
        runs = sorted(_runs(ids, micros(now.timestamp())), key=lambda run: run[0].id)
        for first in range(0, len(runs), _BATCH):
            batch = runs[first : first + _BATCH]
            await node.flush(starts=[run for run, _, _ in batch])
            await node.flush(entries=[one for _, some, _ in batch for one in some], ends=[end for _, _, end in batch])
    finally:
        await store.close()


def _stop_schedule(database: sqlite3.Connection, workflow: bytes, now: datetime) -> None:
    """Let a schedule stand as if no node had run for the last four hours."""
    late = now.replace(second=0, microsecond=0) - timedelta(minutes=30)
    since = micros((late - timedelta(hours=4)).timestamp())
    changed = database.execute("update trigger set next_at = ? where workflow = ?", (since, workflow))
    assert changed.rowcount == 1


def _runs(ids: dict[str, bytes], now: Instant) -> Iterator[tuple[NewRun, list[Entry], End]]:
    chance = random.Random(7)
    for name, past in PAST.items():
        if past.trigger == "cron":
            yield _run(ids[name], past, now - 7 * HOUR, 0, chance, is_bad=False)
            continue
        at = now - 24 * HOUR
        number = 8000
        while True:
            hour = (now - at) / HOUR
            busy = 0.4 if 5 < hour < 13 else 1.0 + 0.6 * (hour < 4)
            at += int(chance.expovariate(past.hourly * busy) * HOUR)
            if at > now - MINUTE:
                break
            number += chance.randrange(1, 9)
            is_bad = 1.1 < (now - at) / HOUR < 2.1 and past.burst and chance.random() < 0.75
            yield _run(ids[name], past, at, number, chance, is_bad=is_bad)


def _run(
    workflow: bytes, past: Past, at: Instant, number: int, chance: random.Random, *, is_bad: bool
) -> tuple[NewRun, list[Entry], End]:
    id_ = first_id(at)[:6] + b"\x70" + chance.randbytes(1) + b"\x80" + chance.randbytes(7)
    step, message, rate = past.failure
    fails = is_bad or chance.random() < rate
    entries: list[Entry] = []
    time = at + 2000
    for name, typical in past.steps.items():
        is_last = name == list(past.steps)[-1]
        is_failed = fails and name == step
        ms = round(typical * chance.lognormvariate(0, 0.35), 3)
        time += int(ms * 1000)
        data: dict[str, Any] = {"ms": ms, "result": {"output": {"ok": True}}}
        if is_failed:
            data = {"ms": ms, "error": {"code": "http_status", "message": message}, "decided": {"run": "failed"}}
        elif is_last:
            data["decided"] = {"run": "completed"}
        outcome = "failed" if is_failed else "success"
        text = json.dumps(data).encode()
        entries.append(Entry(1, id_, len(entries) + 1, time, Kind.ENDED, name, 1, outcome, text))
        if is_failed:
            break
    body = json.dumps({"body": {"order_id": number, "amount": chance.randrange(900, 24_000)}}).encode()
    hero = (past.hero, str(number)) if past.hero else (None, None)
    run = start(
        id=id_, workflow=workflow, trigger=past.trigger, input=body, owned=True, wake_at=None, started_at=at,
        hero_type=hero[0], hero_id=hero[1],
    )  # fmt: skip
    status, error = ("failed", f"{step}: {message}") if fails else ("completed", None)
    return run, entries, End(id_, 1, status, time, b"null", error)
