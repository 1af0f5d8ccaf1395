"""The minute of chaos that belongs to every full test; `make chaos` is the long form, with the same checks."""

import asyncio
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos.__main__ import judge, on_mariadb, on_postgres, on_sqlite
from tests.chaos.campaign import PROGRAMS, Report
from tests.chaos.checker import Checker
from tests.chaos.evidence import Evidence
from tests.chaos.programs import Program, make_programs, ten_echoes

SEED = 20_261_115


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.case("A3", "B14")
def test_kills_of_the_one_node_on_sqlite_break_no_promise(tmp_path: Path) -> None:
    report = asyncio.run(on_sqlite(15, SEED, tmp_path, print))
    assert judge([report]) == []
    assert report.faults["kill"] >= 10
    assert_worked(report)
    assert_the_checker_can_say_no(tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.case("B1")
def test_kills_stops_and_crashes_of_three_nodes_on_postgresql_break_no_promise(tmp_path: Path) -> None:
    report = asyncio.run(on_postgres(30, SEED, tmp_path, print))
    assert judge([report]) == []
    assert report.faults["kill"] >= 6
    assert report.faults["restart"] >= 4
    assert report.faults["pause"] >= 1
    assert report.recovery, "no kill was followed by enough calm to see how long recovery takes"
    assert_worked(report)
    assert_the_checker_can_say_no(tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_kills_of_two_nodes_and_of_mariadb_break_no_promise(tmp_path: Path) -> None:
    report = asyncio.run(on_mariadb(15, SEED, tmp_path, print))
    assert judge([report]) == []
    assert report.faults["kill"] >= 3
    assert report.faults["restart"] >= 3
    assert report.faults["pause"] >= 1
    assert_worked(report)
    assert_the_checker_can_say_no(tmp_path)


def assert_worked(report: Report) -> None:
    assert report.clients["accepted"] > 200
    assert report.clients["callbacks"] > 20
    assert report.verdict.counts["adopted"] > 0
    assert report.verdict.counts["hits"] > 100
    assert 0 <= report.verdict.counts["re-executions"] < report.verdict.counts["hits"] / 5


def assert_the_checker_can_say_no(folder: Path) -> None:
    """The same evidence with one thing changed must not pass: a check that cannot fail is none."""
    programs: dict[str, Program] = {program.name: program for program in (ten_echoes(), *make_programs(SEED, PROGRAMS))}
    for name, forge in FORGERIES.items():
        evidence: Evidence = pickle.loads((folder / "evidence").read_bytes())
        forge(evidence)
        assert any(line.startswith(f"{name}:") for line in Checker(evidence, programs).check().broken), name


def _lose_a_run(evidence: Evidence) -> None:
    evidence.runs.popitem()


def _repeat_a_result(evidence: Evidence) -> None:
    entries = max(evidence.journal.values(), key=len)
    entries.append(next(entry for entry in entries if entry.kind == "ended"))


def _reopen_a_run(evidence: Evidence) -> None:
    run = next(run for run in evidence.runs.values() if run.status == "completed")
    evidence.runs[run.id] = run._replace(status="failed")


def _repeat_an_effect(evidence: Evidence) -> None:
    hits = next(hits for hits in evidence.hits.values() if len(hits) == 1)
    hits.append(hits[0])


def _consume_another_callback(evidence: Evidence) -> None:
    told = next(line for line in evidence.clients if line["op"] == "callback" and line["receipt"] == "accepted")
    evidence.clients = [*evidence.clients, {**told, "message": "another"}]


def _forget_a_message(evidence: Evidence) -> None:
    evidence.inbox.append((next(iter(evidence.runs)), "callback"))


FORGERIES: dict[str, Callable[[Evidence], None]] = {
    "lost": _lose_a_run,
    "duplicated": _repeat_a_result,
    "journal": _reopen_a_run,
    "effects": _repeat_an_effect,
    "callbacks": _consume_another_callback,
    "leftovers": _forget_a_message,
}
