"""Runs that a server seals, and what `verify` says of them after rows were changed behind its back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from detent.errors import InvalidInput
from detent.ids import RUN, show
from detent.store.rows import RunRow
from detent.store.url import sqlite_path
from tests.api.conftest import EVERY_DATABASE
from tests.api.server import Detent, serving
from tests.store.sessions import session
from tests.store.wires import wire

KEY = "a secret key of this instance, long enough"
FLOW = """
name: sealed
tasks:
  first: {sleep: 0.001}
  child: {workflow: inner, needs: [first]}
  each: {workflow: inner, for_each: [1, 2], needs: [child]}
"""
INNER = "name: inner\ntasks: {one: {sleep: 0.001}}"
#: Each column of an entry, with another value for it.
COLUMNS = {"at": None, "kind": "'odd'", "step": "'other'", "attempt": "9", "outcome": "'odd'", "data": "'{}'"}


async def execute(url: str, statement: str) -> None:
    """Change rows as a person with access to the database could."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(sqlite_path(url))) as db, db:
            db.execute(statement)
    elif url.startswith("postgresql"):
        async with session(url) as connection:
            await connection.execute(statement)
    else:
        async with wire(url) as opened:
            await opened.send(statement)


async def verify(detent: Detent, run: str) -> dict[str, Any]:
    answer = await detent.call("GET", f"/api/v1/runs/{run}/verify")
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json["data"]
    return found


@EVERY_DATABASE
async def test_every_run_of_a_tree_is_sealed_and_a_changed_column_of_an_entry_is_found(database_url: str) -> None:
    async with serving(database_url, secret_key=KEY, seal_runs=True) as detent:
        for definition in (INNER, FLOW):
            await detent.save(definition)
        ended = await detent.ended(await detent.start("sealed", {"n": 1}))
        assert ended["status"] == "completed", ended["error"]
        rows = await detent.app.store.runs(1, limit=100)
        assert len(rows) == 5  # with a page of the map and the children
        for row in rows:
            found = await verify(detent, show(RUN, row.id))
            assert found["status"] == "valid", (row.trigger, found)
        entries = await detent.app.store.journal(1, _root(rows))
        assert len(entries) >= 3
        middle = entries[len(entries) // 2]
        place = f"where run = {_literal(database_url, middle.run)} and seq = {middle.seq}"
        for column, value in COLUMNS.items():
            changed, old = _change(database_url, column, value, middle)
            name = _quoted(database_url, column)
            await execute(database_url, f"update journal set {name} = {changed} {place}")
            found = await verify(detent, ended["id"])
            assert (found["status"], found["first"]) == ("changed", middle.seq), column
            await execute(database_url, f"update journal set {name} = {old} {place}")
            assert (await verify(detent, ended["id"]))["status"] == "valid", column
        for change in ("input = '{}'", "status = 'failed'", "principal = '{}'", "output = '1'"):
            saved = await detent.app.store.run(1, middle.run)
            assert saved is not None
            fact = change.split()[0]
            before = getattr(saved, fact)
            was = "null" if before is None else f"'{before.decode() if isinstance(before, bytes) else before}'"
            where = f"where id = {_literal(database_url, middle.run)}"
            await execute(database_url, f"update run set {change} {where}")
            assert (await verify(detent, ended["id"]))["status"] == "changed", change
            await execute(database_url, f"update run set {fact} = {was} {where}")
        assert (await verify(detent, ended["id"]))["status"] == "valid"
        await execute(database_url, f"delete from journal {place}")
        assert (await verify(detent, ended["id"]))["first"] == middle.seq


def _root(rows: list[RunRow]) -> bytes:
    return next(row.id for row in rows if row.parent is None)


def _quoted(url: str, column: str) -> str:
    return f"`{column}`" if url.startswith(("mysql", "mariadb")) else f'"{column}"'


def _literal(url: str, id_: bytes) -> str:
    return f"'{id_.hex()}'" if url.startswith("postgresql") else f"x'{id_.hex()}'"


def _change(url: str, column: str, value: str | None, entry: Any) -> tuple[str, str]:
    if column == "at":
        if url.startswith("postgresql"):
            return "at + interval '1 microsecond'", "at - interval '1 microsecond'"
        return "at + 1", "at - 1"
    old = getattr(entry, column)
    if isinstance(old, bytes):
        old = old.decode()
    return str(value), "null" if old is None else str(old) if isinstance(old, int) else f"'{old}'"


async def test_a_run_is_not_sealed_unless_the_setting_says_so(tmp_path: Path) -> None:
    async with serving(f"sqlite:///{tmp_path}/detent.db") as detent:
        await detent.save(INNER)
        ended = await detent.ended(await detent.start("inner", {}))
        assert (await verify(detent, ended["id"]))["status"] == "not_sealed"


async def test_sealing_needs_a_key_that_is_not_in_the_database(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="DETENT_SECRET_KEY"):
        async with serving(f"sqlite:///{tmp_path}/detent.db", seal_runs=True):
            pass
