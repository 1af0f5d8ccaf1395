"""W5: runs that sleep. None may wake early or be lost, few may be late, and the sleeping cost the node no memory."""

from typing import Any

from bench import documents
from bench.child import Child
from bench.figures import p50, p99
from bench.stage import STORES, Stage

AN_HOUR = 3600.0
WIDTH = 500
PATIENCE = 90.0
MOST_P50 = 0.3
MOST_P99 = 1.5
MOST_MEMORY = 20e6


def measure(stage: Stage) -> None:
    nodes = {store: stage.node(stage.place(store)) for store in STORES}
    # Its own: memory that another work has used and freed would hide what is measured here.
    fresh = stage.node(stage.place("postgres"))
    for store, name in STORES.items():
        nodes[store].ask("watch")
        for seconds in stage.sizes.nap_seconds:
            _naps(stage, nodes[store], name, seconds)
    peer = stage.peer()
    if peer:
        _peer_naps(stage, peer)
    _asleep(stage, fresh)
    stage.clear()


def _naps(stage: Stage, node: Child, name: str, seconds: float) -> None:
    count = stage.sizes.naps
    workflow = node.ask("apply", document=documents.nap(seconds))
    begun = node.ask("begin", workflow=workflow, count=count, width=WIDTH)
    late: dict[str, list[float]] = node.ask("lateness", ids=begun["ids"], wait=seconds + PATIENCE)
    _judge(stage, f"{name}: {count:,} runs sleep {seconds:g} s", count, late)
    rate = count / begun["seconds"]
    stage.say("W5", f"{name}: {count:,} sleeps of {seconds:g} s, begun at {rate:,.0f}/s, {_shown(late['seen'])} late")


def _judge(stage: Stage, what: str, count: int, late: dict[str, list[float]]) -> None:
    seen, journal = late["seen"], late["journal"]
    lost, early = count - len(seen), sum(value < 0 for value in (*seen, *journal))
    stage.results.figure("W5", what, lost=lost, early=early, p50=p50(seen), p99=p99(seen), latest=max(seen))
    stage.results.line(
        "W5", f"{what}: late by p50 / p99 (beside: by the journal)", _shown(seen), other=_shown(journal),
        target=f"≤ {MOST_P50 * 1e3:g} / {MOST_P99 * 1e3:g} ms", met=p50(seen) <= MOST_P50 and p99(seen) <= MOST_P99,
    )  # fmt: skip
    stage.results.line(
        "W5", f"{what}: early, lost", f"{early} early, {lost} lost", target="none", met=not early and not lost
    )


def _shown(late: list[float]) -> str:
    return f"{p50(late) * 1e3:.0f} / {p99(late) * 1e3:.0f} ms" if late else "none ended"


def _peer_naps(stage: Stage, peer: Child) -> None:
    count = stage.sizes.naps_of_peer
    late: list[float] = peer.ask("naps", count=count)["late"]
    stage.results.line("W5", f"DBOS: {count:,} runs sleep 5 s, late by p50 / p99", "", other=_shown(late))
    stage.say("W5", f"DBOS: {count:,} sleeps of 5 s, {_shown(late)} late, {count - len(late)} failed")


def _asleep(stage: Stage, node: Child) -> None:
    count = stage.sizes.asleep
    workflow = node.ask("apply", document=documents.work_and_nap(AN_HOUR))
    # The first ones warm up: what starting runs needs at all is not what sleeping ones keep.
    node.ask("begin", workflow=workflow, count=max(1, count // 10), width=WIDTH, named=False)
    before: int = node.ask("memory")
    facts: dict[str, Any] = node.ask("begin", workflow=workflow, count=count, width=WIDTH, named=False)
    grown = node.ask("memory") - before
    stage.results.figure("W5", "asleep", count=count, grown=grown, **facts)
    stage.results.line(
        "W5", f"{count:,} more sleeping runs: the node's memory grows by", f"{grown / 1e6:.1f} MB",
        target=f"< {MOST_MEMORY / 1e6:g} MB", met=grown < MOST_MEMORY,
    )  # fmt: skip
    stage.say("W5", f"{count:,} sleeping runs, begun at {count / facts['seconds']:,.0f}/s: {grown / 1e6:+.1f} MB")
