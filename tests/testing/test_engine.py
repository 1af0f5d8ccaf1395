"""The engine in memory, its clock, and the fixtures of the pytest plugin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from detent.testing import FakeClock, MemoryEngine, MemoryStore, Speedrun
from tests.testing.shop import ORDER, Signup, User, checkout


def test_a_clock_stands_still_until_it_is_moved() -> None:
    clock = FakeClock(datetime(2030, 1, 1, tzinfo=UTC))
    assert clock.wall() == clock.wall()
    clock.advance(90)
    clock.advance("1h")
    clock.advance(days=1)
    clock.advance(timedelta(minutes=1))
    assert clock.now() == datetime(2030, 1, 2, 1, 2, 30, tzinfo=UTC)
    assert clock.monotonic() == clock.passed.total_seconds() == 90 + 3600 + 86_400 + 60


async def test_a_memory_store_lives_by_a_fake_clock(fake_clock: FakeClock) -> None:
    store = MemoryStore(fake_clock)
    await store.register(b"n" * 16, ttl=10.0)
    assert await store.overdue() == []
    fake_clock.advance(11)
    assert await store.overdue() == [b"n" * 16]


def test_an_engine_goes_on_only_as_far_as_its_clock_is_moved(detent_engine: MemoryEngine) -> None:
    user = User()
    run = detent_engine.start(Signup, hero=user)
    assert (run.status, run.route) == ("running", [])
    detent_engine.advance(seconds=2)
    assert run.route == ["welcome"]
    detent_engine.advance(days=1)
    assert user.mails == ["welcome"]
    detent_engine.advance(days=1)
    assert run.route == ["welcome", "remind"]
    detent_engine.advance("7d")
    assert (run.status, run.output["sent"]) == ("completed", 2)


def test_the_fixtures_share_one_clock(detent_engine: MemoryEngine, fake_clock: FakeClock) -> None:
    before = fake_clock.now()
    detent_engine.advance(days=2)
    assert fake_clock.now() - before == timedelta(days=2)


def test_several_heroes_of_a_type_without_a_loader_stand_side_by_side(detent_engine: MemoryEngine) -> None:
    runs = [detent_engine.start(Signup, hero=User(id=number, name=f"user {number}")) for number in range(3)]
    detent_engine.advance(days=10)
    assert [run.output["said"] for run in runs] == ["Hello, user 0", "Hello, user 1", "Hello, user 2"]


def test_several_runs_live_side_by_side_and_are_answered_one_by_one(detent_engine: MemoryEngine) -> None:
    first = detent_engine.start(ORDER, {"item": "cup"})
    second = detent_engine.start(checkout, 5)
    detent_engine.advance(days=3)
    first.answer("approve", {"by": "Bob"})
    assert (first.status, second.status) == ("completed", "running")
    second.answer("approval", "yes")
    second.signal("paid", 5)
    assert second.output == [500, "yes", "shipped 5", "invoiced 5", 5]
    with pytest.raises(AssertionError, match="does not wait for 'approve'"):
        first.answer("approve")


def test_a_run_is_steered_and_its_engine_may_die(detent_engine: MemoryEngine) -> None:
    run = detent_engine.start(ORDER, {"item": "cup"})
    run.pause()
    assert run.status == "paused"
    run.resume()
    detent_engine.crash()
    detent_engine.advance(days=3)
    assert run.status == "running"
    run.cancel()
    assert run.status == "cancelled"


def test_the_fixture_is_the_function(speedrun: Callable[..., Speedrun]) -> None:
    assert speedrun(Signup, hero=User()).status == "completed"


@pytest.mark.slow
def test_pytest_has_the_fixtures_in_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        'TEXT = "name: nap\\ntasks:\\n  a: {sleep: 2d}\\n"\n\n'
        "def test_it(speedrun, detent_engine, fake_clock):\n"
        "    assert speedrun(TEXT).slept.days == 2\n"
        "    run = detent_engine.start(TEXT)\n"
        "    detent_engine.advance(days=2)\n"
        "    assert run.status == 'completed'\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, env={"PATH": "/usr/bin"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
