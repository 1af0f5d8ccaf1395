"""The benchmark runs, and its numbers can be true. Tiny sizes: nothing here says how fast anything is."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from bench.__main__ import works_of
from bench.figures import p50, p99
from bench.footprint import Footprint
from bench.results import Results, machine_facts
from bench.sizes import Sizes
from bench.stage import Stage
from bench.table import show
from bench.works import WORKS
from bench.works.idle import count_statements
from tests.servers.postgres import PostgresServer

JOURNALS = """
select count(*) filter (where entries = 10), count(*) filter (where entries <> 10)
from (select (select count(*) from journal j where j.run = r.id) as entries from run r) counted"""
TINY = Sizes(
    seconds=0.2,
    rounds=1,
    widths=(20,),
    http_widths=(8,),
    latencies=10,
    fans=2,
    wide=(200,),
    long=200,
    answers=9_000,
    naps=20,
    nap_seconds=(0.5,),
    asleep=100,
    finished=500,
    backlog=100,
    kills=0,
    idle=0.5,
)


@pytest.fixture(scope="module")
def stage_for_all(postgres: PostgresServer) -> Iterator[Stage]:
    with Stage(TINY, Console(file=io.StringIO()), with_peer=False, server=postgres) as stage:
        yield stage


@pytest.fixture
def stage(stage_for_all: Stage) -> Stage:
    stage_for_all.results = Results()
    return stage_for_all


@pytest.mark.slow
def test_ten_steps_are_counted_once_on_both_stores_and_the_floor(stage: Stage) -> None:
    WORKS["W1"](stage)
    bursts = {one["side"]: one for one in stage.results.figures if "done" in one}
    assert set(bursts) == {"detent PostgreSQL", "detent SQLite", "detent MariaDB"}
    for facts in bursts.values():
        assert facts["entries"] == 10 * facts["done"] == 10 * facts["ends"]
        assert 1.0 <= facts["rows"] <= 1.2, "a step is one journal row, and a tenth of a run's"
        assert facts["cpu"] > 0
    floors = [one for one in stage.results.figures if one["side"].startswith("floor")]
    assert len(floors) == 2
    assert all(one["steps"] > 0 for one in floors)
    latencies = [one for one in stage.results.figures if one["side"].startswith("latency")]
    assert all(0 < one["p50"] <= one["p99"] and 0 < one["in_commits"] < 1 for one in latencies)


@pytest.mark.slow
def test_the_statements_of_an_idle_node_are_counted_in_the_log_of_the_database(stage: Stage) -> None:
    WORKS["W0"](stage)
    [facts] = stage.results.figures
    assert facts["connections"] > 0
    assert facts["statements"] > 0
    assert len(stage.results.lines) == 5


def test_each_execution_in_a_log_counts_once_and_those_of_other_databases_do_not() -> None:
    log = (
        "shop LOG:  statement: BEGIN\n"
        "shop LOG:  execute __asyncpg_1__: -- claim\n\tselect 1\n\tfrom run\n"
        "postgres LOG:  statement: select 2\n"
        "shop LOG:  execute __asyncpg_1__: -- claim\n\tselect 1\n\tfrom run\n"
        "shop DETAIL:  parameters\n"
    )
    assert count_statements(log) == {"BEGIN": 1, "select 1 from run": 2}


@pytest.mark.slow
def test_http_steps_are_answered_and_sleeps_end_on_time(stage: Stage) -> None:
    WORKS["W3"](stage)
    assert all(one["done"] > 0 for one in stage.results.figures)
    WORKS["W5"](stage)
    sleeps = [one for one in stage.results.figures if "lost" in one]
    assert [(one["early"], one["lost"]) for one in sleeps] == [(0, 0), (0, 0)]
    assert all(0 <= one["p50"] <= one["p99"] for one in sleeps)


@pytest.mark.slow
def test_every_start_and_every_callback_over_http_is_answered_and_leads_to_a_run_that_ends(stage: Stage) -> None:
    WORKS["W4"](stage)
    sides = [(one["work"], one["side"]) for one in stage.results.figures]
    assert sides == [(work, f"Detent on {name}") for work in ("W4", "W4c") for name in ("PostgreSQL", "SQLite")]
    assert all(0 < one["p50"] <= one["p99"] for one in stage.results.figures)


@pytest.mark.slow
def test_finished_runs_are_inserted_as_detent_keeps_them(stage: Stage) -> None:
    WORKS["W5b"](stage)
    full = stage.databases[-1].rsplit("/", 1)[1]
    assert stage.server.query("select count(*) from run where status = 'failed'", database=full) == "10"
    complete, other = stage.server.query(JOURNALS, database=full).split("|")
    assert int(complete) > 500
    assert other == "0", "an old run has the journal of a new one"


@pytest.mark.slow
def test_two_nodes_end_every_run_of_a_door(stage: Stage) -> None:
    WORKS["nodes"](stage)
    assert "0 lost" in stage.results.lines[0].other


def test_a_file_and_a_table_hold_every_line(tmp_path: Path) -> None:
    results = Results(facts=machine_facts() | {"at": 0, "peer": "3", "postgres": "18", "sqlite": "3"})
    results.line("W1", "steps", "3 steps/s", other="1 step/s", ratio="3x", target="≥ 2x", met=True)
    results.line("W2", "join", "90 ms", target="≤ 25 ms", met=False)
    shown = io.StringIO()
    show(results, Console(file=shown, width=150))
    for text in ("3 steps/s", "≥ 2x", "met", "90 ms", "missed", "1 of 2 targets met"):
        assert text in shown.getvalue()
    assert [line["work"] for line in json.loads(results.write(tmp_path).read_text())["lines"]] == ["W1", "W2"]


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(value) for value in range(101)]
    assert (p50(values), p99(values)) == (50.0, 99.0)
    assert p99([7.0]) == 7.0


def test_a_footprint_is_shared_out_over_steps() -> None:
    assert Footprint(22, 400, 100, 60).per(20) == Footprint(1.1, 20, 5, 3)


def test_works_are_chosen_by_name_in_any_case() -> None:
    assert works_of("w1, w2B") == ["W1", "W2b"]
    with pytest.raises(Exception, match="there is no work 'w9'"):
        works_of("w9")
