"""W1: ten trivial steps, one after the other. Many runs at once, one run at a time, and what it leaves on the disk;
beside it the peer and the floor."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import psutil

from bench import documents
from bench.child import Child
from bench.figures import median, p50, p99
from bench.footprint import Footprint, on_mariadb, on_postgres, on_sqlite
from bench.stage import STORES, Stage
from detent.store.url import sqlite_path

STEPS = 10
PEER_WAYS = {"threads": "16 threads", "async": "64 async", "queue": "queue"}
LEAST_RATIO = 30.0
STRETCH = 80
LEAST_MARIADB_RATIO = 10.0
MOST_CPU = 80.0
MOST_LATENCY = 1 / 3
TURN = 10
LATENCY_WAYS = ("threads", "async")


class Side:
    """Detent and its floor on one store."""

    def __init__(self, stage: Stage, store: str) -> None:
        self.name, self.url = STORES[store], stage.place(store)
        self.node = stage.node(self.url)
        self.floor = stage.child("bench.floor", stage.place(store))
        self.workflow = ""
        self.journal: list[list[Any]] = []
        self.width = 0
        self.units = 0

    def prepare(self, stage: Stage) -> None:
        """Find how many runs at once suit it; the first burst also warms it up."""
        self.workflow = self.node.ask("apply", document=documents.chain(STEPS))
        self.journal = self.node.ask("sample", workflow=self.workflow)
        tried: dict[int, float] = {}
        for width in (stage.sizes.widths[0], *stage.sizes.widths):
            facts = self.node.ask("burst", workflow=self.workflow, width=width, seconds=stage.sizes.seconds / 2)
            tried[width] = STEPS * facts["done"] / facts["seconds"]
        self.width = max(tried, key=lambda width: tried[width])
        stage.say("W1", f"Detent on {self.name}: {self.width} runs at once suit it best of {list(tried)}")

    def footprint(self, stage: Stage) -> Footprint:
        if self.name == STORES["sqlite"]:
            return on_sqlite(Path(sqlite_path(self.url)))
        return on_postgres(stage.server, self.url)

    def server_cpu(self, stage: Stage) -> float:
        return stage.server_cpu()

    def burst(self, stage: Stage) -> dict[str, float]:
        before, server = self.footprint(stage), self.server_cpu(stage)
        facts = self.node.ask("burst", workflow=self.workflow, width=self.width, seconds=stage.sizes.seconds)
        steps = STEPS * facts["done"]
        self.units = round((facts["starts"] + facts["entries"]) / facts["flushes"])
        left = (self.footprint(stage) - before).per(steps)
        rates = {
            "steps_per_second": steps / facts["seconds"],
            "cpu_us": facts["cpu"] / steps * 1e6,
            "loop_us": facts["thread_cpu"] / steps * 1e6,
            "server_us": (self.server_cpu(stage) - server) / steps * 1e6,
            "rows_per_commit": (facts["starts"] + facts["entries"] + facts["ends"]) / facts["flushes"],
            "rows": left.rows, "table": left.table, "index": left.index, "wal": left.wal,
        }  # fmt: skip
        stage.results.figure("W1", f"detent {self.name}", **facts, **rates)
        stage.say("W1", f"Detent on {self.name}: {rates['steps_per_second']:,.0f} steps/s")
        return rates

    def floor_burst(self, stage: Stage) -> float:
        facts = self.floor.ask("burst", journal=self.journal, units=self.units, seconds=stage.sizes.seconds)
        rate = float(facts["steps"] / facts["seconds"])
        stage.results.figure("W1", f"floor {self.name}", units=self.units, **facts)
        stage.say("W1", f"the floor on {self.name}: {rate:,.0f} steps/s in batches of {self.units}")
        return rate


class MariadbSide(Side):
    """Detent on MariaDB, without a floor."""

    def __init__(self, stage: Stage) -> None:
        self.name, self.url = "MariaDB", stage.mariadb_database()
        self.node = stage.node(self.url)
        self.workflow = ""
        self.width = self.units = 0

    def footprint(self, stage: Stage) -> Footprint:
        return on_mariadb(stage.mariadb, self.url)

    def server_cpu(self, stage: Stage) -> float:
        times = psutil.Process(stage.mariadb.pid).cpu_times()
        return times.user + times.system


class PeerSide:
    """The peer in the best of its ways."""

    def __init__(self, stage: Stage, child: Child) -> None:
        self._child = child
        rates = {way: self._burst(stage, way)["steps_per_second"] for way in PEER_WAYS}
        self._way = max(rates, key=lambda way: rates[way])
        self.name = f"DBOS, {PEER_WAYS[self._way]}"

    def burst(self, stage: Stage) -> dict[str, float]:
        return self._burst(stage, self._way)

    def _burst(self, stage: Stage, way: str) -> dict[str, float]:
        database = stage.peer_database
        before = on_postgres(stage.server, database)
        facts = self._child.ask("chain", way=way, seconds=stage.sizes.seconds)
        steps = STEPS * facts["done"]
        left = (on_postgres(stage.server, database) - before).per(steps)
        rates = {
            "steps_per_second": steps / facts["seconds"], "cpu_us": facts["cpu"] / steps * 1e6,
            "rows": left.rows, "table": left.table, "index": left.index, "wal": left.wal,
        }  # fmt: skip
        stage.results.figure("W1", f"dbos {way}", **facts, **rates)
        stage.say("W1", f"DBOS, {PEER_WAYS[way]}: {rates['steps_per_second']:,.0f} steps/s")
        return rates

    def latency(self, way: str, count: int) -> list[float]:
        took: list[float] = self._child.ask("latency", way=way, count=count)["took"]
        return took


Seen = defaultdict[str, list[Any]]


def measure(stage: Stage) -> None:
    sides = {store: Side(stage, store) for store in STORES}
    mariadb = MariadbSide(stage)
    for side in (*sides.values(), mariadb):
        side.prepare(stage)
    child = stage.peer()
    peer = None if child is None else PeerSide(stage, child)
    seen: Seen = defaultdict(list)
    for _ in range(stage.sizes.rounds):
        for store, side in sides.items():
            seen[store].append(side.burst(stage))
            seen[f"floor {store}"].append(side.floor_burst(stage))
        seen["mariadb"].append(mariadb.burst(stage))
        if peer:
            seen["peer"].append(peer.burst(stage))
    for _ in range(-(-stage.sizes.latencies // TURN)):
        _latencies(sides, peer, seen)
    _speed_lines(stage, sides, peer, seen)
    _mariadb_lines(stage, mariadb, peer, seen)
    _cpu_lines(stage, seen, peer)
    _disk_lines(stage, seen, peer)
    _latency_lines(stage, seen, peer)
    stage.clear()


def _latencies(sides: dict[str, Side], peer: PeerSide | None, seen: Seen) -> None:
    """A few runs each, one at a time: short turns, so that all sides meet the same weather."""
    for store, side in sides.items():
        facts = side.node.ask("latency", workflow=side.workflow, count=TURN)
        seen[f"latency {store}"] += facts["took"]
        seen[f"commits {store}"].append(facts["flush_seconds"])
        seen[f"floor latency {store}"] += side.floor.ask("latency", journal=side.journal, count=TURN)["took"]
    if peer:
        for way in LATENCY_WAYS:
            seen[f"latency {way}"] += peer.latency(way, TURN)


def _rate(seen: Seen, store: str) -> float:
    return median([facts["steps_per_second"] for facts in seen[store]])


def _speed_lines(stage: Stage, sides: dict[str, Side], peer: PeerSide | None, seen: Seen) -> None:
    line = stage.results.line
    for store, side in sides.items():
        rate, floor = _rate(seen, store), median(seen[f"floor {store}"])
        line(
            "W1", f"{side.name}, {side.width} runs at once, beside the floor", f"{rate:,.0f} steps/s",
            other=f"{floor:,.0f} bare", ratio=f"{rate / floor:.0%} of it",
        )  # fmt: skip
    if peer:
        ratios = [
            ours["steps_per_second"] / theirs["steps_per_second"]
            for ours, theirs in zip(seen["postgres"], seen["peer"], strict=True)
        ]
        line(
            "W1", f"PostgreSQL beside {peer.name}", f"{_rate(seen, 'postgres'):,.0f} steps/s",
            other=f"{_rate(seen, 'peer'):,.0f} steps/s", ratio=f"{median(ratios):.1f}x",
            target=f"≥ {LEAST_RATIO:g}x (stretch {STRETCH}x)", met=median(ratios) >= LEAST_RATIO,
        )  # fmt: skip
    share = median(
        [a["steps_per_second"] / b["steps_per_second"] for a, b in zip(seen["sqlite"], seen["postgres"], strict=True)]
    )
    line(
        "W1", "SQLite beside PostgreSQL", f"{_rate(seen, 'sqlite'):,.0f} steps/s",
        other=f"{_rate(seen, 'postgres'):,.0f} steps/s", ratio=f"{share:.2f}x", target="≥ 1x", met=share >= 1,
    )  # fmt: skip


def _mariadb_lines(stage: Stage, side: MariadbSide, peer: PeerSide | None, seen: Seen) -> None:
    rate = _rate(seen, "mariadb")
    least = LEAST_MARIADB_RATIO * _rate(seen, "peer") if peer else None
    stage.results.line(
        "W1", f"MariaDB, {side.width} runs at once" + (f", beside {peer.name} on PostgreSQL" if peer else ""),
        f"{rate:,.0f} steps/s", other=f"{_rate(seen, 'peer'):,.0f} steps/s" if peer else "",
        ratio=f"{rate / _rate(seen, 'peer'):.1f}x" if peer else "",
        target=f"≥ {LEAST_MARIADB_RATIO:g}x" if peer else "", met=None if least is None else rate >= least,
    )  # fmt: skip


def _cpu_lines(stage: Stage, seen: Seen, peer: PeerSide | None) -> None:
    def used(store: str, name: str = "cpu_us") -> float:
        return median([facts[name] for facts in seen[store]])

    own = used("postgres")
    stage.results.line(
        "W1", "the engine's own CPU per step, PostgreSQL", f"{own:.0f} us",
        other=f"{used('peer'):,.0f} us" if peer else "", ratio=f"{own / used('peer'):.3f}x" if peer else "",
        target=f"≤ {MOST_CPU:g} us", met=own <= MOST_CPU,
    )  # fmt: skip
    server = used("postgres", "server_us")
    stage.results.line(
        "W1", "the same beside the database's own", f"{own:.0f} us", other=f"{server:.0f} us",
        ratio=f"{own / server:.2f}x",
    )  # fmt: skip
    stage.results.line(
        "W1", "SQLite: CPU per step, beside its loop alone (the rest is SQLite's thread)",
        f"{used('sqlite'):.0f} us", other=f"{used('sqlite', 'loop_us'):.0f} us",
    )  # fmt: skip


def _disk_lines(stage: Stage, seen: Seen, peer: PeerSide | None) -> None:
    def left(facts: dict[str, float]) -> Footprint:
        return Footprint(facts["rows"], facts["table"], facts["index"], facts["wal"])

    for store, name in STORES.items():
        ours = left(seen[store][0])
        theirs = left(seen["peer"][0]) if peer and store == "postgres" else None
        size = (ours.table + ours.index) / (theirs.table + theirs.index) if theirs else 0.0
        stage.results.line(
            "W1", f"left on the disk per step, {name}", ours.shown(), other=theirs.shown() if theirs else "",
            ratio=f"{size:.2f}x" if theirs else "",
        )  # fmt: skip


def _latency_lines(stage: Stage, seen: Seen, peer: PeerSide | None) -> None:
    theirs = min(p50(seen[f"latency {way}"]) for way in LATENCY_WAYS) if peer else 0.0
    for store, name in STORES.items():
        took, floor = seen[f"latency {store}"], p50(seen[f"floor latency {store}"])
        mine, slow, waited = p50(took), p99(took), sum(seen[f"commits {store}"]) / sum(took)
        stage.results.figure("W1", f"latency {name}", p50=mine, p99=slow, floor=floor, peer=theirs, in_commits=waited)
        stage.say("W1", f"one at a time on {name}: {mine * 1e3:.1f} ms, bare {floor * 1e3:.1f}")
        stage.results.line(
            "W1", f"one run at a time, {name}: p50 (p99), beside the floor", f"{mine * 1e3:.1f} ms ({slow * 1e3:.1f})",
            other=f"{floor * 1e3:.1f} ms bare", ratio=f"{waited:.0%} in commits",
        )  # fmt: skip
        if peer and store == "postgres":
            stage.results.line(
                "W1", "one run at a time beside DBOS", f"{mine * 1e3:.1f} ms", other=f"{theirs * 1e3:.1f} ms",
                ratio=f"{mine / theirs:.2f}x", target="≤ 0.33x", met=mine / theirs <= MOST_LATENCY,
            )  # fmt: skip
