"""The clients: they start runs and send callbacks, and write down what they asked and what they were told.

A line is written before a request is sent and another when its answer is known, so that what was accepted is on record
and what nobody answered is known to be unknown.
"""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from detent.engine.callbacks import CallbackTokens
from detent.ids import RUN, parse
from tests.chaos.cluster import Cluster
from tests.chaos.programs import Program
from tests.chaos.tuning import SECRET

PATIENCE = aiohttp.ClientTimeout(total=5)
#: What was sent in vain for so long is given up, until the rest. Then it is sent again, while its run is open.
GIVEN_UP = 60.0
#: How many of the runs are of workflows written in Python.
SHARE_OF_CODE = 0.3
MOST_AT_ONCE = 50
NO_ANSWER = (aiohttp.ClientError, TimeoutError, OSError)


class ClientLog:
    """An append-only file of what clients did, one JSON line each."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", buffering=1)

    def write(self, **facts: Any) -> None:
        self._file.write(json.dumps({"at": time.time(), **facts}) + "\n")

    def close(self) -> None:
        self._file.close()


class Clients:
    """Starts runs at a steady rate while `go` is set, and sends every callback until somebody answers."""

    def __init__(
        self, cluster: Cluster, target: str, programs: Sequence[Program], log: ClientLog, *, seed: int, rate: float
    ) -> None:
        self._cluster, self._target, self._log = cluster, target, log
        self._programs = {program.name: program for program in programs}
        self._written = [program for program in programs if program.definition is not None]
        self._coded = [program for program in programs if program.definition is None and not program.is_child]
        self._rng = random.Random(f"{seed}/clients")
        self._tokens = CallbackTokens(SECRET, "http://127.0.0.1")
        self._rate = rate
        self._answered: set[str] = set()
        self._given_up: dict[str, list[Callable[[aiohttp.ClientSession], Coroutine[Any, Any, None]]]] = {}
        self._asking = 0
        self.counts: Counter[str] = Counter()

    async def work(self, until: asyncio.Event) -> None:
        """Start runs until told to stop, then wait for the callbacks on their way."""
        async with aiohttp.ClientSession(timeout=PATIENCE) as session, asyncio.TaskGroup() as group:
            number = 0
            while not until.is_set():
                number += 1
                group.create_task(self._start(session, group, number, self._choose()))
                await asyncio.sleep(self._rng.expovariate(self._rate))
                while self._asking > MOST_AT_ONCE and not until.is_set():  # a slow machine has fewer starts per second
                    await asyncio.sleep(0.01)

    def _choose(self) -> Program:
        chance = self._rng.random()
        if self._coded and chance < SHARE_OF_CODE:
            return self._rng.choice(self._coded)
        return self._written[0] if chance > 0.6 else self._rng.choice(self._written)

    async def _start(
        self, session: aiohttp.ClientSession, group: asyncio.TaskGroup, number: int, program: Program
    ) -> None:
        living = self._cluster.living()
        if not living:
            return
        node = self._rng.choice(living)
        hero = f"courier {self._rng.randrange(program.heroes)}" if program.heroes else None
        self._log.write(op="start", n=number, program=program.name, hero=hero)
        self._asking += 1
        try:
            url = node.url(f"/workflows/{program.name}/start")
            asked = {} if hero is None else {"hero": hero}
            async with session.post(url, json={"n": number, "target": self._target}, params=asked) as response:
                answer = await response.json()
        except NO_ANSWER:
            answer = {}
        finally:
            self._asking -= 1
        if "active" in answer:
            self.counts["turned away"] += 1
            self._log.write(op="active", n=number, hero=hero, run=answer["active"])
            return
        run = answer.get("run")
        if run is None:
            self.counts["unknown"] += 1
            self._log.write(op="unknown", n=number)
            return
        self.counts["accepted"] += 1
        self.counts["python"] += program.definition is None
        self._log.write(op="ok", n=number, run=run)
        self._answer_all(session, group, run, program)

    async def make_up(self, found: Sequence[Mapping[str, Any]]) -> None:
        """Send the callbacks of runs that were started although nobody was told, and those that were given up: on a
        slow machine a run comes to its wait long after it was started."""
        async with aiohttp.ClientSession(timeout=PATIENCE) as session, asyncio.TaskGroup() as group:
            for known in found:
                for send in self._given_up.pop(known["run"], ()):
                    group.create_task(send(session))
                if known["run"] not in self._answered:
                    self._answer_all(session, group, known["run"], self._programs[known["workflow"]])

    def _answer_all(self, session: aiohttp.ClientSession, group: asyncio.TaskGroup, run: str, program: Program) -> None:
        """Everything that the run waits for from outside."""
        self._answered.add(run)
        for step in program.callbacks:
            group.create_task(self._call_back(session, run, step))
        for name, count in program.signals.items():
            group.create_task(self._signal(session, run, name, count))

    async def _signal(self, session: aiohttp.ClientSession, run: str, name: str, count: int, number: int = 0) -> None:
        """Send so many signals, one after the other. One that nobody answered may have come all the same, so the next
        try says something else."""
        until = time.monotonic() + GIVEN_UP
        while count and time.monotonic() < until:
            number += 1
            await asyncio.sleep(self._rng.choice((0.0, 0.05, 0.5, 1.0)))
            data = f"{run}/{name}/{number}"
            self._log.write(op="signal_sent", run=run, name=name, data=data)
            status = await self._post(session, f"/runs/{run}/signals/{name}", data)
            if status == 200:
                count -= 1
                self.counts["signals"] += 1
                self._log.write(op="signal", run=run, name=name, data=data)
            elif status == 409:  # it has ended, with those that nobody answered
                return
        if count:
            self._give_up(run, lambda session: self._signal(session, run, name, count, number))

    def _give_up(self, run: str, send: Callable[[aiohttp.ClientSession], Coroutine[Any, Any, None]]) -> None:
        self._given_up.setdefault(run, []).append(send)

    async def _post(self, session: aiohttp.ClientSession, path: str, body: Any) -> int | None:
        living = self._cluster.living()
        if not living:
            return None
        try:
            async with session.post(self._rng.choice(living).url(path), json=body) as response:
                await response.read()
                return response.status
        except NO_ANSWER:
            return None

    async def _call_back(self, session: aiohttp.ClientSession, run: str, step: str) -> None:
        """Send the callback early or late, sometimes twice, sometimes again with another body."""
        await asyncio.sleep(self._rng.choice((0.0, 0.05, 0.5, 1.5)))
        message = f"{run}/{step}/1"
        await self._deliver(session, run, step, message)
        if self._rng.random() < 0.3:
            await self._deliver(session, run, step, self._rng.choice((message, f"{run}/{step}/2")))

    async def _deliver(self, session: aiohttp.ClientSession, run: str, step: str, message: str) -> None:
        path = f"/wh/{self._tokens.token(parse(RUN, run), step)}"
        until = time.monotonic() + GIVEN_UP
        while time.monotonic() < until:
            answer = await self._try_to_deliver(session, path, message)
            # A durable function makes the place of its answer when it asks for it.
            if answer is not None and answer["receipt"] != "not_found":
                self.counts["callbacks"] += 1
                self._log.write(op="callback", run=run, step=step, message=message, **answer)
                return
            await asyncio.sleep(0.1)
        self._give_up(run, lambda session: self._deliver(session, run, step, message))

    async def _try_to_deliver(self, session: aiohttp.ClientSession, path: str, message: str) -> Any:
        living = self._cluster.living()
        if not living:
            return None
        url = self._rng.choice(living).url(path)
        try:
            async with session.post(url, json={"message": message}, headers={"webhook-id": message}) as response:
                return await response.json() if response.status == 200 else None
        except NO_ANSWER:
            return None
