"""W1l: W1, whose steps log nothing, on a node that runs floods of log lines between its turns, and on one without.

What is compared is the CPU of the node per step. A step of a flood may leave the bound of a log on the disk."""

from pathlib import Path

from bench import documents
from bench.child import Child
from bench.figures import median
from bench.footprint import Footprint, on_postgres, on_sqlite
from bench.python_workflows import FLOOD, LINES, STEPS
from bench.stage import STORES, Stage
from detent.engine.records.logs import MOST_BYTES
from detent.store.url import sqlite_path

MOST_RATIO = 1.03
#: What a step of the flood leaves on the disk at most: its log, and a quarter of that for rows and pages.
MOST_LEFT = MOST_BYTES * 1.25
#: More rounds than elsewhere: a difference of hundredths is looked for.
ROUNDS = 4
WIDTH = 256
FLOODED_AT_ONCE = 16


def measure(stage: Stage) -> None:
    for store, name in STORES.items():
        url = stage.place(store)
        sides = {"flooded": stage.node(url, "--python"), "quiet": stage.node(stage.place(store))}
        plain = {side: node.ask("apply", document=documents.chain(STEPS)) for side, node in sides.items()}
        flood = sides["flooded"].ask("apply_python", workflow=FLOOD)
        costs: dict[str, list[float]] = {side: [] for side in sides}
        left: list[float] = []
        for number in range(stage.sizes.rounds * ROUNDS + 1):
            before = _left(stage, store, url)
            facts = sides["flooded"].ask(
                "burst", workflow=flood, width=FLOODED_AT_ONCE, seconds=stage.sizes.seconds / 4
            )
            left.append((_left(stage, store, url) - before).per(facts["done"] * STEPS).table)
            for side in sorted(sides, reverse=number % 2 == 0):  # each is the first one as often as the other
                cost = _cost(stage, sides[side], plain[side])
                if number:  # what is done once is done before it counts
                    costs[side].append(cost)
        ratio = median([one / other for one, other in zip(costs["flooded"], costs["quiet"], strict=True)])
        stage.results.figure("W1l", name, **costs, left=left)
        stage.results.line(
            "W1l", f"CPU of the node per step that logs nothing, {name}, between floods of logs and without",
            f"{median(costs['flooded']):.1f} us", other=f"{median(costs['quiet']):.1f} us", ratio=f"{ratio:.3f}x",
            target=f"≤ {MOST_RATIO:g}x", met=ratio <= MOST_RATIO,
        )  # fmt: skip
        most = max(left)
        stage.results.line(
            "W1l", f"left on the disk by a step that logs {len(LINES)} lines of 1 KB, {name}", f"{most / 1024:.1f} KB",
            target=f"≤ {MOST_LEFT / 1024:.0f} KB", met=most <= MOST_LEFT,
        )  # fmt: skip
    stage.clear()


def _cost(stage: Stage, node: Child, workflow: str) -> float:
    """Return the microseconds of CPU that a step cost the node."""
    facts = node.ask("burst", workflow=workflow, width=WIDTH, seconds=stage.sizes.seconds)
    return float(facts["cpu"] / (STEPS * facts["done"]) * 1e6)


def _left(stage: Stage, store: str, url: str) -> Footprint:
    return on_sqlite(Path(sqlite_path(url))) if store == "sqlite" else on_postgres(stage.server, url)
