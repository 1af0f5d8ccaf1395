"""W5b: ten trivial steps on a database that has kept a million finished runs, beside the same on an empty one."""

import time

from bench import documents
from bench.figures import median
from bench.footprint import TABLES
from bench.stage import Stage

STEPS = 10
WIDTH = 1000
SLICE = 100_000
MOST_CHANGE = 0.15
DAY = 86_400_000

# Ids as Detent makes them, spread over the day that ends now, so that they share tables and indexes with new runs.
RUNS = """
insert into run (id, tenant, workflow, version, status, trigger, input, epoch, queue, priority, started_at, ended_at,
                 output)
select old.id, 1, w.id, 1, case when n % 50 = 0 then 'failed' else 'completed' end, 'api',
       '{{"body":{{"order":' || n || '}},"headers":{{}},"query":{{}}}}', 1, 'default', 0, at, at + interval '40 ms',
       '{{"n":9}}'
from (select n, to_timestamp(ms / 1000.0) as at,
             (lpad(to_hex(ms), 12, '0') || '7' || substr(h, 1, 3) || '8' || substr(h, 4, 15))::uuid as id
      from (select n, md5(n::text) as h, ({now} - {day} + n::bigint * {day} / {total})::bigint as ms
            from generate_series({first}, {last}) as n) numbered) old,
     (select id from workflow limit 1) w"""
JOURNAL = """
insert into journal (run, seq, tenant, at, kind, step, attempt, outcome, data)
select r.id, seq, 1, r.started_at + seq * interval '4 ms', 'ended', 's' || (seq - 1), 1, 'success',
       '{{"result":{{"output":{{"n":' || seq - 1 || '}}}},"ms":0.03}}'
from run r, generate_series(1, {steps}) as seq
where r.ended_at is not null and r.id >= '{lowest}'::uuid and r.id < '{highest}'::uuid"""


def measure(stage: Stage) -> None:
    urls = {"empty": stage.database(), "full": stage.database()}
    nodes = {name: stage.node(url) for name, url in urls.items()}
    workflow = documents.chain(STEPS)
    names = {name: node.ask("apply", document=workflow) for name, node in nodes.items()}
    _fill(stage, urls["full"].rsplit("/", 1)[1])
    rates: dict[str, list[float]] = {name: [] for name in nodes}
    width = min(WIDTH, max(stage.sizes.widths))
    for round_ in range(2 * stage.sizes.rounds + 1):
        for name, node in nodes.items():
            facts = node.ask("burst", workflow=names[name], width=width, seconds=stage.sizes.seconds)
            rate = STEPS * facts["done"] / facts["seconds"]
            stage.say("W5b", f"{name}: {rate:,.0f} steps/s")
            if round_:  # the first warms up
                rates[name].append(rate)
                stage.results.figure("W5b", name, **facts)
    changes = [full / empty - 1 for full, empty in zip(rates["full"], rates["empty"], strict=True)]
    stage.results.line(
        "W5b", f"PostgreSQL with {stage.sizes.finished:,} finished runs, beside an empty one",
        f"{median(rates['full']):,.0f} steps/s", other=f"{median(rates['empty']):,.0f} steps/s",
        ratio=f"{median(changes):+.0%}", target=f"≥ -{MOST_CHANGE:.0%}", met=median(changes) > -MOST_CHANGE,
    )  # fmt: skip
    stage.clear()


def _fill(stage: Stage, database: str) -> None:
    total, now, begun = stage.sizes.finished, time.time_ns() // 1_000_000, time.monotonic()
    for first in range(0, total, SLICE):
        last = min(first + SLICE, total) - 1
        stage.server.query(RUNS.format(now=now, day=DAY, total=total, first=first, last=last), database=database)
        low, high = (_id_of(now - DAY + number * DAY // total) for number in (first, last + 1))
        stage.server.query(JOURNAL.format(steps=STEPS, lowest=low, highest=high), database=database)
        stage.say("W5b", f"{last + 1:,} of {total:,} finished runs inserted")
    for table in stage.server.query(TABLES, database=database).splitlines():
        stage.server.query(f"vacuum (analyze) {table}", database=database)
    stage.server.query("checkpoint", database=database)
    stage.say("W5b", f"{total:,} finished runs of {STEPS} steps each in {time.monotonic() - begun:.0f} s")


def _id_of(milliseconds: int) -> str:
    """No run of that time or later has a smaller id."""
    return f"{milliseconds:012x}{0:020x}"
