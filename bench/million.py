"""A database with a million runs, and how long lists of them take: `python -m bench.million URL [--runs N] [--look]`.

Rows are inserted directly, over 30 days and 40 workflows: 93 % completed, 4 % failed, 1 % cancelled, the rest open.
Another tenant has a thousand runs; with `--small` its lists are read, in turns with those of a database without the
million if `--alone URL` names one. `URL` is a SQLite file that does not exist yet, or an empty PostgreSQL database.
With `--look` it exists already.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sqlite3
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Final

from detent.app import build_app
from detent.auth.caller import local_caller
from detent.clock import SystemClock
from detent.commands import Commands
from detent.commands.lists import DAY
from detent.ids import first_id
from detent.instant import SECOND
from detent.run.journal import MAP
from detent.settings import Settings
from detent.store.factory import migrate_store
from detent.store.rows import RunCriteria
from detent.store.url import sqlite_path

DAYS: Final = 30
WORKFLOWS: Final = 40
LARGE: Final = 1
SMALL: Final = 2
SMALL_RUNS: Final = 1_000
SMALL_WORKFLOWS: Final = 5
_COLUMNS: Final = (
    "id", "tenant", "workflow", "version", "status", "trigger", "input", "owner", "epoch", "wake_at", "queue",
    "priority", "request_id", "hero_type", "hero_id", "labels", "started_at", "ended_at", "output", "error", "stage",
    "stage_step", "stage_epoch",
)  # fmt: skip
_TENANT: Final = "insert into tenant (id, name) values ({0}, {1})"
_WORKFLOW: Final = (
    "insert into workflow (id, tenant, name, form, status, enabled, version, trigger, created_at, updated_at)"
    " values ({0}, {1}, {2}, 'steps', 'active', {3}, 1, '{{\"type\": \"api\"}}', {4}, {4})"
)
_OPEN: Final = ("sleeping", "waiting", "retrying", "child", "paused")


def rows(tenant: int, count: int, now: int, workflows: list[bytes]) -> Iterator[tuple[Any, ...]]:
    """Yield the runs of a tenant, the oldest first."""
    chance = random.Random(tenant)
    body = json.dumps({"body": {"order": "x" * 300}})
    for number in range(count):
        at = now - DAYS * DAY + number * DAYS * DAY // count
        id_ = first_id(at)[:6] + bytes([0x70 | chance.randrange(16)]) + chance.randbytes(9)
        lot = chance.random()
        status, stage, error = "completed", None, None
        ended: int | None = at + chance.randrange(SECOND, 90 * SECOND)
        if lot < 0.04:
            status, error = "failed", f"step 'charge' failed: HTTP {chance.choice((500, 502, 503))} of payments.example"
        elif lot < 0.05:
            status = "cancelled"
        elif lot < 0.07 or number > count - 20:
            stage, ended = chance.choice(_OPEN), None
            status = "paused" if stage == "paused" else "running"
        labels = json.dumps({"team": chance.choice(("shop", "mail", "stock")), "batch": str(number // 1000)})
        yield (
            id_, tenant, chance.choice(workflows), chance.randrange(1, 4), status,
            chance.choice(("api", "cron", "webhook")), body, None, 1, None if ended else now + DAY, "default", 0,
            f"req-{number}" if number % 3 == 0 else None, "order",
            f"{number // 3:07d}", labels, at, ended, body if ended else None, error, stage,
            "nap" if stage else None, 1 if stage else None,
        )  # fmt: skip


async def fill(url: str, count: int) -> None:
    """Make a database with `count` runs of the large tenant, and those of the small one."""
    await migrate_store(url)
    now = SystemClock().wall()
    names = [
        (os.urandom(16), tenant, f"workflow-{number:02d}")
        for tenant, many in ((LARGE, WORKFLOWS), (SMALL, SMALL_WORKFLOWS))
        for number in range(many)
    ]
    of = {tenant: [id_ for id_, owner, _ in names if owner == tenant] for tenant in (LARGE, SMALL)}
    every = chain(rows(LARGE, count, now, of[LARGE]), rows(SMALL, SMALL_RUNS, now, of[SMALL]))
    if url.startswith("sqlite"):
        quoted = ", ".join(f'"{column}"' for column in _COLUMNS)
        with closing(sqlite3.connect(sqlite_path(url))) as db, db:
            db.executemany(_TENANT.format("?", "?"), [(SMALL, "small")])
            db.executemany(_WORKFLOW.format("?", "?", "?", "1", "0"), names)
            db.executemany(f"insert into run ({quoted}) values ({', '.join('?' * len(_COLUMNS))})", every)
        return
    from detent.store.sql.postgres.connection import Address, connect

    connection = await connect(Address.parse(url))
    await connection.execute("set statement_timeout = 0")
    await connection.executemany(_TENANT.format("$1", "$2"), [(SMALL, "small")])
    await connection.executemany(_WORKFLOW.format("$1", "$2", "$3", "true", "now()"), names)
    while part := list(islice(every, 20_000)):
        await connection.copy_records_to_table("run", records=part, columns=list(_COLUMNS))
    await connection.execute("vacuum analyze run")
    await connection.close()


Look = Callable[[], Awaitable[object]]


def looks(commands: Commands, now: int, workflow: bytes) -> dict[str, Look]:
    """What a page asks for, by name."""
    lists, search = commands.lists, commands.search

    def find(**given: Any) -> Look:
        return lambda: lists.find(limit=50, where=RunCriteria(without=MAP, **given))

    def histogram(days: int, **given: Any) -> Look:
        return lambda: lists.histogram(RunCriteria(without=MAP, **given), now - days * DAY, now, 96)

    async def view(name: str) -> object:
        return await lists.find(limit=50, where=await lists.view(name))

    return {
        "list": find(),
        "list, 29 days ago": find(last=first_id(now - 29 * DAY)),
        "list, one hour 20 days ago": find(first=first_id(now - 20 * DAY), last=first_id(now - 20 * DAY + DAY // 24)),
        "workflow": find(workflow=workflow),
        "workflow, none": find(workflow=bytes(16)),
        "workflow and failed": find(workflow=workflow, statuses=("failed",)),
        "status failed": find(statuses=("failed", "timeout")),
        "status timeout, none": find(statuses=("timeout",)),
        "status completed": find(statuses=("completed",)),
        "status running": find(statuses=("running",)),
        "stage sleeping": find(stages=("sleeping",), now=now),
        "stage person, none": find(stages=("person",), now=now),
        "stage queued, none": find(stages=("queued",), now=now),
        "version": find(version=2),
        "version, none": find(version=9),
        "label": find(labels=(("team", "shop"),)),
        "label, rare": find(labels=(("batch", "5"),)),
        "label, none": find(labels=(("team", "nobody"),)),
        "trigger": find(trigger="cron"),
        "trigger, none": find(trigger="event"),
        "hero": find(hero_type="order", hero_id="0100000"),
        "hero, none": find(hero_type="order", hero_id="x"),
        "request id": find(request_id="req-3"),
        "request id, none": find(request_id="nothing"),
        "text of many": find(text="payments"),
        "text, none": find(text="nothing-like-this"),
        "text, end of an id, none": find(text="zzzzzz", id_end="ffffff"),
        "error": find(error="503"),
        "error of failed, none": find(error="teapot", statuses=("failed",)),
        "error, none": find(error="teapot"),
        "ids, 200": lambda: lists.by_ids([bytes(16)] * 200),
        "view failing": lambda: view("failing"),
        "view stuck": lambda: view("stuck"),
        "view waiting": lambda: view("waiting"),
        "counts": lists.counts,
        "histogram, 24 h": histogram(1),
        "histogram, 7 days": histogram(7),
        "histogram, 30 days": histogram(30),
        "histogram, 7 days, workflow": histogram(7, workflow=workflow),
        "histogram, 30 days, label": histogram(30, labels=(("team", "shop"),)),
        "facets, 24 h": lambda: lists.facets(RunCriteria(without=MAP, first=first_id(now - DAY))),
        "facets, 30 days": lambda: lists.facets(RunCriteria(without=MAP)),
        "facets, text, none": lambda: lists.facets(RunCriteria(without=MAP, text="nothing")),
        "search, hero": lambda: search.search("00100", limit=8),
        "search, workflow": lambda: search.search("workflow-1", limit=8),
        "search, none": lambda: search.search("nothing", limit=8),
        "heroes": lambda: search.heroes(None, limit=50),
        "heroes, prefix": lambda: search.heroes("order", prefix="01", limit=50),
        "stats, 40 workflows": lambda: search.stats(days=7, limit=50),
        "stats, one": lambda: search.stats_of(workflow, "", days=7),
    }  # fmt: skip


async def look(urls: list[str], tenant: int, times: int) -> None:
    """Print how long each list of a tenant takes, in turns with the same list of the same tenant elsewhere."""
    async with AsyncExitStack() as stack:
        sides: list[dict[str, Look]] = []
        for url in urls:
            app = await stack.enter_async_context(build_app(Settings(database_url=url)))
            [workflow] = await app.store.find_workflows(tenant, limit=1)
            caller = replace(local_caller("bench"), tenant=tenant)
            sides.append(looks(app.commands.for_caller(caller), SystemClock().wall(), workflow.id))
        print(f"{'median ms':>9} {'worst':>9}  " * len(sides))
        for name in sides[0]:
            spent: list[list[float]] = [[] for _ in sides]
            answer: object = None
            for _ in range(times):
                for side, measured in zip(sides, spent, strict=True):
                    begun = time.perf_counter()
                    answer = await side[name]()
                    measured.append((time.perf_counter() - begun) * 1000)
            stopped = " (stopped)" if getattr(answer, "searched_until", None) is not None else ""
            said = (f"{statistics.median(measured):9.1f} {max(measured):9.1f}  " for measured in spent)
            print(f"{''.join(said)}{name}{stopped}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.million")
    parser.add_argument("url")
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--look", action="store_true", help="the database has its runs already")
    parser.add_argument("--small", action="store_true", help="read the lists of the tenant of a thousand runs")
    parser.add_argument("--alone", metavar="URL", help="with --small: a database that has only those, to compare")
    options = parser.parse_args()
    if not options.look:
        begun = time.perf_counter()
        asyncio.run(fill(options.url, options.runs))
        if options.alone:
            asyncio.run(fill(options.alone, 0))
        print(f"{options.runs:,} runs in {time.perf_counter() - begun:.0f} s")
    urls = [options.url, options.alone] if options.alone else [options.url]
    asyncio.run(look(urls, SMALL if options.small else LARGE, options.times))


if __name__ == "__main__":
    main()
