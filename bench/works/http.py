"""W3: three HTTP requests, one after the other, to a server on loopback that gives every body back."""

from bench import documents
from bench.child import Child
from bench.figures import median
from bench.stage import STORES, Stage

POSTS = 3
WAYS = {"threads": "16 threads, httpx", "async": "64 async, aiohttp"}
LEAST_RATIO = 8.0


def measure(stage: Stage) -> None:
    url = stage.child("bench.echo_server").ask("url")
    nodes = {store: stage.node(stage.place(store)) for store in STORES}
    widths = {store: _best_width(stage, node, url) for store, node in nodes.items()}
    peer = stage.peer()
    way = _best_way(stage, peer, url) if peer else ""
    rates: dict[str, list[float]] = {side: [] for side in (*STORES, "peer", "cpu")}
    for _ in range(stage.sizes.rounds):
        for store, node in nodes.items():
            facts = _burst(stage, node, store, widths[store], stage.sizes.seconds)
            rates[store].append(facts["done"] / facts["seconds"])
            if store == "postgres":
                rates["cpu"].append(facts["cpu"] / facts["done"] / POSTS * 1e6)
        if peer:
            rates["peer"].append(_peer_burst(stage, peer, way, url))
    _lines(stage, rates, widths, WAYS.get(way, ""))
    stage.clear()


def _burst(stage: Stage, node: Child, store: str, width: int, seconds: float) -> dict[str, float]:
    facts: dict[str, float] = node.ask("burst", workflow="posts", width=width, seconds=seconds)
    stage.results.figure("W3", f"detent {STORES[store]}", width=width, **facts)
    stage.say("W3", f"Detent on {STORES[store]}, {width} at once: {facts['done'] / facts['seconds']:,.0f} workflows/s")
    return facts


def _best_width(stage: Stage, node: Child, url: str) -> int:
    node.ask("apply", document=documents.posts(url, POSTS))
    rates = {}
    for width in (stage.sizes.http_widths[0], *stage.sizes.http_widths):
        facts = node.ask("burst", workflow="posts", width=width, seconds=stage.sizes.seconds / 2)
        rates[width] = facts["done"] / facts["seconds"]
    return max(rates, key=lambda width: rates[width])


def _best_way(stage: Stage, peer: Child, url: str) -> str:
    rates = {way: _peer_burst(stage, peer, way, url) for way in WAYS}
    return max(rates, key=lambda way: rates[way])


def _peer_burst(stage: Stage, peer: Child, way: str, url: str) -> float:
    facts = peer.ask("posts", way=way, seconds=stage.sizes.seconds, url=url)
    rate = float(facts["done"] / facts["seconds"])
    stage.results.figure("W3", f"dbos {way}", **facts)
    stage.say("W3", f"DBOS, {WAYS[way]}: {rate:,.0f} workflows/s")
    return rate


def _lines(stage: Stage, rates: dict[str, list[float]], widths: dict[str, int], way: str) -> None:
    for store, name in STORES.items():
        what = f"three HTTP steps, {name}, {widths[store]} at once"
        if rates["peer"]:
            ratio = median([mine / theirs for mine, theirs in zip(rates[store], rates["peer"], strict=True)])
            stage.results.line(
                "W3", f"{what}, beside DBOS, {way}", f"{median(rates[store]):,.0f} workflows/s",
                other=f"{median(rates['peer']):,.0f} workflows/s", ratio=f"{ratio:.1f}x",
                target=f"≥ {LEAST_RATIO:g}x", met=ratio >= LEAST_RATIO,
            )  # fmt: skip
        else:
            stage.results.line("W3", what, f"{median(rates[store]):,.0f} workflows/s")
    stage.results.line("W3", "CPU of the node per HTTP step, PostgreSQL", f"{median(rates['cpu']):.0f} us")
