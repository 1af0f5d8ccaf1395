"""A save of a rule is one transaction, with its row in the audit: an error at any statement, or at its commit, leaves
nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from typing import Any

from detent.store.sql.access import Rows, Script, SqlAccess
from detent.store.sql.compiler import InsertIfAbsent
from detent.store.sql.mysql.connection import COMMIT, Wire
from detent.store.sql.schema import metadata
from detent.store.url import sqlite_path
from tests.api.conftest import EVERY_DATABASE
from tests.api.rules import FULL, add_entity, create, request_of
from tests.api.server import Detent
from tests.store.sessions import session
from tests.store.wires import wire

#: Tables that nodes write to while nothing happens.
BUSY = {"node", "lease", "seen", "setting"}


class Injected(Exception):
    """An error that only a test raises."""


async def dump(url: str) -> dict[str, list[str]]:
    """Every row of every table, but of those that nodes write to, and what the audit says of failures."""
    texts = {name: f'select * from "{name}"' for name in metadata.tables if name not in BUSY}
    texts["audit"] += " where outcome = 'done'"
    found: dict[str, list[Any]]
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(sqlite_path(url))) as db:
            found = {name: db.execute(text).fetchall() for name, text in texts.items()}
    elif url.startswith("postgresql"):
        async with session(url) as connection:
            found = {name: [tuple(row) for row in await connection.fetch(text)] for name, text in texts.items()}
    else:
        async with wire(url) as opened:
            found = {name: list((await opened.send(text))[0].rows) for name, text in texts.items()}
    return {name: sorted(map(repr, found[name])) for name in found}


def verbs_of(detent: Detent) -> Any:
    """The part of the store that saves workflows."""
    return detent.app.store.save_workflow.__self__  # type: ignore[attr-defined]


class FailingAccess:
    """The connections of a store, which raise an error in place of the statement with that number, or before the commit
    that follows the last one. `sent` has the statements before it."""

    def __init__(self, real: SqlAccess, place: int) -> None:
        self._real, self._place = real, place
        self.sent: list[str] = []

    run_script: Any = SqlAccess.run_script
    _run_audited: Any = SqlAccess._run_audited  # noqa: SLF001

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    async def run_transaction(self, begin: Callable[[], Script[Any]]) -> Any:
        def script() -> Script[Any]:
            inner = begin()
            found: Rows | None = None
            while True:
                try:
                    step = next(inner) if found is None else inner.send(found)
                except StopIteration as end:
                    self._fail_at_place()
                    return end.value
                self._fail_at_place()
                clause = step[0]
                self.sent.append(str(clause.insert if isinstance(clause, InsertIfAbsent) else clause))
                found = yield step

        return await self._real.run_transaction(script)

    def _fail_at_place(self) -> None:
        if len(self.sent) == self._place:
            raise Injected


@contextmanager
def failing(detent: Detent, place: int) -> Iterator[list[str]]:
    """Let saves fail at that statement. Yield the statements that are sent before it."""
    verbs = verbs_of(detent)
    real = verbs._access  # noqa: SLF001
    verbs._access = made = FailingAccess(real, place)  # noqa: SLF001
    try:
        yield made.sent
    finally:
        verbs._access = real  # noqa: SLF001


async def saved_rule(detent: Detent) -> tuple[str, dict[str, Any]]:
    """A rule, and a request that changes everything of it: actions, edges, layout, entity and schedule."""
    made = (await create(detent)).json
    await add_entity(detent, "customer")
    kept = {**made["actions"][1], "name": "Warn"}
    new = {"name": "Wait", "action_type": "delay", "action_config": {"seconds": 1}}
    changed = request_of(
        entity_id="customer",
        trigger_type_id="scheduled",
        trigger_conditions=None,
        cron_expression="0 9 * * *",
        actions=[kept, new],
        edges=[
            {"source_action_id": None, "target_action_id": kept["id"], "edge_type": "start"},
            {"source_action_id": kept["id"], "target_action_id": "temp:1", "edge_type": "sequence"},
        ],
        canvas_layout={"node_positions": {"temp:1": {"x": 5, "y": 6}}},
    )
    return str(made["id"]), changed


@EVERY_DATABASE
async def test_an_error_at_any_statement_of_a_save_leaves_nothing(detent: Detent, database_url: str) -> None:
    id_, changed = await saved_rule(detent)
    before = await dump(database_url)
    statements: list[str] = []
    place, status = 0, 500
    while status != 200:
        with failing(detent, place) as sent:
            answer = await detent.call("PUT", f"{FULL}/{id_}/full", json=changed)
        status, place, statements = answer.status, place + 1, list(sent)
        assert status in (200, 500), answer.text
        assert status == 200 or await dump(database_url) == before, f"after {sent}"
    written = [one.split()[0].lower() for one in statements]
    assert written.count("select") >= 4, "it locks the rule, both entities and the layout"
    assert len(written) >= 10
    tables = " ".join(statements)
    assert all(name in tables for name in ("workflow_version", "layout", "entity", "trigger"))
    assert "insert into audit" in statements[-1]
    after = await dump(database_url)
    assert {name for name in after if after[name] != before[name]} == {
        "workflow", "workflow_version", "trigger", "layout", "entity", "audit",
    }  # fmt: skip


@EVERY_DATABASE
async def test_an_error_at_any_statement_of_a_first_save_leaves_nothing(detent: Detent, database_url: str) -> None:
    await add_entity(detent)
    before = await dump(database_url)
    place, status = 0, 500
    while status != 201:
        with failing(detent, place) as sent:
            answer = await detent.call("POST", f"{FULL}/full", json=request_of())
        status, place = answer.status, place + 1
        assert status in (201, 500), answer.text
        assert status == 201 or await dump(database_url) == before, f"after {sent}"
    assert place > 6


@asynccontextmanager
async def commits_fail(detent: Detent, url: str) -> AsyncIterator[None]:
    """Let the database itself fail every commit of a save, after all statements were accepted."""
    if url.startswith("sqlite"):
        with _sqlite_commits_fail(verbs_of(detent)._access):  # noqa: SLF001
            yield
    elif url.startswith("postgresql"):
        async with session(url) as connection:
            await connection.execute(
                "create function refuse_commit() returns trigger language plpgsql as"
                " $$ begin raise exception 'refused at commit'; end $$"
            )
            await connection.execute(
                "create constraint trigger refuse_commit after insert or update on workflow"
                " deferrable initially deferred for each row execute function refuse_commit()"
            )
            try:
                yield
            finally:
                await connection.execute("drop trigger refuse_commit on workflow")
                await connection.execute("drop function refuse_commit()")
    else:
        async with wire(url) as killer:
            with _mariadb_commits_fail(killer):
                yield


@contextmanager
def _sqlite_commits_fail(access: Any) -> Iterator[None]:
    """Let SQLite refuse the statement `commit`."""
    real = access.write

    async def write(work: Callable[[sqlite3.Connection], Any]) -> Any:
        def refusing(db: sqlite3.Connection) -> Any:
            def judge(action: int, name: str | None, *_: Any) -> int:
                is_commit = action == sqlite3.SQLITE_TRANSACTION and name == "COMMIT"
                return sqlite3.SQLITE_DENY if is_commit else sqlite3.SQLITE_OK

            db.set_authorizer(judge)
            try:
                return work(db)
            finally:
                db.set_authorizer(None)

        return await real(refusing)

    access.write = write
    try:
        yield
    finally:
        access.write = real


@contextmanager
def _mariadb_commits_fail(killer: Wire) -> Iterator[None]:
    """Let the server end a connection before it reads the `commit` of a save."""
    real = Wire.send
    ended: list[int] = []

    async def send(self: Wire, *statements: str) -> Any:
        if self is not killer and statements == (COMMIT,):
            [own] = await real(self, "select connection_id()")
            await real(killer, f"kill {own.rows[0][0]}")
            ended.append(own.rows[0][0])
        return await real(self, *statements)

    Wire.send = send  # type: ignore[method-assign,assignment]
    try:
        yield
        assert ended, "no connection was ended"
    finally:
        Wire.send = real  # type: ignore[method-assign]


@EVERY_DATABASE
async def test_a_commit_that_fails_leaves_nothing(detent: Detent, database_url: str) -> None:
    id_, changed = await saved_rule(detent)
    before = await dump(database_url)
    async with commits_fail(detent, database_url):
        refused = await detent.call("PUT", f"{FULL}/{id_}/full", json=changed)
        assert refused.status in (500, 503), refused.text
    assert await dump(database_url) == before
    saved = await detent.call("PUT", f"{FULL}/{id_}/full", json=changed)
    assert saved.status == 200, saved.text


async def test_validating_sends_no_statement_that_writes(detent: Detent, database_url: str) -> None:
    id_, changed = await saved_rule(detent)
    before = await dump(database_url)
    with failing(detent, 0):
        checked = await detent.call("PUT", f"{FULL}/{id_}/full?validate_only=true", json=changed)
        assert checked.status == 200, checked.text
        new = await detent.call("POST", f"{FULL}/full?validate_only=true", json=request_of(name="Another"))
        assert new.status == 200, new.text
    assert checked.json["valid"] is True
    assert [one["name"] for one in checked.json["actions"]] == ["Warn", "Wait"]
    assert await dump(database_url) == before
    wrong = await detent.call("POST", f"{FULL}/full?validate_only=true", json=request_of(name=""))
    assert wrong.status == 400
    taken = await detent.call("POST", f"{FULL}/full?validate_only=true", json=request_of())
    assert taken.status == 409
