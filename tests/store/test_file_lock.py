"""Who has a database file is told without trying to take it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from detent.store.sql.sqlite.lock import FileLock

URL = "http://127.0.0.1:8080"
HOLDER = """
import sys, time
from pathlib import Path
from detent.store.sql.sqlite.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
lock.take()
lock.announce(sys.argv[2] or None)
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "detent.db"


def held(database: Path, url: str) -> subprocess.Popen[str]:
    """Another process that has the file, and says where it answers."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(database), url],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def ended(holder: subprocess.Popen[str]) -> None:
    with holder:
        holder.kill()


def test_the_address_of_who_has_the_file_is_found_and_is_gone_when_he_is_killed(database: Path) -> None:
    assert FileLock(database).server() is None
    holder = held(database, URL)
    try:
        assert FileLock(database).server() == (URL, None)
    finally:
        ended(holder)
    assert URL in database.with_name("detent.db.lock").read_text(), "the note outlives its writer"
    assert FileLock(database).server() is None


def test_one_who_has_the_file_and_does_not_say_where_he_answers_is_not_found(database: Path) -> None:
    holder = held(database, "")
    try:
        assert FileLock(database).server() is None
    finally:
        ended(holder)


def test_a_note_of_one_process_does_not_speak_for_another_that_has_the_file(database: Path) -> None:
    holder = held(database, URL)
    try:
        note = database.with_name("detent.db.lock")
        note.write_text(note.read_text().replace(f'"pid": {holder.pid}', f'"pid": {os.getpid()}'))
        assert FileLock(database).server() is None
    finally:
        ended(holder)


def test_to_ask_who_has_the_file_never_takes_it(database: Path) -> None:
    lock = FileLock(database)
    assert lock.server() is None
    assert not lock.held
    assert not database.with_name("detent.db.lock").exists()


def test_where_the_system_lists_no_locks_a_note_counts_as_long_as_its_process_lives(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("detent.store.sql.sqlite.lock._LOCKS", database.with_name("no such file"))
    assert not FileLock(database).is_in_use()
    holder = held(database, URL)
    try:
        assert FileLock(database).server() == (URL, None)
    finally:
        ended(holder)
    assert FileLock(database).server() is None
