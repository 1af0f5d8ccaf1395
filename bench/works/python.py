"""W1p: the ten steps of W1 written in Python, as a class and as a durable function, beside the peer and the floor."""

from collections import defaultdict
from typing import Any

from bench.figures import median
from bench.python_workflows import STEPS, STYLES
from bench.stage import Stage
from bench.works.steps import PeerSide

#: How many times the peer each style must reach, by database. Steps that need a thread each are shown, not judged.
LEAST = {"PostgreSQL": 20.0, "MariaDB": 10.0}
WIDTH = 256


class PythonSide:
    """One node on one database with all the styles, and the floor of what a durable function writes."""

    def __init__(self, stage: Stage, name: str) -> None:
        self.name = name
        self.node = stage.node(stage.database() if name == "PostgreSQL" else stage.mariadb_database(), "--python")
        for workflow in STYLES.values():
            self.node.ask("apply_python", workflow=workflow)
            self.node.ask("burst", workflow=workflow, width=WIDTH, seconds=stage.sizes.seconds / 4)
        self.floor = stage.child("bench.floor", stage.database()) if name == "PostgreSQL" else None
        self.units = 0

    def burst(self, stage: Stage, style: str) -> dict[str, float]:
        facts = self.node.ask("burst", workflow=STYLES[style], width=WIDTH, seconds=stage.sizes.seconds)
        steps = STEPS * facts["done"]
        rates = {"steps_per_second": steps / facts["seconds"], "cpu_us": facts["cpu"] / steps * 1e6}
        self.units = round((facts["starts"] + facts["entries"]) / facts["flushes"])
        stage.results.figure("W1p", f"{style} {self.name}", **facts, **rates)
        stage.say("W1p", f"{style} on {self.name}: {rates['steps_per_second']:,.0f} steps/s")
        return rates

    def floor_burst(self, stage: Stage) -> float:
        assert self.floor is not None
        journal = self.node.ask("sample", workflow=STYLES["durable function, async def"])
        facts = self.floor.ask("burst", journal=journal, units=self.units, seconds=stage.sizes.seconds)
        return float(facts["steps"] / facts["seconds"])


def measure(stage: Stage) -> None:
    sides = [PythonSide(stage, name) for name in LEAST]
    child = stage.peer()
    peer = None if child is None else PeerSide(stage, child)
    seen: defaultdict[str, list[Any]] = defaultdict(list)
    for _ in range(stage.sizes.rounds):
        for side in sides:
            for style in STYLES:
                seen[f"{side.name} {style}"].append(side.burst(stage, style))
            if side.floor is not None:
                seen["floor"].append(side.floor_burst(stage))
        if peer is not None:
            seen["peer"].append(peer.burst(stage))
    for side in sides:
        for style in STYLES:
            _line(stage, side, style, peer, seen)
    _floor_line(stage, seen)
    stage.clear()


def _line(stage: Stage, side: PythonSide, style: str, peer: PeerSide | None, seen: defaultdict[str, list[Any]]) -> None:
    ours = seen[f"{side.name} {style}"]
    rate, cpu = (median([facts[name] for facts in ours]) for name in ("steps_per_second", "cpu_us"))
    if peer is None:
        stage.results.line("W1p", f"{side.name}: {style} ({cpu:.0f} us CPU)", f"{rate:,.0f} steps/s")
        return
    ratio = median([a["steps_per_second"] / b["steps_per_second"] for a, b in zip(ours, seen["peer"], strict=True)])
    theirs, least = median([facts["steps_per_second"] for facts in seen["peer"]]), LEAST[side.name]
    is_judged = "threads" not in style
    stage.results.line(
        "W1p", f"{side.name}: {style} ({cpu:.0f} us CPU), beside {peer.name}", f"{rate:,.0f} steps/s",
        other=f"{theirs:,.0f} steps/s", ratio=f"{ratio:.1f}x", target=f"≥ {least:g}x" if is_judged else "",
        met=ratio >= least if is_judged else None,
    )  # fmt: skip


def _floor_line(stage: Stage, seen: defaultdict[str, list[Any]]) -> None:
    floor = median(seen["floor"])
    rate = median([facts["steps_per_second"] for facts in seen["PostgreSQL durable function, async def"]])
    stage.results.line(
        "W1p", "PostgreSQL: await run.step, beside bare rows of the same journal", f"{1e6 / rate:.0f} us per step",
        other=f"{1e6 / floor:.0f} us bare", ratio=f"{1e6 / rate - 1e6 / floor:.0f} us more",
    )  # fmt: skip
