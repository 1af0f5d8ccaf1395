"""Passwords are compared at the same cost for every name, a few at once, and not too often."""

from __future__ import annotations

import asyncio
import threading

import pytest
from argon2 import PasswordHasher

from detent.auth.passwords import FailedLogins, Passwords, SlowedNames, check_password, usual_hasher
from detent.errors import InvalidInput, LimitExceeded
from detent.testing import FakeClock

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


async def test_a_password_matches_its_own_hash_only() -> None:
    passwords = Passwords(QUICK)
    stored = await passwords.hash("correct horse")
    assert stored.startswith("$argon2id$")
    assert "correct" not in stored
    assert await passwords.hash("correct horse") != stored
    assert await passwords.matches(stored, "correct horse")
    assert not await passwords.matches(stored, "correct horsE")
    assert not await passwords.matches("not a hash", "correct horse")


def test_the_usual_cost_is_that_of_the_docs() -> None:
    assert "m=19456,t=2,p=1" in usual_hasher().hash("x")


class Counting(PasswordHasher):
    """Counts comparisons, and how many are made at once."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.compared: list[str] = []
        self.busy = 0
        self.most = 0
        self.gate = threading.Event()
        self.gate.set()
        self._lock = threading.Lock()

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:  # type: ignore[override] # noqa: A002
        with self._lock:
            self.busy += 1
            self.most = max(self.most, self.busy)
            self.compared.append(str(hash))
        self.gate.wait(300)
        with self._lock:
            self.busy -= 1
        return super().verify(hash, password)


async def test_a_name_that_does_not_exist_costs_a_comparison_of_the_same_kind() -> None:
    hasher = Counting()
    passwords = Passwords(hasher)
    stored = await passwords.hash("correct horse")
    assert not await passwords.matches(None, "the password of a name that does not exist")
    assert not await passwords.matches(stored, "wrong")
    unknown, known = hasher.compared
    assert unknown != known
    assert unknown.split("$")[:4] == known.split("$")[:4], "the same parameters"


async def test_a_flood_of_logins_is_refused_and_the_loop_stays_free() -> None:
    hasher = Counting()
    passwords = Passwords(hasher)
    hasher.gate.clear()
    waiting = [asyncio.create_task(passwords.matches(None, "x")) for _ in range(20)]
    await asyncio.sleep(0)
    with pytest.raises(LimitExceeded, match="at once"):
        await passwords.matches(None, "x")
    hasher.gate.set()
    assert not any(await asyncio.gather(*waiting))
    assert hasher.most <= 2
    assert not await passwords.matches(None, "x")


def test_a_key_that_failed_too_often_waits_for_its_window() -> None:
    clock = FakeClock()
    failed = FailedLogins(clock, allowed=3, window=300, most=2)
    for _ in range(3):
        failed.refuse("a")
        failed.count("a")
    with pytest.raises(LimitExceeded) as caught:
        failed.refuse("a")
    assert caught.value.retry_after == 300
    failed.refuse("b")
    clock.advance(299)
    with pytest.raises(LimitExceeded):
        failed.refuse("a")
    clock.advance(1)
    failed.refuse("a")
    for _ in range(3):
        failed.count("a")
    failed.forget("a")
    failed.refuse("a")


def test_only_so_many_keys_are_remembered() -> None:
    failed = FailedLogins(FakeClock(), allowed=1, window=300, most=2)
    for key in "abc":
        failed.count(key)
    failed.refuse("a")
    for key in "bc":
        with pytest.raises(LimitExceeded):
            failed.refuse(key)


async def test_a_name_that_failed_often_waits_longer_and_longer_but_not_for_ever() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    clock = FakeClock()
    slowed = SlowedNames(clock, allowed=3, window=300, sleep=sleep)
    for _ in range(3):
        await slowed.wait("ann")
        slowed.count("ann")
    assert slept == []
    for _ in range(30):
        await slowed.wait("ann")
        slowed.count("ann")
    await slowed.wait("bob")
    assert slept[:6] == [0.25, 0.5, 1.0, 2.0, 4.0, 4.0]
    assert max(slept) == 4.0
    assert len(slept) == 30
    clock.advance(300)
    await slowed.wait("ann")
    assert len(slept) == 30


async def test_only_so_many_logins_wait_because_of_their_name() -> None:
    gate = asyncio.Event()
    slowed = SlowedNames(FakeClock(), allowed=0, window=300, sleep=lambda _: gate.wait())  # type: ignore[arg-type,return-value]
    waiting = [asyncio.create_task(slowed.wait("ann")) for _ in range(200)]
    await asyncio.sleep(0)
    with pytest.raises(LimitExceeded, match="at once"):
        await slowed.wait("bob")
    gate.set()
    await asyncio.gather(*waiting)
    await slowed.wait("bob")


@pytest.mark.parametrize("password", ["", "x" * 9, "x" * 257, None, 1234567890123])
def test_a_new_password_has_a_sensible_length_and_is_not_shown(password: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_password(password)
    assert "10 to 256" in caught.value.problems[0].message
    if isinstance(password, str) and password:
        assert password not in str(caught.value.problems)
    assert check_password("x" * 10) == "x" * 10
