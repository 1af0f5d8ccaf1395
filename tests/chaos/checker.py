"""Holds what is left against what was promised. Every broken promise is one line of text."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from detent.errors import DetentError
from detent.graph import codec
from detent.ids import RUN, parse
from detent.planner.fold import fold, replay
from detent.planner.moves.code import graph_of
from detent.planner.prepared import Prepared, prepare
from detent.run.journal import Entry, decode_data
from detent.run.state import Phase, RunFacts, RunState
from tests.chaos.evidence import Evidence, Run
from tests.chaos.programs import Program
from tests.chaos.python_checks import PythonChecks, checkpoints_found

TERMINAL = frozenset({"completed", "failed", "cancelled", "timeout"})
ACCEPTED = frozenset({"accepted", "early"})


@dataclass
class Verdict:
    """What was found. `broken` is empty when every promise was kept."""

    broken: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class Checker:
    """One look at the evidence of one campaign."""

    def __init__(self, evidence: Evidence, programs: Mapping[str, Program], releases: int = 0) -> None:
        self._evidence, self._programs, self._releases = evidence, programs, releases
        self._prepared: dict[tuple[bytes, int], Prepared] = {}

    def check(self) -> Verdict:
        """Every promise, one after the other."""
        verdict = Verdict()
        evidence = self._evidence
        verdict.counts["runs"] = len(evidence.runs)
        verdict.counts["entries"] = sum(map(len, evidence.journal.values()))
        kinds = Counter(entry.kind for entries in evidence.journal.values() for entry in entries)
        verdict.counts["adopted"], verdict.counts["moved"] = kinds["adopted"], kinds["moved"]
        verdict.counts["checkpoints"], verdict.counts["beside rows"] = kinds["checkpoint"], len(evidence.beside)
        verdict.counts["python"] = sum(self._program(run).definition is None for run in evidence.runs.values())
        for name, findings in (
            ("lost", self._lost()),
            ("duplicated", self._duplicated()),
            ("leftovers", self._leftovers()),
            ("journal", self._journals()),
            ("effects", self._effects()),
            ("callbacks", self._callbacks()),
            *PythonChecks(evidence, self._programs).findings(),
        ):
            found = [f"{name}: {finding}" for finding in findings]
            verdict.counts[name] = len(found)
            verdict.broken += found
        verdict.counts["hits"] = sum(map(len, evidence.hits.values()))
        verdict.counts["re-executions"] = verdict.counts["hits"] - self._committed_attempts()
        return verdict

    @cached_property
    def _accepted(self) -> dict[int, bytes]:
        return {line["n"]: parse(RUN, line["run"]) for line in self._evidence.clients if line["op"] == "ok"}

    def _program(self, run: Run) -> Program:
        return self._programs[self._evidence.graphs[run.workflow, run.version][0]]

    def _graph(self, run: Run) -> Prepared:
        key = run.workflow, run.version
        if key not in self._prepared:
            self._prepared[key] = prepare(codec.decode(self._evidence.graphs[key][1]))
        return self._prepared[key]

    def _lost(self) -> Iterator[str]:
        """Everything accepted is there, and everything that is there has ended."""
        for number, accepted in self._accepted.items():
            if accepted not in self._evidence.runs:
                yield f"run {number} ({accepted.hex()}) was accepted and is not there"
        for run in self._evidence.runs.values():
            if run.status not in TERMINAL or run.ended_at is None:
                yield f"run {run.number} ({run.id.hex()}) has not ended: {run.status}, owner {run.owner!r}"

    def _duplicated(self) -> Iterator[str]:
        """One run for one start, one result for one step."""
        for number, count in Counter(run.number for run in self._evidence.runs.values()).items():
            if count > 1:
                yield f"start {number} made {count} runs"
        for run, entries in self._evidence.journal.items():
            ended = Counter(entry.step for entry in entries if entry.kind in ("ended", "checkpoint"))
            yield from (f"step {step} of {run.hex()} ended {count} times" for step, count in ended.items() if count > 1)

    def _leftovers(self) -> Iterator[str]:
        """Nothing lies about: no message, no open callback, no owner, no node, no journal without its run."""
        evidence = self._evidence
        if evidence.integrity != "ok":
            yield f"the file is broken: {evidence.integrity}"
        yield from (f"a message of {run.hex()} was left: {kind}" for run, kind in evidence.inbox)
        yield from (f"node {node.hex()} was left" for (node,) in evidence.nodes)
        yield from (f"journal of {run.hex()} without its run" for run in evidence.journal if run not in evidence.runs)
        for run, step, state in evidence.callbacks:
            if run not in evidence.runs or state not in ("received", "expired"):
                yield f"callback {step} of {run.hex()} is {state}"
        yield from (f"run {run.id.hex()} has an owner" for run in evidence.runs.values() if run.owner is not None)

    def _journals(self) -> Iterator[str]:
        """The journal adds up to the row and to what was predicted, step by step, and stops at the end."""
        for run in self._evidence.runs.values():
            try:
                yield from (f"run {run.number} ({run.id.hex()}): {said}" for said in self._journal(run))
            except DetentError as error:
                yield f"run {run.number} ({run.id.hex()}): {error.message}"

    def _journal(self, run: Run) -> Iterator[str]:
        program, prepared = self._program(run), self._graph(run)
        state = _opened(prepared, run)
        for entry in self._evidence.journal.get(run.id, []):
            if state.is_over:
                yield f"entry {entry.seq} ({entry.kind}) comes after the end"
                return
            if entry.kind == "ended" and entry.step is not None:
                phase = state.phase[prepared.numbers[entry.step]]
                if phase in (Phase.PENDING, Phase.ENDED):
                    yield f"step {entry.step} ended while it was {phase.name.lower()}"
            state = replay(prepared, state, entry)
            prepared = graph_of(prepared, state)
        if str(state.status) != run.status:
            yield f"the journal says {state.status}, the row {run.status} ({run.error})"
        if run.status != program.status:
            yield f"it is {run.status} and should be {program.status}: {run.error}"
        for step in prepared.steps:
            ending, wanted = state.ending[step.index], _endings(program, step.name)
            if ending not in wanted:
                yield f"step {step.name} is {ending} and should be {' or '.join(wanted)}"
            if step.name in program.outputs:
                given, wanted_output = _output(state.results.get(step.index)), program.outputs[step.name](run.number)
                if given != wanted_output:
                    yield f"step {step.name} gave {given} and should give {wanted_output}"
        missing = program.endings.keys() - prepared.numbers.keys()
        yield from (f"step {step} is not there any more" for step in missing)
        yield from checkpoints_found(program, state)

    def _effects(self) -> Iterator[str]:
        """The target heard of every step that should reach it and of no other, always with the one key of that step,
        and never twice of the same attempt; whatever was committed, the target had heard of."""
        numbers = {run.number: run for run in self._evidence.runs.values()}
        owners: dict[str | None, set[tuple[int, str]]] = defaultdict(set)
        for (number, step), hits in self._evidence.hits.items():
            if number not in numbers or step not in _possible_effects(self._program(numbers[number])):
                yield f"the target heard of step {step} of run {number}, which it should not"
                continue
            for hit in hits:
                owners[hit.key].add((number, step))
            yield from self._hits(numbers[number], step)
        for key, places in owners.items():
            if len(places) > 1:
                yield f"key {key} was used by {sorted(places)}"
        for run in numbers.values():
            for step in self._program(run).effects:
                if (run.number, step) not in self._evidence.hits:
                    yield f"the target never heard of step {step} of run {run.number}"

    def _hits(self, run: Run, step: str) -> Iterator[str]:
        hits = self._evidence.hits[run.number, step]
        where = f"step {step} of run {run.number} ({run.id.hex()})"
        if len({hit.key for hit in hits}) > 1:
            yield f"{where} used several keys"
        if len({hit.digest for hit in hits}) > 1:
            yield f"{where} sent different things"
        heard = Counter(int(hit.attempt or 0) for hit in hits)
        entries = self._evidence.journal.get(run.id, [])
        crashes = sum(entry.kind == "adopted" for entry in entries)
        # A durable function counts the tries that ended; one that a crash cut short is made again by its number.
        most = 1 + self._releases + (0 if self._program(run).checkpoints is None else crashes)
        yield from (
            f"attempt {number} of {where} was made {count} times" for number, count in heard.items() if count > most
        )
        written = [entry.attempt for entry in entries if entry.step == step and _is_attempt(entry)]
        yield from (f"attempt {number} of {where} was never made" for number in written if number not in heard)
        if len(hits) > len(written) + crashes + self._releases:
            yield f"{where}: {len(hits)} hits, but {len(written)} attempts written and {crashes} crashes"

    def _committed_attempts(self) -> int:
        total = 0
        for run in self._evidence.runs.values():
            effects = _possible_effects(self._program(run))
            entries = self._evidence.journal.get(run.id, [])
            total += sum(entry.step in effects and _is_attempt(entry) for entry in entries)
        return total

    def _callbacks(self) -> Iterator[str]:
        """What was accepted was consumed, once, and it was the first that was accepted."""
        taken: dict[tuple[bytes, str], set[str]] = defaultdict(set)
        for line in self._evidence.clients:
            if line["op"] == "callback" and line["receipt"] in ACCEPTED:
                taken[parse(RUN, line["run"]), line["step"]].add(line["message"])
        for (run, step), messages in taken.items():
            where = f"step {step} of {run.hex()}"
            if len(messages) > 1:
                yield f"{where} accepted {sorted(messages)}"
            consumed = [_message(entry) for entry in self._evidence.journal.get(run, []) if _is_callback(entry, step)]
            if consumed != sorted(messages):
                yield f"{where} accepted {sorted(messages)} and consumed {consumed}"


def _opened(prepared: Prepared, run: Run) -> RunState:
    facts = RunFacts(run.id, 1, "", run.input.encode(), run.started_at, run.expires_at, lambda step: "")
    return fold(prepared, facts, None if run.opening is None else run.opening.encode(), [])


def _is_callback(entry: Entry, step: str) -> bool:
    """A payload is in the journal where it came early, or where it ended its wait."""
    if entry.step != step:
        return False
    return entry.kind == "received" or (entry.kind in ("ended", "checkpoint") and entry.outcome == "success")


def _is_attempt(entry: Entry) -> bool:
    """Whether an attempt of its step has ended. What took a step out of its run was one; a durable function notes a
    try that failed with the time of the next."""
    if entry.kind == "began":
        return entry.attempt > 0
    return entry.kind in ("ended", "retry", "checkpoint", "cancelled")


def _endings(program: Program, step: str) -> tuple[str, ...]:
    return ("success", "skipped") if step in program.optional else (program.endings[step],)


def _possible_effects(program: Program) -> frozenset[str]:
    return program.effects | program.optional


def _output(result: bytes | None) -> Any:
    return json.loads(result or b"{}").get("output")


def _message(entry: Entry) -> str:
    body = json.loads(bytes(decode_data(entry.data).result) or b"{}").get("body") or {}
    return str(body.get("message"))
