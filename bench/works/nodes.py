"""Two nodes on one PostgreSQL: they share what nobody owns, and one goes on with what a killed one leaves behind."""

import time

from bench import documents
from bench.child import Child
from bench.stage import Stage
from detent.engine.tuning import Tuning

WIDTH = 500
STEPS = 10
PATIENCE = 120.0
LEAST_SHARE = 0.25
LOOK_EVERY = 0.1
GRACE = 2.0

# Of the runs a node owned when it was killed: how many there were, went on, and the last moment one did.
WENT_ON = """
select count(distinct run) || ' ' || coalesce(extract(epoch from max(first)), 0)
from (select j.run, min(j.at) as first from journal j
      where j.kind = 'ended' and j.at > to_timestamp({killed})
        and exists (select 1 from journal a where a.run = j.run and a.kind = 'adopted' and a.at > to_timestamp({killed})
                    and a.seq < j.seq) group by j.run) gone_on"""
OPEN = "select count(*) from run where ended_at is null"


def measure(stage: Stage) -> None:
    _share(stage)
    for number in range(stage.sizes.kills):
        _kill(stage, number + 1)


def _share(stage: Stage) -> None:
    """One node only starts runs; the two others claim them."""
    url = stage.database()
    starter = stage.node(url, "--starts-only")
    workflow = starter.ask("apply", document=documents.chain(STEPS))
    nodes = [stage.node(url), stage.node(url)]
    for node in nodes:
        node.ask("watch")
    begun = time.monotonic()
    starter.ask("begin", workflow=workflow, count=stage.sizes.backlog, width=WIDTH)
    shares = _wait_for(nodes, stage.sizes.backlog)
    rate = STEPS * sum(shares) / (time.monotonic() - begun)
    smaller, lost = min(shares) / max(1, sum(shares)), stage.sizes.backlog - sum(shares)
    stage.results.figure("nodes", "share", shares=str(shares), steps_per_second=rate)
    stage.say("nodes", f"two nodes ended {shares} runs of a third node's {stage.sizes.backlog:,}: {rate:,.0f} steps/s")
    stage.results.line(
        "nodes", f"{stage.sizes.backlog:,} runs left to two nodes: {rate:,.0f} steps/s; the smaller share",
        f"{smaller:.0%}", other=f"{lost} lost", target=f"≥ {LEAST_SHARE:.0%}, none lost",
        met=smaller >= LEAST_SHARE and lost == 0,
    )  # fmt: skip
    stage.clear()


def _wait_for(nodes: list[Child], count: int) -> list[int]:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        shares = [node.ask("ended") for node in nodes]
        if sum(shares) >= count:
            return shares
        time.sleep(LOOK_EVERY)
    return [node.ask("ended") for node in nodes]


def _kill(stage: Stage, number: int) -> None:
    """Runs that always have something to do soon, on a node that is killed in the middle of them."""
    url = stage.database()
    database = url.rsplit("/", 1)[1]
    victim = stage.node(url)
    workflow = victim.ask("apply", document=documents.stroll(40, 0.5))
    heir = stage.node(url)
    heir.ask("ended")
    victim.ask("begin", workflow=workflow, count=stage.sizes.strolling, width=WIDTH)
    time.sleep(1.3 + 0.37 * number)
    owned = int(stage.server.query(OPEN, database=database))
    killed = time.time()
    victim.kill()
    lease = Tuning().lease
    on, last = 0, 0.0
    while on < owned and time.time() < killed + lease + 10 * GRACE:
        time.sleep(LOOK_EVERY)
        on, last = _went_on(stage, database, killed)
    took = last - killed
    stage.results.figure("nodes", "kill", owned=owned, went_on=on, seconds=took)
    stage.say("nodes", f"node killed: {on} of its {owned} runs went on, the last after {took:.1f} s")
    stage.results.line(
        "nodes", f"node killed ({number}): {on} of its {owned} runs went on, the last after", f"{took:.1f} s",
        target=f"≤ {lease + GRACE:g} s (lease + {GRACE:g})", met=on == owned and took <= lease + GRACE,
    )  # fmt: skip
    stage.leave(victim)
    heir.kill()
    stage.leave(heir)


def _went_on(stage: Stage, database: str, killed: float) -> tuple[int, float]:
    count, last = stage.server.query(WENT_ON.format(killed=killed), database=database).split()
    return int(count), float(last)
