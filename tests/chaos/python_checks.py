"""What is promised of workflows written in Python beyond what is promised of all: checkpoints, signals, one run for a
hero at a time, children, and what transactional steps wrote beside."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from detent.ids import RUN, parse
from detent.run.journal import Entry, decode_data
from detent.run.state import RunState
from tests.chaos.evidence import Evidence, Run
from tests.chaos.programs import Program
from tests.servers.target import Hit

Findings = tuple[str, Iterable[str]]
_SURPLUS = re.compile(r"@signal:\w+#\d+")


def checkpoints_found(program: Program, state: RunState) -> Iterator[str]:
    """Every operation of a durable function has ended as it must, and there is no other. A signal whose sender got no
    answer and tried again may be there too."""
    found = {key: str(checkpoint.ending) for key, checkpoint in state.history.items()}
    for key, wanted in (program.checkpoints or {}).items():
        if found.pop(key, None) != wanted:
            yield f"checkpoint {key} is {state.history.get(key)} and should be {wanted}"
    yield from (f"checkpoint {key} should not be there" for key in found if not _SURPLUS.fullmatch(key))


class PythonChecks:
    """One look at the evidence."""

    def __init__(self, evidence: Evidence, programs: Mapping[str, Program]) -> None:
        self._evidence, self._programs = evidence, programs
        self._by_number = {run.number: run for run in evidence.runs.values()}

    def findings(self) -> tuple[Findings, ...]:
        return (
            ("signals", self._signals()),
            ("heroes", self._heroes()),
            ("children", self._children()),
            ("beside", self._beside()),
        )

    def _program(self, run: Run) -> Program:
        return self._programs[self._evidence.graphs[run.workflow, run.version][0]]

    def _signals(self) -> Iterator[str]:
        """What was taken was consumed in the order it was taken, each once, and nothing that nobody sent."""
        sent: dict[tuple[bytes, str], list[str]] = defaultdict(list)
        taken: dict[tuple[bytes, str], list[str]] = defaultdict(list)
        for line in self._evidence.clients:
            if line["op"] in ("signal_sent", "signal"):
                place = parse(RUN, line["run"]), line["name"]
                (sent if line["op"] == "signal_sent" else taken)[place].append(line["data"])
        for (run, name), known in sent.items():
            where, wanted = f"signal {name} of {run.hex()}", taken[run, name]
            consumed = [_data(entry) for entry in self._evidence.journal.get(run, []) if _is_signal(entry, name)]
            if len(set(consumed)) < len(consumed) or not set(consumed) <= set(known):
                yield f"{where}: {known} were sent and {consumed} consumed"
            of_these = [data for data in consumed if data in wanted]
            # What came after the function had all it asked for found nobody.
            enough = len(consumed) >= self._wanted_signals(run, name)
            if of_these != (wanted[: len(of_these)] if enough else wanted):
                yield f"{where}: {wanted} were taken and {of_these} consumed"

    def _wanted_signals(self, run: bytes, name: str) -> int:
        known = self._evidence.runs.get(run)
        return 0 if known is None else self._program(known).signals[name]

    def _heroes(self) -> Iterator[str]:
        """A hero's runs came one after the other, by what the target heard: no run had a first effect of a step before
        the last run of that hero had made its own. And who was turned away started nothing."""
        runs: dict[str, list[tuple[float, float, Run]]] = defaultdict(list)
        for run in self._evidence.runs.values():
            if not self._program(run).heroes:
                continue
            if run.hero is None or run.active_key is None:
                yield f"run {run.number} ({run.id.hex()}) has no hero"
                continue
            firsts = [hits[0].time for step in self._program(run).effects if (hits := self._hits(run, step))]
            if firsts:
                runs[run.hero].append((min(firsts), max(firsts), run))
        for hero, found in runs.items():
            found.sort(key=lambda one: one[0])
            for (_, ended, one), (began, _, other) in pairwise(found):
                if began < ended:
                    yield f"{hero} had runs {one.number} and {other.number} at the same time"
        yield from self._turned_away()

    def _hits(self, run: Run, step: str) -> list[Hit]:
        return self._evidence.hits.get((run.number, step), [])

    def _turned_away(self) -> Iterator[str]:
        for line in self._evidence.clients:
            if line["op"] != "active":
                continue
            if line["n"] in self._by_number:
                yield f"start {line['n']} was turned away and made a run"
            holder = self._evidence.runs.get(parse(RUN, line["run"]))
            if holder is None or holder.hero != line["hero"]:
                yield f"start {line['n']} was turned away by {line['run']}, which is no run of {line['hero']}"

    def _children(self) -> Iterator[str]:
        """A child is of the run whose number it has, and who waited for one had one."""
        for run in self._evidence.runs.values():
            if self._program(run).has_child and -run.number not in self._by_number:
                yield f"run {run.number} ({run.id.hex()}) has no child"
            parent = self._by_number.get(-run.number) if self._program(run).is_child else None
            if run.parent != (None if parent is None else parent.id):
                yield f"run {run.number} ({run.id.hex()}) has a strange parent"

    def _beside(self) -> Iterator[str]:
        """Each transactional step of each run wrote exactly one row."""
        rows = Counter((number, step) for number, step in self._evidence.beside)
        for run in self._evidence.runs.values():
            for step in self._program(run).transactional:
                count = rows.pop((run.number, step), 0)
                if count != 1:
                    yield f"step {step} of run {run.number} ({run.id.hex()}) wrote {count} rows"
        yield from (f"step {step} of run {number} wrote {count} rows" for (number, step), count in rows.items())


def _is_signal(entry: Entry, name: str) -> bool:
    key = entry.step or ""
    return entry.kind == "checkpoint" and key.partition("#")[0] == f"@signal:{name}"


def _data(entry: Entry) -> str:
    return str(json.loads(bytes(decode_data(entry.data).result))["output"])
