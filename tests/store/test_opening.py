"""Opening a store by its URL, and the tables it must find."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from detent.clock import SystemClock
from detent.errors import SchemaMismatch, StoreError
from detent.store import migrations
from detent.store.factory import migrate_store, open_store, stored_revision
from detent.store.memory.store import MemoryStore
from detent.store.migrations.plan import plan, revisions, split
from detent.store.sql.schema import HEAD, StoredRevision, metadata
from detent.store.sql.sqlite.store import SqliteStore
from detent.store.url import sqlite_path
from tests.servers import programs
from tests.store.sessions import session


async def test_a_url_names_its_store(tmp_path: Path) -> None:
    assert isinstance(await open_store("memory://", SystemClock()), MemoryStore)
    store = await open_store(f"sqlite:///{tmp_path}/detent.db", SystemClock())
    assert isinstance(store, SqliteStore)
    await store.close()
    assert (tmp_path / "detent.db").exists()


async def test_a_folder_that_is_not_there_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/typo/dir/x.db"
    for opening in (open_store, lambda url, _: migrate_store(url)):
        with pytest.raises(StoreError, match=rf"there is no folder {tmp_path}/typo/dir; create it or correct the URL"):
            await opening(url, SystemClock())
    assert list(tmp_path.iterdir()) == []


def test_three_slashes_are_a_relative_path_and_four_an_absolute_one() -> None:
    assert sqlite_path("sqlite:///detent.db") == Path("detent.db")
    assert sqlite_path("sqlite:////var/lib/a%20b.db") == Path("/var/lib/a b.db")


@pytest.mark.parametrize("url", ["oracle://x", "detent.db", "sqlite://", "sqlite://host/file.db", "sqlite:///", ""])
async def test_an_unknown_or_incomplete_url_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(StoreError, match="sqlite:///"):
        await open_store(url, SystemClock())


@pytest.mark.parametrize(
    ("driver", "url", "extra"),
    [
        ("asyncpg", "postgresql://x/y", "postgres"),
        ("asyncmy", "mysql://x/y", "mysql"),
        ("asyncmy", "mariadb://x/y", "mysql"),
    ],
)
def test_without_its_driver_a_server_says_what_to_install(driver: str, url: str, extra: str) -> None:
    program = f"""
import asyncio, sys
sys.modules["{driver}"] = None
from detent.clock import SystemClock
from detent.store.factory import open_store
asyncio.run(open_store("{url}", SystemClock()))
"""
    done = programs.run([sys.executable, "-c", program])
    assert f"pip install 'detent-workflows[{extra}]'" in done.stderr


def test_sqlite_needs_neither_the_driver_nor_alembic_once_its_tables_are_there(tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
from detent.clock import SystemClock
from detent.store.factory import open_store
async def main():
    await (await open_store("sqlite:///{tmp_path}/detent.db", SystemClock())).close()
asyncio.run(main())
print([name for name in ("asyncpg", "alembic") if name in sys.modules])
"""
    first, second = (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert ast.literal_eval(first) == ["alembic"]
    assert ast.literal_eval(second) == []


def test_the_newest_migration_is_the_one_this_code_was_made_for() -> None:
    known, steps = revisions(), plan("sqlite", StoredRevision(None))
    assert known == [f"{number:04}" for number in range(1, len(known) + 1)]
    assert max(str(step.goal) for step in steps if not step.is_post) == HEAD
    assert all(step.oldest_after <= str(step.goal) for step in steps)


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql", "mysql"])
def test_every_migration_has_its_way_back(dialect: str) -> None:
    down = plan(dialect, StoredRevision(revisions()[-1]), "base", force=True)
    assert [step.current for step in down] == revisions()[::-1]
    assert all(step.statements for step in down)


def test_every_migration_says_its_kind_in_its_first_line() -> None:
    files = sorted((Path(migrations.__file__).parent / "versions").glob("[0-9]*.py"))
    assert len(files) == len(revisions())
    for file in files:
        first = (ast.get_docstring(ast.parse(file.read_text())) or "").splitlines()[0]
        assert "Kind: pre" in first or "Kind: post" in first, file.name


async def test_migrated_tables_are_those_that_are_described(tmp_path: Path) -> None:
    await migrate_store(f"sqlite:///{tmp_path}/detent.db")
    engine = create_engine(f"sqlite:///{tmp_path}/detent.db")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_there_is_no_way_to_or_from_an_unknown_revision() -> None:
    assert plan("sqlite", StoredRevision(HEAD)) == []
    assert plan("sqlite", StoredRevision("9999")) == []
    with pytest.raises(SchemaMismatch, match="install"):
        plan("sqlite", StoredRevision("9999", "9000"))
    with pytest.raises(SchemaMismatch, match="with the version of Detent that made them"):
        plan("sqlite", StoredRevision("9999"), HEAD)
    with pytest.raises(SchemaMismatch, match="'7777' is not a revision"):
        plan("sqlite", StoredRevision(None), "7777")


def test_a_script_is_cut_into_its_statements() -> None:
    assert split("-- Running\n\ncreate table a (\n  b int\n);\n\ninsert into a values (';');\n\n") == [
        "create table a (\n  b int\n)",
        "insert into a values (';')",
    ]


@pytest.mark.slow
async def test_postgres_keeps_what_people_want_to_read(postgres_database: str) -> None:
    assert await stored_revision(postgres_database) == HEAD
    async with session(postgres_database) as connection:
        rows = await connection.fetch(
            """select table_name || '.' || column_name, data_type from information_schema.columns
               where table_schema = 'public'"""
        )
    kinds = {row[0]: row[1] for row in rows}
    for table in metadata.tables.values():
        for column in table.columns:
            assert f"{table.name}.{column.name}" in kinds
    assert (kinds["run.id"], kinds["run.wake_at"]) == ("uuid", "timestamp with time zone")
    assert (kinds["journal.data"], kinds["run.input"]) == ("text", "text")
