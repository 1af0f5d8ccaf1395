"""One campaign: nodes and clients on one store, a nemesis, a rest in which everything must end, and the verdict."""

import asyncio
import contextlib
import json
import pickle
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

from detent.store.url import is_shared
from tests.chaos.checker import Checker, Verdict
from tests.chaos.cluster import Cluster, Node
from tests.chaos.evidence import Evidence, Onlooker, gather
from tests.chaos.load import ClientLog, Clients
from tests.chaos.nemesis import Kill, Nemesis, Server
from tests.chaos.programs import Program, make_programs, ten_echoes
from tests.chaos.python_programs import python_programs
from tests.chaos.tuning import LEASE
from tests.servers.target import Target

#: Long enough for every retry, sleep and wait of a program after the last fault, on a busy machine too.
REST = 1200.0
PROGRAMS = 12
#: Kills are not a step's fault here, so none is blamed for them.
BLAMELESS = ("--poison", "1000")
PYTHON = "--python"

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Orders:
    """What a campaign does: at least so many faults of each name and so much work of clients, and at least so many
    seconds of them."""

    store: str
    seed: int
    least: Counter[str]
    seconds: float = 0.0
    work: Counter[str] = field(default_factory=Counter)
    nodes: int = 1
    rate: float = 60.0


@dataclass
class Report:
    """What came of it."""

    orders: Orders
    verdict: Verdict
    faults: Counter[str]
    clients: Counter[str]
    recovery: list[float]
    said: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        return not self.verdict.broken

    @property
    def typical_recovery(self) -> float | None:
        return median(self.recovery) if self.recovery else None

    @property
    def longest_recovery(self) -> float | None:
        return max(self.recovery, default=None)


async def campaign(orders: Orders, folder: Path, *, server: Server | None = None, tell: Tell) -> Report:
    """Carry out the orders; whatever happens, every process this started is ended."""
    began = time.monotonic()
    programs, beside = all_programs(orders.store, orders.seed), is_shared(orders.store)
    with Target(folder / "ledger") as target, Cluster(orders.store, folder, (*BLAMELESS, PYTHON)) as cluster:
        nodes = await asyncio.to_thread(cluster.start, orders.nodes)
        for program in programs:
            await asyncio.to_thread(nodes[0].save, program.definition)
        rng = random.Random(f"{orders.seed}/nemesis")
        nemesis = Nemesis(cluster, rng, Onlooker(orders.store), server)
        log = ClientLog(folder / "clients")
        clients = Clients(cluster, target.url(), programs, log, seed=orders.seed, rate=orders.rate)
        await _fight(orders, nemesis, clients, tell)
        tell(f"{orders.store.split(':')[0]}: every fault is done, everything must end now")
        await _rest(nodes, clients, server, tell)
        for node in nodes:
            await asyncio.to_thread(node.end, signal.SIGTERM)
        log.close()
        look = partial(gather, orders.store, target.ledger, folder / "clients", beside=beside)
        evidence = await asyncio.to_thread(look)
        if evidence.nodes:
            await asyncio.to_thread(cluster.clear_up, lambda: len(look().nodes))
            evidence = await asyncio.to_thread(look)
    (folder / "evidence").write_bytes(pickle.dumps(evidence))
    (folder / "kills").write_text("".join(f"{kill}\n" for kill in nemesis.kills))
    verdict = await asyncio.to_thread(Checker(evidence, _by_name(programs)).check)
    recovery = recoveries(nemesis.kills, evidence, several_nodes=orders.nodes > 1)
    seconds = time.monotonic() - began
    return Report(orders, verdict, nemesis.counts, clients.counts, recovery, _said(nodes), seconds)


def all_programs(store: str, seed: int) -> list[Program]:
    """What is run under chaos on that store."""
    return [ten_echoes(), *make_programs(seed, PROGRAMS), *python_programs(transactional=is_shared(store))]


def _by_name(programs: list[Program]) -> dict[str, Program]:
    return {program.name: program for program in programs}


async def _fight(orders: Orders, nemesis: Nemesis, clients: Clients, tell: Tell) -> None:
    enough = asyncio.Event()
    progress = asyncio.create_task(_report(orders, nemesis, clients, tell))
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(clients.work(enough))
            await asyncio.sleep(0.5)
            await nemesis.rage(orders.seconds, least=orders.least)
            await _until(clients.counts, orders.work)
            enough.set()
    finally:
        progress.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await progress


async def _until(counts: Counter[str], least: Counter[str]) -> None:
    """Wait until everything was counted at least so often."""
    while any(counts[name] < least[name] for name in least):
        await asyncio.sleep(0.05)


async def _report(orders: Orders, nemesis: Nemesis, clients: Clients, tell: Tell) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(1.0)
        faults = ", ".join(f"{nemesis.counts[name]}/{orders.least[name]} {name}s" for name in orders.least)
        runs = f"{clients.counts['accepted']} runs accepted, {clients.counts['unknown']} unanswered"
        tell(f"{orders.store.split(':')[0]} {time.monotonic() - began:4.0f} s: {faults}; {runs}")


async def _rest(nodes: list[Node], clients: Clients, server: Server | None, tell: Tell) -> None:
    """Wait until no run is open and dead nodes are removed; what has not ended after all that time is a finding.

    A database that ended by itself is started again, as an operator's service manager would."""
    until = time.monotonic() + REST
    await asyncio.sleep(LEASE * 1.5)
    faults: Counter[str] = Counter()
    rounds = 0
    while time.monotonic() < until:
        if server is not None and (words := await asyncio.to_thread(server.revive)):
            tell(f"the database had ended by itself and was started again; its last words:\n{words}")
        rounds += 1
        node = nodes[rounds % len(nodes)]  # one that cannot answer must not hide what the others know
        try:
            found = (await asyncio.to_thread(node.ask, "/open"))["open"]
        except OSError as error:
            faults[f"{node.log.stem}: {error}"] += 1
        else:
            if not found:
                return
            await clients.make_up(found)
        await asyncio.sleep(0.1)
    tell(f"not everything ended in {REST:g} s and {rounds} rounds; questions without an answer: {dict(faults)}")
    for node in nodes:
        node.send(signal.SIGUSR1)
        await asyncio.sleep(0.5)
        tell(f"{node.log.stem}, alive: {node.is_alive}, its last words:\n{node.log.read_text()[-4000:]}")


def recoveries(kills: list[Kill], evidence: Evidence, *, several_nodes: bool) -> list[float]:
    """How long after each kill the last of the dead node's runs went on. Kills that were soon followed by another fault
    are left out: what follows then says nothing about this one."""
    found = []
    adopted = {run: [e.at / 1e6 for e in entries if e.kind == "adopted"] for run, entries in evidence.journal.items()}
    for number, kill in enumerate(kills):
        following = kills[number + 1].at if number + 1 < len(kills) else float("inf")
        if several_nodes:
            times = [min((at for at in adopted.get(run, []) if at > kill.at), default=None) for run in kill.runs or ()]
            known = [at - kill.at for at in times if at is not None]
            found += [max(known)] if known and max(known) < kill.calm else []
        else:
            known = [at - kill.at for times in adopted.values() for at in times if kill.at < at < following]
            found += [max(known)] if known else []
    return found


def _said(nodes: list[Node]) -> Counter[str]:
    said: Counter[str] = Counter()
    for node in nodes:
        lines = [line for line in node.log.read_text().splitlines() if line.startswith("{")]
        said.update(json.loads(line)["event"] for line in lines)
    return said
