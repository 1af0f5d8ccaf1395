"""W4: runs started over HTTP, each durable when it is answered, beside what the peer's client enqueues without HTTP.
W4c: callbacks over HTTP, each durable when it is answered, every one to a run of its own that then goes on."""

import json
from pathlib import Path

from bench import documents
from bench.child import Child
from bench.figures import median
from bench.stage import STORES, Stage
from bench.wrk import CONNECTIONS, Load, post

LEAST_RATIO = 5.0
#: The ingress of another engine on a machine like this one, with as many connections: the best that was seen.
MARK = 2_620
STEP = "answer"
SPARE = 1.5  # so many times the callbacks that were taken in the round before


def measure(stage: Stage) -> None:
    servers = {store: stage.child("bench.http_node", stage.place(store), str(stage.folder)) for store in STORES}
    for server in servers.values():
        server.ask("apply", document=documents.chain(1))
        server.ask("apply", document=documents.answered(STEP))
    peer = stage.peer()
    starts: dict[str, list[Load]] = {store: [] for store in STORES}
    cpu: dict[str, list[float]] = {store: [] for store in STORES}
    enqueued: list[float] = []
    for server in servers.values():
        _start(stage, server, stage.sizes.seconds / 3)  # what is done once is done before it counts
    for _ in range(stage.sizes.rounds):
        for store, server in servers.items():
            load, used = _start(stage, server, stage.sizes.seconds)
            starts[store].append(load)
            cpu[store].append(used / load.requests * 1e6)
            _tell(stage, "W4", f"Detent on {STORES[store]}", load)
        if peer:
            enqueued.append(_enqueue(stage, peer))
    _start_lines(stage, starts, cpu, enqueued)
    _measure_callbacks(stage, servers)
    stage.clear()


def _start(stage: Stage, server: Child, seconds: float) -> tuple[Load, float]:
    server.ask("begin")
    path = "/api/v1/workflows/chain-1/trigger"
    load = post(server.ask("url"), [path], '{"order": 7}', seconds=seconds, folder=stage.folder)
    return _sound(load), server.ask("read")["cpu"]


def _sound(load: Load) -> Load:
    if load.refused or load.broken:
        raise RuntimeError(f"{load.refused} requests were refused and {load.broken} broke")
    return load


def _enqueue(stage: Stage, peer: Child) -> float:
    facts = peer.ask("enqueue", seconds=stage.sizes.seconds)
    rate = float(facts["done"] / facts["seconds"])
    stage.results.figure("W4", "dbos enqueue", **facts)
    stage.say("W4", f"DBOS, client.enqueue in {facts['threads']} threads: {rate:,.0f} starts/s")
    return rate


def _tell(stage: Stage, work: str, side: str, load: Load) -> None:
    stage.results.figure(work, side, rate=load.rate, p50=load.p50, p99=load.p99, requests=load.requests)
    stage.say(work, f"{side}: {load.rate:,.0f}/s, p50 {load.p50 * 1000:.1f} ms, p99 {load.p99 * 1000:.1f} ms")


def _start_lines(
    stage: Stage, starts: dict[str, list[Load]], cpu: dict[str, list[float]], enqueued: list[float]
) -> None:
    for store, name in STORES.items():
        what = f"starts over HTTP, {name}, {CONNECTIONS} connections"
        rate = median([load.rate for load in starts[store]])
        if enqueued:
            ratio = median([load.rate / other for load, other in zip(starts[store], enqueued, strict=True)])
            stage.results.line(
                "W4", f"{what}, beside DBOS's client without HTTP", f"{rate:,.0f}/s",
                other=f"{median(enqueued):,.0f}/s", ratio=f"{ratio:.1f}x", target=f"≥ {LEAST_RATIO:g}x",
                met=ratio >= LEAST_RATIO,
            )  # fmt: skip
        stage.results.line("W4", what, f"{rate:,.0f}/s", target=f"> {MARK:,}/s", met=rate > MARK)
        p99 = median([load.p99 for load in starts[store]])
        stage.results.line(
            "W4", f"time to the answer, {name}, p99", f"{p99 * 1000:.1f} ms", target="< 60 ms", met=p99 < 0.06
        )
        stage.results.line("W4", f"CPU of the node per start and its run, {name}", f"{median(cpu[store]):.0f} us")


def _measure_callbacks(stage: Stage, servers: dict[str, Child]) -> None:
    for store, server in servers.items():
        count, loads, used = stage.sizes.answers, [], []
        for _ in range(stage.sizes.rounds):
            tokens = Path(server.ask("waiting", workflow="answered", step=STEP, count=count)).read_text().split()
            paths = [f"/wh/{token}" for token in tokens]
            server.ask("begin")
            load = post(
                server.ask("url"),
                paths,
                json.dumps({"ok": True}),
                seconds=min(2.0, stage.sizes.seconds),
                folder=stage.folder,
            )
            taken = load.requests - load.refused
            used.append(server.ask("read")["cpu"] / load.requests * 1e6)
            ended = server.ask("ends", count=min(taken, count), within=60.0)
            if load.broken or taken > count or ended < min(taken, count) * 0.999:
                raise RuntimeError(f"{taken} of {count} callbacks were taken, and {ended} runs ended: {load}")
            if load.requests >= count:
                raise RuntimeError(f"{count} waiting runs are not enough: {load.rate:,.0f} callbacks/s")
            loads.append(load)
            _tell(stage, "W4c", f"Detent on {STORES[store]}", load)
        _callback_lines(stage, STORES[store], loads, used)


def _callback_lines(stage: Stage, name: str, loads: list[Load], used: list[float]) -> None:
    rate, p99 = median([load.rate for load in loads]), median([load.p99 for load in loads])
    stage.results.line(
        "W4c", f"callbacks over HTTP, {name}, {CONNECTIONS} connections", f"{rate:,.0f}/s", target=f"> {MARK:,}/s",
        met=rate > MARK,
    )  # fmt: skip
    stage.results.line("W4c", f"time to the answer, {name}, p99", f"{p99 * 1000:.1f} ms")
    stage.results.line("W4c", f"CPU of the node per callback and what follows, {name}", f"{median(used):.0f} us")
