"""Installation, settings and the helpers for tests."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from typer import Exit

import detent
from detent import sync
from detent.cli.commands.files.init import init
from detent.cli.commands.node.doctor import doctor
from detent.cli.commands.node.migrate import migrate
from detent.errors import InvalidInput
from detent.store.sql.schema import HEAD
from detent.testing import speedrun
from tests.parity.flows import (
    ORDERS,
    SHELVES,
    Counting,
    Deciding,
    Describing,
    Letter,
    Order,
    Shelf,
    User,
    new_user,
    seen,
)
from tests.parity.watching import ended
from tests.servers import programs

ROOT = Path(__file__).parents[2]


def printed(*words: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    known = {**kept, "COLUMNS": "300", **environment}
    done = programs.run(words, cwd=cwd, env=known, timeout=300)
    return done.stdout + done.stderr


TRY_OUT = """
import asyncio, sys
import detent
from workflows import Signup, USERS, checkout

async def main():
    async with detent.node(sys.argv[1], workflows=["workflows"], migrate=True):
        print(await (await detent.start(checkout, 50)).result(timeout=300))
        run = await detent.start(Signup, hero=USERS["7"])
        while not (found := (await run.get()).steps["welcome"].output):
            await asyncio.sleep(0.01)
        print(found)

asyncio.run(main())
"""


def test_generator_for_installation(fresh_database: str, tmp_path: Path) -> None:
    """`detent init` writes a project that runs as it is, on every database."""
    folder = tmp_path / "shop"
    init(folder)
    written = {path.name for path in folder.iterdir()}
    assert written == {"workflows.py", "test_workflows.py", "detent.toml", "README.md", ".gitignore"}
    (folder / "try_out.py").write_text(TRY_OUT)
    told = printed(sys.executable, "try_out.py", fresh_database, cwd=folder, PYTHONPATH=str(ROOT))
    assert told.splitlines() == ["{'receipt': 'receipt for 50'}", "Welcome, Ada!"]


def test_migration_with_database_detection(store: str, fresh_database: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`detent migrate` makes the tables, in the way of the database that it finds, and makes them once."""
    told = []
    for _ in range(2):
        migrate(database=fresh_database)
        told.append(capsys.readouterr().out)
    if store == "memory":
        assert told == ["a store in memory has no tables\n"] * 2
    else:
        assert told == [
            f"the database went from nothing to {HEAD}\n",
            f"the database is at revision {HEAD} already\n",
        ]


def test_heroes_with_keys_of_any_type(user: User) -> None:
    order, shelf = Order(UUID(int=7)), Shelf("Ω/3 left")
    ORDERS[str(order.id)], SHELVES[shelf.id] = order, shelf
    for hero in (user, order, shelf):
        run = sync.start(Describing, hero=hero)
        assert run.result(timeout=300)[2:] == [str(hero.id)] * 2
        assert run.id in [one.id for one in sync.runs(Describing).for_hero(hero)]


def test_configuration(
    fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file in the folder says where Detent is and how it works; a variable is stronger, and a flag the strongest."""
    (tmp_path / "detent.toml").write_text(f'database_url = "{fresh_database}"\nport = 9111\nlease_seconds = 7\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DETENT_PORT", "9222")
    with suppress(Exit):  # a database without tables is no fault of the settings
        doctor()
    rows = dict(re.findall(r"^(\w+) +\S+ +(.+?) *$", capsys.readouterr().out, re.MULTILINE))
    # Long ones are folded: "lease_seconds in detent.toml".
    told = (rows["database_url"].split()[0], rows["lease_seconds"].split()[0], rows["port"])
    assert told == ("database_url", "lease_seconds", "DETENT_PORT")
    with suppress(Exit):
        doctor(database="memory://")
    assert re.search(r"database_url +memory:// +--database", capsys.readouterr().out)
    with pytest.raises(InvalidInput, match="invalid settings"):
        detent.configure(lease="7s")


def test_speedrun_helper(user: User) -> None:
    """It gives in no time what a real run gives."""
    run = sync.start(Letter, hero=user)
    ended(run)
    really = list(seen(user))
    seen(user).clear()
    quick = speedrun(Letter, hero=user)
    assert (quick.status, seen(user), quick.route) == ("completed", really, really)
    assert quick.slept >= timedelta(seconds=0.3)


def test_reload_between_steps_in_tests(user: User) -> None:
    """Each step finds its hero loaded anew and its state as the journal has it, in a trial as on a node."""
    real = ended(sync.start(Counting, hero=user))
    loaded, user.loaded = user.loaded, 0
    quick = speedrun(Counting, hero=("User", user.id))
    assert (quick.output, user.loaded) == (real.output, loaded) == (3, 3)
    other = new_user()

    def activate() -> str:
        other.is_active = True
        return "first"

    route = speedrun(Deciding, hero=("User", other.id), answers={"first": activate}).route
    assert route == ["first", "second:skipped"]
