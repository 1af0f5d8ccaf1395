"""The clients: they start runs and send callbacks, and write down what they asked and what they were told.

A line is written before a request is sent and another when its answer is known, so that what was accepted is on record
and what nobody answered is known to be unknown.
"""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from detent.engine.callbacks import CallbackTokens
from detent.ids import RUN, parse
from tests.chaos.cluster import Cluster
from tests.chaos.programs import Program
from tests.chaos.tuning import SECRET

PATIENCE = aiohttp.ClientTimeout(total=5)
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
        self._cluster, self._target, self._programs, self._log = cluster, target, programs, log
        self._rng = random.Random(f"{seed}/clients")
        self._tokens = CallbackTokens(SECRET, "http://127.0.0.1")
        self._rate = rate
        self._answered: set[str] = set()
        self.counts: Counter[str] = Counter()

    async def work(self, until: asyncio.Event) -> None:
        """Start runs until told to stop, then wait for the callbacks on their way."""
        async with aiohttp.ClientSession(timeout=PATIENCE) as session, asyncio.TaskGroup() as group:
            number = 0
            while not until.is_set():
                number += 1
                group.create_task(self._start(session, group, number, self._choose()))
                await asyncio.sleep(self._rng.expovariate(self._rate))

    def _choose(self) -> Program:
        return self._programs[0] if self._rng.random() < 0.5 else self._rng.choice(self._programs)

    async def _start(
        self, session: aiohttp.ClientSession, group: asyncio.TaskGroup, number: int, program: Program
    ) -> None:
        living = self._cluster.living()
        if not living:
            return
        node = self._rng.choice(living)
        self._log.write(op="start", n=number, program=program.name)
        try:
            url = node.url(f"/workflows/{program.name}/start")
            async with session.post(url, json={"n": number, "target": self._target}) as response:
                answer = await response.json()
                run = answer["run"] if response.status == 201 else None
        except NO_ANSWER:
            run = None
        if run is None:
            self.counts["unknown"] += 1
            self._log.write(op="unknown", n=number)
            return
        self.counts["accepted"] += 1
        self._log.write(op="ok", n=number, run=run)
        self._call_back_all(session, group, run, program)

    async def make_up(self, found: Sequence[Mapping[str, Any]]) -> None:
        """Send the callbacks of runs that were started although nobody was told."""
        programs = {program.name: program for program in self._programs}
        async with aiohttp.ClientSession(timeout=PATIENCE) as session, asyncio.TaskGroup() as group:
            for known in found:
                if known["run"] not in self._answered:
                    self._call_back_all(session, group, known["run"], programs[known["workflow"]])

    def _call_back_all(
        self, session: aiohttp.ClientSession, group: asyncio.TaskGroup, run: str, program: Program
    ) -> None:
        self._answered.add(run)
        for step in program.callbacks:
            group.create_task(self._call_back(session, run, step))

    async def _call_back(self, session: aiohttp.ClientSession, run: str, step: str) -> None:
        """Send the callback early or late, sometimes twice, sometimes again with another body."""
        await asyncio.sleep(self._rng.choice((0.0, 0.05, 0.5, 1.5)))
        message = f"{run}/{step}/1"
        await self._deliver(session, run, step, message)
        if self._rng.random() < 0.3:
            await self._deliver(session, run, step, self._rng.choice((message, f"{run}/{step}/2")))

    async def _deliver(self, session: aiohttp.ClientSession, run: str, step: str, message: str) -> None:
        path = f"/wh/{self._tokens.token(parse(RUN, run), step)}"
        while True:
            answer = await self._try_to_deliver(session, path, message)
            if answer is not None:
                self.counts["callbacks"] += 1
                self._log.write(op="callback", run=run, step=step, message=message, **answer)
                return
            await asyncio.sleep(0.1)

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
