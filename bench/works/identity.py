"""W4k: runs started over HTTP by callers with a key, beside a server that asks for none.

The two servers take turns. What is compared is the CPU of the node per start and its run, because it does not depend on
what else the machine does."""

from bench import documents
from bench.child import Child
from bench.figures import median
from bench.stage import STORES, Stage
from bench.wrk import post

MOST_RATIO = 1.03
#: More rounds than elsewhere: a difference of hundredths is looked for.
ROUNDS = 4
PATH = "/api/v1/workflows/chain-1/trigger"


def measure(stage: Stage) -> None:
    for store, name in STORES.items():
        sides: dict[str, tuple[Child, dict[str, str]]] = {}
        for side, options in (("without", ()), ("with", ("--strict",))):
            server = stage.child("bench.http_node", stage.place(store), str(stage.folder), *options)
            server.ask("apply", document=documents.chain(1))
            sides[side] = server, {"Authorization": f"Bearer {server.ask('key')}"} if options else {}
            _cost(stage, sides[side], stage.sizes.seconds / 3)  # what is done once is done before it counts
        costs: dict[str, list[float]] = {side: [] for side in sides}
        for number in range(stage.sizes.rounds * ROUNDS):
            for side in sorted(sides, reverse=number % 2 == 0):  # each is the first one as often as the other
                costs[side].append(_cost(stage, sides[side], stage.sizes.seconds))
            last = {side: found[-1] for side, found in costs.items()}
            stage.say("W4k", f"{name}: {last['with']:.0f} us a start with a key, {last['without']:.0f} us without")
        ratio = median([mine / other for mine, other in zip(costs["with"], costs["without"], strict=True)])
        stage.results.figure("W4k", name, **costs)
        stage.results.line(
            "W4k", f"CPU of the node per start with a key, {name}, beside no key", f"{median(costs['with']):.0f} us",
            other=f"{median(costs['without']):.0f} us", ratio=f"{ratio:.3f}x", target=f"≤ {MOST_RATIO:g}x",
            met=ratio <= MOST_RATIO,
        )  # fmt: skip
    stage.clear()


def _cost(stage: Stage, side: tuple[Child, dict[str, str]], seconds: float) -> float:
    """Return the microseconds of CPU that a start and its run cost the node."""
    server, headers = side
    server.ask("begin")
    load = post(
        server.ask("url"), [PATH], '{"order": 7}', seconds=seconds, folder=stage.folder, headers=headers
    )  # fmt: skip
    if load.refused or load.broken:
        raise RuntimeError(f"{load.refused} requests were refused and {load.broken} broke")
    return float(server.ask("read")["cpu"] / load.requests * 1e6)
