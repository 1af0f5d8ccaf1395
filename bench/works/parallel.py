"""W2: a hundred steps side by side and a join. W2b: what a step costs in graphs that are much larger."""

from typing import Any

from bench import documents
from bench.child import Child
from bench.figures import median, p50, p99
from bench.stage import STORES, Stage

FAN = 100
MOST_MS = 25.0
MOST_GROWTH = 1.5


def measure_join(stage: Stage) -> None:
    nodes = {store: stage.node(stage.place(store)) for store in STORES}
    workflow = documents.fan(FAN)
    names = {store: node.ask("apply", document=workflow) for store, node in nodes.items()}
    peer = stage.peer()
    took: dict[str, list[list[float]]] = {store: [] for store in (*STORES, "peer")}
    for store, node in nodes.items():
        node.ask("latency", workflow=names[store], count=3)
    for _ in range(stage.sizes.rounds):
        for store, node in nodes.items():
            took[store].append(node.ask("latency", workflow=names[store], count=stage.sizes.fans)["took"])
            stage.say("W2", f"Detent on {STORES[store]}: {p50(took[store][-1]) * 1e3:.1f} ms")
        if peer:
            took["peer"].append(peer.ask("fan", count=max(3, stage.sizes.fans // 4))["took"])
            stage.say("W2", f"DBOS, asyncio.gather: {p50(took['peer'][-1]) * 1e3:.1f} ms")
    for store, name in STORES.items():
        _join_line(stage, name, took[store], took["peer"] if store == "postgres" else [])
    stage.clear()


def _join_line(stage: Stage, name: str, took: list[list[float]], peer: list[list[float]]) -> None:
    mine, slow = (1e3 * median([at(each) for each in took]) for at in (p50, p99))
    theirs = 1e3 * median([p50(each) for each in peer]) if peer else 0.0
    stage.results.figure("W2", name, p50_ms=mine, p99_ms=slow, peer_p50_ms=theirs)
    stage.results.line(
        "W2", f"{FAN} parallel steps and a join, {name}: p50 (p99)", f"{mine:.1f} ms ({slow:.1f})",
        other=f"{theirs:.1f} ms" if peer else "", ratio=f"{mine / theirs:.2f}x" if peer else "",
        target=f"≤ {MOST_MS:g} ms", met=mine <= MOST_MS,
    )  # fmt: skip


def measure_growth(stage: Stage) -> None:
    for store, name in STORES.items():
        node = stage.node(stage.place(store))
        fans = {width: node.ask("apply", document=documents.fan(width)) for width in (FAN, *stage.sizes.wide)}
        chains = {length: node.ask("apply", document=documents.chain(length)) for length in (FAN, stage.sizes.long)}
        _compare(stage, node, name, "parallel steps", fans)
        _compare(stage, node, name, "steps in a row", chains)
        stage.leave(node)


def _compare(stage: Stage, node: Child, store: str, what: str, workflows: dict[int, str]) -> None:
    """The same number of steps in graphs of every size, in turns."""
    seen: dict[int, list[dict[str, float]]] = {size: [] for size in workflows}
    largest = max(workflows)
    for round_ in range(stage.sizes.rounds + 1):
        for size, workflow in workflows.items():
            facts = node.ask("latency", workflow=workflow, count=min(stage.sizes.fans, largest // size) or 1)
            if round_:  # the first warms up
                seen[size].append(_per_step(facts, size))
    costs = {
        size: {key: median([one[key] for one in every]) for key in ("cpu", "wall")} for size, every in seen.items()
    }
    for size, cost in costs.items():
        stage.results.figure("W2b", store, what=what, size=size, **cost)
        stage.say("W2b", f"{store}, {size:,} {what}: {cost['wall']:.0f} us each, {cost['cpu']:.0f} us of them CPU")
        if size != FAN:
            _growth_line(stage, f"{store}: {size:,} {what}, CPU (time) per step", cost, costs[FAN])


def _per_step(facts: dict[str, Any], size: int) -> dict[str, float]:
    steps = facts["done"] * size
    return {"cpu": facts["cpu"] / steps * 1e6, "wall": sum(facts["took"]) / steps * 1e6}


def _growth_line(stage: Stage, what: str, cost: dict[str, float], small: dict[str, float]) -> None:
    growth = {key: cost[key] / small[key] for key in cost}
    stage.results.line(
        "W2b", what, f"{cost['cpu']:.0f} us ({cost['wall']:.0f})",
        other=f"{small['cpu']:.0f} us ({small['wall']:.0f}) of {FAN}",
        ratio=f"{growth['cpu']:.2f}x ({growth['wall']:.2f}x)",
        target=f"≤ {MOST_GROWTH:g}x", met=max(growth.values()) <= MOST_GROWTH,
    )  # fmt: skip
