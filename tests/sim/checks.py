"""The rules that must always hold, looked at from outside the engine at every statement and every effect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from detent.graph.model import Ending, StepKind
from detent.planner.judge import TEMPLATE_ERROR
from detent.run.call import StepCall
from detent.run.journal import Decided, Entry, EntryData, Kind, decode_data
from detent.run.outcomes import Done
from detent.run.state import TIMED, Phase, RunFacts
from detent.run.status import TERMINAL
from detent.store.rows import CallbackState, Claims, End, Flush, Flushed, MessageKind, NewRun, Park, Receipt
from tests.sim.effects import Effect, Ledger
from tests.sim.programs import Program
from tests.sim.store import Database, DatabaseClock
from tests.sim.story import Story

EXECUTED = (StepKind.HTTP, StepKind.ACTION)
#: Failures that no effect stands behind.
WITHOUT_EFFECT = (TEMPLATE_ERROR, "poison", "crashed", "condition_error")
Ownership = tuple[bytes | None, int, str]


class Violation(AssertionError):
    """A rule was broken."""


class Checks:
    """Watches the database's statements and the outside world's effects."""

    def __init__(
        self,
        database: Database,
        clock: DatabaseClock,
        ledger: Ledger,
        programs: dict[bytes, Program],
        count: Callable[[str], None],
    ) -> None:
        self._database, self._model, self._clock, self._ledger = database, database.model, clock, ledger
        self._programs, self._count = programs, count
        self.stories: dict[bytes, Story] = {}
        self.has_jumped = False
        self.on_story: Callable[[Story], None] = lambda story: None

    # -- statements

    def watch(self, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Apply a statement and look at what it did."""
        match verb:
            case "flush":
                return self._flush(args[0], args[1], args[2], kwargs)
            case "claim":
                return self._claim(args, kwargs)
            case "deliver":
                return self._deliver(args[0], args[1], kwargs)
            case "release":
                before = self._ownerships([run for run, _ in args[2]])
                result = self._database.perform(verb, args, kwargs)
                for run, was in before.items():
                    if self._ownership(run) != was:
                        self._count("watchdog gave a run back")
                return result
            case _:
                return self._database.perform(verb, args, kwargs)

    def _ownership(self, run: bytes) -> Ownership:
        row = self._model.table[run]
        return row.owner, row.generation, row.status

    def _ownerships(self, runs: Sequence[bytes]) -> dict[bytes, Ownership]:
        return {run: self._ownership(run) for run in dict.fromkeys(runs) if run in self._model.table}

    def _flush(self, node: bytes, epoch: int, flush: Flush, kwargs: dict[str, Any]) -> Flushed | None:
        touched = _touched(flush)
        before = self._ownerships(touched)
        is_current = self._model.nodes.get(node) == epoch
        seen = sum(len(self._model.entries.get(run, ())) for run in touched) + len(before)
        flushed: Flushed | None = self._database.perform("flush", (node, epoch, flush), kwargs)
        after = self._ownerships(touched)
        changed = seen != sum(len(self._model.entries.get(run, ())) for run in touched) + len(after) or before != after
        if flushed is None:
            self._count("fence refused a flush")
        if not is_current and changed:
            raise Violation("a flush took effect though its node is not registered under that epoch")
        if kwargs.get("again") and flushed is not None and (flush.entries or flush.starts):
            self._count(f"flush repeated: it had {'not ' if changed else ''}been applied")
        for start in flush.starts:
            self._begin_story(start)
        for run in touched:
            if run in self.stories:
                self._look_at(self.stories[run], node, before.get(run), flush)
        self._check_rows(node, flush, before, after)
        return flushed

    def _begin_story(self, start: NewRun) -> None:
        if start.id in self.stories or start.id not in self._model.table:
            return
        program = self._programs[start.workflow]
        facts = RunFacts(
            start.id, start.tenant, program.name, start.input, start.started_at, start.expires_at, lambda step: step
        )
        story = self.stories[start.id] = Story(start, facts, program.prepared)
        story.opened()
        if not start.owned:
            self._count("run started unowned")
        self.on_story(story)

    def _look_at(self, story: Story, node: bytes, before: Ownership | None, flush: Flush) -> None:
        stored = self._model.entries.get(story.row.id, {})
        entries = [stored[seq] for seq in sorted(stored)]
        known = story.entries
        if entries[: len(known)] != known:
            raise Violation("an entry of the journal was changed")
        fresh = entries[len(known) :]
        if fresh:
            owner = before[0] if before is not None else (node if story.row.owned else None)
            if owner != node:
                raise Violation(f"{fresh[0].kind} was journalled by a node that does not own the run")
        for entry in fresh:
            if entry.seq != len(known) + 1:
                raise Violation(f"the journal has entry {entry.seq} after {len(known)}")
            known.append(entry)
            self._entry(story, entry, decode_data(entry.data))

    def _check_rows(
        self, node: bytes, flush: Flush, before: dict[bytes, Ownership], after: dict[bytes, Ownership]
    ) -> None:
        rows: list[Park | End] = [*flush.parks, *flush.ends]
        for row in rows:
            was = before.get(row.run)
            if was is None or was == after[row.run]:
                continue
            if was[:2] != (node, row.generation):
                raise Violation("a run was parked or ended by a node that does not own it any more")
            self._count("run parked" if isinstance(row, Park) else f"run {row.status}")
            if isinstance(row, Park):
                self._check_park(row)
        for run in after:
            self._check_final(run)
        for run, was in before.items():
            owner, generation, _ = after[run]
            if was[2] not in TERMINAL and owner != was[0] and owner is not None:
                raise Violation("a flush gave a run to another node")
            if generation != was[1]:
                raise Violation("a flush changed a run's generation")

    def _check_park(self, park: Park) -> None:
        """Its row is its timer: a parked run is due as soon as it has something to do."""
        story = self.stories[park.run]
        state, names = story.state(), [step.name for step in story.prepared.steps]
        phases = TIMED if state.paused_by is None else (Phase.SLEEPING, Phase.WAITING)
        times = [
            until
            for step, until in state.until.items()
            if until is not None and state.phase[step] in phases and names[step] not in story.accepted
        ]
        if state.facts.expires_at is not None:
            times.append(state.facts.expires_at)
        if state.ready and state.paused_by is None:
            times.append(self._clock.highest())
        if times and (park.wake_at is None or park.wake_at > max(min(times), self._clock.highest())):
            raise Violation(f"a run was parked until {park.wake_at} that has something to do at {min(times)}")

    def _check_final(self, run: bytes) -> None:
        row, story = self._model.table[run], self.stories.get(run)
        if story is None:
            return
        if story.final is not None:
            if story.final != (row.status, row.ended_at, row.output, row.error):
                raise Violation(f"an ended run changed from {story.final} to {row.status}")
        elif not row.is_open():
            story.final = (row.status, row.ended_at, row.output, row.error)
            self._check_end(story, row.status)

    def _check_end(self, story: Story, status: str) -> None:
        state = story.state()
        if str(state.status) != status:
            raise Violation(f"the run ended {status}, and its journal says {state.status}")
        if not story.entries:
            self._count("run ended at its start")
        if any(state.phase[index] is not Phase.ENDED for index in range(len(state.phase))):
            raise Violation("the run ended before its steps")
        for (run, step), callback in self._model.waits.items():
            if run == story.row.id and callback.state in (CallbackState.PENDING, CallbackState.ACTIVE):
                raise Violation(f"the callback of {step} is open though the run has ended")
        if any(mail.run == story.row.id for mail in self._model.inbox.values()):
            raise Violation("an ended run has mail")

    def _claim(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Claims | None:
        node, epoch = args
        is_current = self._model.nodes.get(node) == epoch
        with_mail = {mail.run for mail in self._model.inbox.values()}
        wakes = {run: row.wake_at for run, row in self._model.table.items()}
        orphans = {run for run, row in self._model.table.items() if row.owner is not None}
        claims: Claims | None = self._database.perform("claim", args, kwargs)
        if claims is None:
            self._count("fence refused a claim")
            return None
        if claims.runs and not is_current:
            raise Violation("a node that is not registered under that epoch claimed a run")
        for run in claims.runs:
            wake = wakes[run.id]
            if run.id in orphans:
                self._count("run adopted")
                self.stories[run.id].owes_adoption = True
            elif run.id in with_mail and (wake is None or wake > claims.now + kwargs["horizon"]):
                self._count("run claimed for its mail")
            elif self.stories[run.id].entries or self.stories[run.id].row.wake_at != wake:
                self._count("run woken from its park")
        return claims

    def _deliver(self, run: bytes, step: str, kwargs: dict[str, Any]) -> tuple[Receipt, bool]:
        receipt, repeated = self._database.perform("deliver", (run, step), kwargs)
        story = self.stories.get(run)
        if story is None:
            return receipt, repeated
        if repeated:
            self._count("callback repeated with its message id")
        elif receipt in (Receipt.ACCEPTED, Receipt.EARLY):
            if step in story.accepted:
                raise Violation(f"the callback of {step} was accepted twice")
            if story.final is not None or story.ended.get(step) is Ending.TIMEOUT:
                raise Violation(f"the callback of {step} was accepted after its end")
            story.accepted[step] = kwargs["data"]
            self._count("callback accepted" if receipt is Receipt.ACCEPTED else "callback came early")
        else:
            words = {Receipt.USED: "used twice", Receipt.EXPIRED: "came too late"}
            self._count(f"callback {words[receipt]}" if receipt in words else "early callback refused")
        return receipt, repeated

    # -- entries

    def _entry(self, story: Story, entry: Entry, data: EntryData) -> None:
        if story.final is not None:
            raise Violation(f"{entry.kind} was journalled after the end of the run")
        if story.owes_adoption:
            if entry.kind != Kind.ADOPTED:
                raise Violation(f"an adopted run went on with {entry.kind} before its adoption was journalled")
            story.owes_adoption = False
        if entry.at > self._clock.highest():
            raise Violation(f"{entry.kind} is dated later than the database's time")
        if data.message is not None and data.message in self._model.inbox:
            raise Violation(f"message {data.message} was journalled and is still in the inbox")
        match entry.kind:
            case Kind.ENDED:
                self._ended(story, entry, data)
            case Kind.RECEIVED:
                assert entry.step is not None
                if story.accepted.get(entry.step) != bytes(data.result):
                    raise Violation(f"{entry.step} received what nobody sent")
                story.early[entry.step] = bytes(data.result)
            case Kind.RETRY:
                self._check_effect(story, entry, data)
                self._count("step retried")
            case Kind.ADOPTED:
                self._adopted(story, data)
            case Kind.PAUSED | Kind.RESUMED:
                self._count(f"run {entry.kind}")
        story.note(data.decided or Decided())
        if data.decided and data.decided.skipped:
            self._count("step skipped")
        for name in data.decided.wait if data.decided else ():
            if name in story.early:
                self._count("early callback kept for its wait")

    def _adopted(self, story: Story, data: EntryData) -> None:
        """An adoption ends what its node took down with it; which of them follows from the graph's crash rules."""
        state = story.state()
        for step in story.prepared.steps:
            if state.phase[step.index] is Phase.ENDED and step.name not in story.closed:
                story.closed[step.name] = str(state.ending[step.index])
                error = state.errors.get(step.index)
                code = error.code if error else ""
                if code == "poison":
                    self._count("step poisoned")
                elif code == "crashed":
                    self._count("step failed because its node died")

    def _ended(self, story: Story, entry: Entry, data: EntryData) -> None:
        step, ending = entry.step, Ending(entry.outcome or "")
        assert step is not None
        if step in story.closed:
            raise Violation(f"{step} ended twice: {story.closed[step]} and {ending}")
        for edge in story.prepared.graph.edges:
            if edge.target == step and edge.source not in story.closed:
                raise Violation(f"{step} ended before {edge.source}, which it depends on")
        story.ended[step], story.closed[step] = ending, str(ending)
        kind = story.prepared.steps[story.prepared.numbers[step]].kind
        if kind is StepKind.SLEEP:
            self._check_time(story.sleeps[step], entry)
        elif kind is StepKind.WAIT:
            self._wait_ended(story, entry, data, ending)
        elif kind in EXECUTED:
            self._check_effect(story, entry, data)
            if ending is Ending.TIMEOUT:
                self._count("step timed out")

    def _check_time(self, until: int | None, entry: Entry) -> None:
        if until is None or self._clock.highest() < until:
            raise Violation(f"{entry.step} ended at {entry.at}, before its time {until}")

    def _wait_ended(self, story: Story, entry: Entry, data: EntryData, ending: Ending) -> None:
        step = entry.step or ""
        if ending is Ending.SUCCESS:
            if story.accepted.get(step) != bytes(data.result):
                raise Violation(f"{step} received what nobody sent")
            self._count("callback beat the timeout")
        elif ending is Ending.TIMEOUT:
            if step in story.accepted:
                raise Violation(f"{step} timed out though its callback was accepted")
            self._check_time(story.waits[step], entry)
            self._count("timeout beat the callback")

    def _check_effect(self, story: Story, entry: Entry, data: EntryData) -> None:
        """What the journal says of an attempt is what the outside world saw."""
        if data.error is not None and data.error.code in WITHOUT_EFFECT:
            return
        effect = self._ledger.attempt(story.row.id, entry.step or "", entry.attempt)
        if effect is None:
            raise Violation(f"{entry.step} ended with attempt {entry.attempt}, which was never begun")
        if data.error is None:
            if not isinstance(effect.outcome, Done) or effect.outcome.result != bytes(data.result):
                raise Violation(f"{entry.step} succeeded with what the outside world did not answer")
        elif isinstance(effect.outcome, Done) and data.error.code != "timeout":
            raise Violation(f"{entry.step} failed though its effect succeeded")

    # -- effects

    def effect(self, call: StepCall, node: bytes, generation: int | None) -> Effect:
        """An attempt is about to act on the outside world."""
        effects = self._ledger.of(call.run_id, call.step)
        effect = Effect(call.idempotency_key, call.attempt, node)
        if effects and effects[0].key != effect.key:
            raise Violation(f"{call.step} changed its idempotency key")
        effect.is_stray = not self._has_lease(call, node, generation)
        if not effect.is_stray and self._ledger.attempt(call.run_id, call.step, call.attempt):
            raise Violation(f"attempt {call.attempt} of {call.step} was made twice")
        if effects and effects[-1].node != node:
            self._count("step ran again after a crash")
        effects.append(effect)
        return effect

    def _has_lease(self, call: StepCall, node: bytes, generation: int | None) -> bool:
        row = self._model.table.get(call.run_id)
        if row is None:
            raise Violation(f"{call.step} began before its run was durable")
        if node not in self._model.nodes or (row.owner, row.generation) != (node, generation):
            # Only a database clock that jumps ahead can end a lease that its node is sure of.
            if not self.has_jumped:
                raise Violation(f"{call.step} began on a node that does not own the run")
            self._count("effect by a node that could not know")
            return False
        story = self.stories[call.run_id]
        if story.owes_adoption:
            raise Violation(f"{call.step} began in an adopted run before its adoption was journalled")
        self._check_ready(story, call)
        return True

    def _check_ready(self, story: Story, call: StepCall) -> None:
        """The journal alone, as it is in the database now, says that this attempt may begin."""
        state, index = story.state(), story.prepared.numbers[call.step]
        is_resumed = any(
            mail.run == call.run_id and mail.kind == MessageKind.RESUME for mail in self._model.inbox.values()
        )
        if state.is_over or (state.paused_by is not None and not is_resumed):
            raise Violation(f"{call.step} began though the journal says that the run is {state.status}")
        phase, until = state.phase[index], state.until.get(index)
        is_due = until is not None and until <= self._clock.highest()
        if phase is not Phase.READY and not (phase is Phase.RETRYING and is_due):
            raise Violation(f"{call.step} began though the journal says that it is {phase.name} until {until}")
        if call.attempt != state.attempt_number(index):
            raise Violation(f"{call.step} began as attempt {call.attempt}, not {state.attempt_number(index)}")
        careful = state.stalled >= 2
        if (story.prepared.steps[index].on_record or careful) and state.begun.get(index) != call.attempt:
            raise Violation(f"{call.step} began before its start was journalled")


def _touched(flush: Flush) -> list[bytes]:
    runs = [start.id for start in flush.starts]
    for rows in (flush.entries, flush.parks, flush.ends, flush.activations):
        runs.extend(row.run for row in cast(Sequence[Park], rows))
    return list(dict.fromkeys(runs))
