"""The attacks. Each is given how many callbacks it may send, and sends about that many."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from detent.clock import SystemClock
from detent.instant import SECOND
from tests.hostile.ledger import UNKNOWN
from tests.hostile.world import World, in_parallel

_SENDERS: Final = 50
_RACE_SECONDS: Final = 2.0
_RACES_A_SECOND: Final = 250
_LEARNED: Final = 0.0002
_KILLED_AT_ONCE: Final = 40
_clock: Final = SystemClock()

Attack = Callable[[World, int], Awaitable[None]]


async def early(world: World, count: int) -> None:
    """The second wait is answered before the first, twice, and the first after it."""

    async def attack(_: int) -> None:
        run, _started = await world.begin("two")
        await world.send(run, "w", 202)
        await world.send(run, "w", 409)
        await world.send(run, "first", 200)

    await in_parallel(math.ceil(count / 3), attack)


async def duplicate(world: World, count: int) -> None:
    """Fifty senders at once: all with one id, or each with its own."""

    async def attack(number: int) -> None:
        run, _ = await world.begin("one")
        message = f"{run}/once" if number % 2 else None
        allowed = (200,) if message else (200, 409)
        sending = (world.send(run, "w", *allowed, message=message) for _ in range(_SENDERS))
        statuses = await asyncio.gather(*sending)
        if message is None and statuses.count(200) != 1:
            world.ledger.odd.append(f"duplicate: {run} accepted {statuses.count(200)} of {_SENDERS}")

    await in_parallel(max(2, math.ceil(count / _SENDERS)), attack, workers=4)


async def late(world: World, count: int) -> None:
    """Five after the time was over."""
    each = 5

    async def begin(_: int) -> None:
        runs.append((await world.begin("brief"))[0])

    async def attack(number: int) -> None:
        for _ in range(each):
            await world.send(runs[number], "w", 410)

    runs: list[str] = []
    await in_parallel(math.ceil(count / each), begin)
    await asyncio.sleep(0.3)  # until the time of the last is over
    await in_parallel(len(runs), attack)


async def replayed(world: World, count: int) -> None:
    """Accepted once, then again with its id, and with others."""

    async def attack(_: int) -> None:
        run, _started = await world.begin("one")
        await world.send(run, "w", 200, message=f"{run}/first")
        await world.send(run, "w", 409)
        await world.send(run, "w", 409, message=f"{run}/other")
        await world.send(run, "w", 200, message=f"{run}/first")

    await in_parallel(math.ceil(count / 4), attack)


async def forged(world: World, count: int) -> None:
    """Tokens that nobody made, while a wait stands open."""
    run, _ = await world.begin("one")

    async def attack(_: int) -> None:
        status = await world.post(f"{world.server.url}/wh/{secrets.token_urlsafe(45)}", {"mark": "forged"}, {})
        world.ledger.statuses[world.phase][status] += 1
        if status not in (404, 429):
            world.ledger.odd.append(f"forged: a made up token was answered {status}")

    await in_parallel(count, attack)
    await world.send(run, "w", 200)


async def race(world: World, count: int) -> None:
    """Each in the millisecond in which its wait times out. How early to send is learned: half should be in time."""
    lead = 0.005

    async def attack(number: int) -> None:
        nonlocal lead
        await asyncio.sleep(number / _RACES_A_SECOND)
        run, started = await world.begin("race")
        await _until(started + _RACE_SECONDS - 0.5)
        await _until(started + _RACE_SECONDS - lead)
        status = await world.send(run, "w", 200, 410)
        lead = min(0.4, max(0.0, lead + (_LEARNED if status == 410 else -_LEARNED)))

    await asyncio.gather(*(attack(number) for number in range(count)))


async def _until(instant: float) -> None:
    await asyncio.sleep(max(0.0, instant - _clock.wall() / SECOND))


async def killed(world: World, count: int) -> None:
    """The server is killed while it answers; whoever got no answer sends again."""
    for _ in range(max(1, count // _KILLED_AT_ONCE)):
        runs = [(await world.begin("one"))[0] for _ in range(_KILLED_AT_ONCE)]
        await asyncio.sleep(world.rng.uniform(0.0, 0.3))
        await _kill_after(world, runs, world.rng.randint(1, _KILLED_AT_ONCE - 1))


async def _kill_after(world: World, runs: list[str], deadly: int) -> None:
    """Send to all at once, and kill the server when so many were answered."""
    answered, killing = 0, asyncio.Event()

    async def send(run: str) -> None:
        nonlocal answered
        status = await world.send(run, "w", 200, 503, message=f"{run}/killed")
        answered += status == 200
        if answered >= deadly:
            killing.set()
        if status in (UNKNOWN, 503):
            await killing.wait()
            await world.insist(run, "w", 200, message=f"{run}/killed")

    async def kill() -> None:
        await killing.wait()
        await world.server.kill_and_restart()

    async with asyncio.TaskGroup() as group:
        group.create_task(kill())
        for run in runs:
            group.create_task(send(run))


#: By name: the attack, and its share of all callbacks but those under kills.
ATTACKS: Final[Mapping[str, tuple[Attack, float]]] = {
    "early": (early, 0.14),
    "duplicate": (duplicate, 0.41),
    "late": (late, 0.10),
    "replayed": (replayed, 0.14),
    "forged": (forged, 0.10),
    "race": (race, 0.11),
}
