"""The chaos that belongs to every full test: so many faults and so much work. `make chaos` is the long form, with the
same checks, and with a limit on the time a recovery takes."""

import asyncio
import math
import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from detent.ids import RUN, parse
from detent.run.journal import Entry
from tests.chaos.__main__ import Amount, judge, on_mariadb, on_postgres, on_sqlite
from tests.chaos.campaign import Report, all_programs
from tests.chaos.checker import Checker
from tests.chaos.evidence import Evidence

SEED = 20_261_115
#: Other tests keep the machine busy meanwhile, so how long a recovery takes is judged by `make chaos` only.
PATIENCE = math.inf
WORK = Counter({"accepted": 250, "python": 80, "callbacks": 30, "signals": 15, "turned away": 1})


@pytest.mark.slow
@pytest.mark.case("A3", "B14")
def test_kills_of_the_one_node_on_sqlite_break_no_promise(tmp_path: Path) -> None:
    report = asyncio.run(on_sqlite(Amount(Counter(kill=10), work=WORK, rate=40), SEED, tmp_path, print))
    assert judge([report], recovery=PATIENCE) == []
    assert report.faults["kill"] >= 10
    assert_worked(report)
    assert_the_checker_can_say_no(report, tmp_path)


@pytest.mark.slow
@pytest.mark.case("B1")
def test_kills_stops_and_crashes_of_three_nodes_on_postgresql_break_no_promise(tmp_path: Path) -> None:
    report = asyncio.run(
        on_postgres(Amount(Counter(kill=4, restart=2, pause=1), work=WORK, rate=40), SEED, tmp_path, print)
    )
    assert judge([report], recovery=PATIENCE) == []
    assert report.faults["kill"] >= 4
    assert report.faults["restart"] >= 2
    assert report.faults["pause"] >= 1
    assert_worked(report)
    assert_the_checker_can_say_no(report, tmp_path)


@pytest.mark.slow
@pytest.mark.case("A3")
def test_kills_of_two_nodes_and_of_mariadb_break_no_promise(tmp_path: Path) -> None:
    report = asyncio.run(
        on_mariadb(Amount(Counter(kill=3, restart=3, pause=1), work=WORK, rate=40), SEED, tmp_path, print)
    )
    assert judge([report], recovery=PATIENCE) == []
    assert report.faults["kill"] >= 3
    assert report.faults["restart"] >= 3
    assert report.faults["pause"] >= 1
    assert_worked(report)
    assert_the_checker_can_say_no(report, tmp_path)


def assert_worked(report: Report) -> None:
    assert report.clients["accepted"] > 200
    assert report.clients["callbacks"] > 20
    assert report.verdict.counts["adopted"] > 0
    assert report.verdict.counts["hits"] > 100
    assert report.verdict.counts["python"] > 60
    assert report.verdict.counts["checkpoints"] > 60
    assert report.clients["turned away"] > 0
    assert report.clients["signals"] > 10
    assert 0 <= report.verdict.counts["re-executions"] < report.verdict.counts["hits"] / 2


def assert_the_checker_can_say_no(report: Report, folder: Path) -> None:
    """The same evidence with one thing changed must not pass: a check that cannot fail is none."""
    programs = {program.name: program for program in all_programs(report.orders.store, SEED)}
    for name, forge in FORGERIES:
        evidence: Evidence = pickle.loads((folder / "evidence").read_bytes())
        forge(evidence)
        broken = Checker(evidence, programs).check().broken
        assert any(line.startswith(f"{name}:") for line in broken), forge.__name__


def _lose_a_run(evidence: Evidence) -> None:
    del evidence.runs[next(parse(RUN, line["run"]) for line in evidence.clients if line["op"] == "ok")]


def _lose_a_child(evidence: Evidence) -> None:
    del evidence.runs[next(run.id for run in evidence.runs.values() if run.parent is not None)]


def _repeat_a_result(evidence: Evidence) -> None:
    entries = max(evidence.journal.values(), key=len)
    entries.append(next(entry for entry in entries if entry.kind == "ended"))


def _reopen_a_run(evidence: Evidence) -> None:
    run = next(run for run in evidence.runs.values() if run.status == "completed")
    evidence.runs[run.id] = run._replace(status="failed")


def _repeat_an_effect(evidence: Evidence) -> None:
    hits = next(hits for (_, step), hits in evidence.hits.items() if len(hits) == 1 and step == "s1")
    hits.append(hits[0])


def _consume_another_callback(evidence: Evidence) -> None:
    told = next(line for line in evidence.clients if line["op"] == "callback" and line["receipt"] == "accepted")
    evidence.clients = [*evidence.clients, {**told, "message": "another"}]


def _forget_a_message(evidence: Evidence) -> None:
    evidence.inbox.append((next(iter(evidence.runs)), "callback"))


def _of_a_function(evidence: Evidence) -> list[Entry]:
    """A journal that ends with a checkpoint and the end of its run."""
    return next(entries for entries in evidence.journal.values() if [e.kind for e in entries[-2:-1]] == ["checkpoint"])


def _repeat_a_checkpoint(evidence: Evidence) -> None:
    entries = _of_a_function(evidence)
    entries.insert(0, entries[-2])


def _lose_a_checkpoint(evidence: Evidence) -> None:
    entries = _of_a_function(evidence)
    del entries[-2]
    entries[-1] = entries[-1]._replace(seq=entries[-1].seq - 1)


def _tell_something_else(evidence: Evidence) -> None:
    hits = next(hits for (_, step), hits in evidence.hits.items() if step == "last")
    hits.append(replace(hits[0], digest="another"))


def _hurry_a_courier(evidence: Evidence) -> None:
    """Let the last run of the busiest courier have begun before his first."""
    left = [run for run in evidence.runs.values() if evidence.hits.get((run.number, "leave"))]
    [(busiest, _)] = Counter(run.hero for run in left).most_common(1)
    runs = [run for run in left if run.hero == busiest]
    last = max(runs, key=lambda run: evidence.hits[run.number, "leave"][0].time)
    hits = evidence.hits[last.number, "leave"]
    hits[0] = replace(hits[0], time=0.0)


def _swap_signals(evidence: Evidence) -> None:
    taken = [line for line in evidence.clients if line["op"] == "signal"]
    first = next(line for line in taken if sum(line["run"] == other["run"] for other in taken) == 2)
    others = [line for line in evidence.clients if line is not first]
    evidence.clients = [*others, first]


def _give_a_child_away(evidence: Evidence) -> None:
    child = next(run for run in evidence.runs.values() if run.parent is not None)
    evidence.runs[child.id] = child._replace(parent=child.id)


def _write_beside_twice(evidence: Evidence) -> None:
    evidence.beside.append(evidence.beside[0] if evidence.beside else (1, "debit"))


FORGERIES: list[tuple[str, Callable[[Evidence], None]]] = [
    ("lost", _lose_a_run),
    ("duplicated", _repeat_a_result),
    ("duplicated", _repeat_a_checkpoint),
    ("journal", _reopen_a_run),
    ("journal", _lose_a_checkpoint),
    ("effects", _repeat_an_effect),
    ("effects", _tell_something_else),
    ("callbacks", _consume_another_callback),
    ("leftovers", _forget_a_message),
    ("signals", _swap_signals),
    ("heroes", _hurry_a_courier),
    ("children", _give_a_child_away),
    ("children", _lose_a_child),
    ("beside", _write_beside_twice),
]
