"""The rules that must always hold, looked at from outside the engine at every statement and every effect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import msgspec

from detent.graph.model import Ending, StepKind
from detent.instant import SECOND
from detent.planner.maps import page_of
from detent.planner.moves.code import prepared_of
from detent.planner.prepared import Prepared
from detent.run.journal import Decided, Entry, EntryData, Kind, decode_data, decode_opening, family_in
from detent.run.state import TIMED, Phase, RunFacts, RunState
from detent.run.status import TERMINAL, Status
from detent.store.overview_rows import AskAnswer
from detent.store.rows import (
    CallbackState,
    ClaimedRun,
    ClaimResult,
    Delivery,
    End,
    Flush,
    Flushed,
    MessageKind,
    NewRun,
    Park,
    Receipt,
    StartCheck,
)
from tests.sim.again_rules import AgainRules
from tests.sim.child_rules import ChildRules
from tests.sim.effect_rules import EffectRules
from tests.sim.effects import Ledger
from tests.sim.flow_rules import FlowRules
from tests.sim.map_rules import MapRules
from tests.sim.programs import Program
from tests.sim.route_rules import RouteRules
from tests.sim.store import Database, DatabaseClock
from tests.sim.story import Story, Violation
from tests.sim.suspect_rules import SuspectRules

EXECUTED = (StepKind.HTTP, StepKind.ACTION)
#: Messages that end waits. They stay in the inbox until the callbacks of these waits are closed.
STOPPING = (MessageKind.CANCEL, MessageKind.FINISH, MessageKind.SKIP)
Ownership = tuple[bytes | None, int, str]


#: The stages that a step in each phase can give its run.
_STAGES: Final[dict[Phase | None, tuple[str, ...]]] = {
    Phase.WAITING: ("waiting",),
    Phase.SLEEPING: ("sleeping",),
    Phase.RETRYING: ("sleeping", "retrying"),
    Phase.CHILD: ("child",),
}


class Checks:
    """Watches the database's statements and the outside world's effects."""

    def __init__(
        self,
        database: Database,
        clock: DatabaseClock,
        ledger: Ledger,
        programs: dict[bytes, Program],
        count: Callable[[str], None],
        suspects: SuspectRules,
    ) -> None:
        self.suspects = suspects
        self._database, self._model, self._clock = database, database.model, clock
        self._programs, self._count = programs, count
        self._others: dict[bytes, Program] = {}
        self.stories: dict[bytes, Story] = {}
        self._archives: dict[bytes, int | None] = {}  # by run, when it was claimed last
        self.routes = RouteRules(ledger, count)
        self._effects = EffectRules(database.model, clock, ledger, self.stories, count, suspects, self.routes)
        self.effect = self._effects.begins
        self._again = AgainRules(self.stories, ledger, count)
        self._flow = FlowRules(ledger, count)
        self.children = ChildRules(database.model, self.stories, count)
        self.maps = MapRules(database.model, self.stories, self.routes, count)
        self.children.on_page, self._effects.on_item = self.maps.check_start, self.maps.check_item
        self.on_start: Callable[[NewRun], None] = lambda start: None
        self.on_story: Callable[[Story], None] = lambda story: None

    def know(self, program: Program) -> None:
        """A workflow that only other runs start."""
        self._others[program.id] = program

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
            case "decide":
                return self._decide(args[0])
            case "deliver_many":
                return [self._deliver_with_others(one) for one in args[0]]
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
        self.children.before(flush)
        self.maps.before()
        seen = sum(len(self._model.entries.get(run, ())) for run in touched) + len(before)
        flushed: Flushed | None = self._database.perform("flush", (node, epoch, flush), kwargs)
        after = self._ownerships(touched)
        changed = seen != sum(len(self._model.entries.get(run, ())) for run in touched) + len(after) or before != after
        if flushed is None:
            self._count("fence refused a flush")
        elif flushed.refused:
            self._count("start was refused by the store")
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
        self.maps.after(is_written=flushed is not None)
        self.children.after(flush, is_written=flushed is not None, is_again=bool(kwargs.get("again")))
        return flushed

    def _begin_story(self, start: NewRun) -> None:
        if start.id in self.stories or start.id not in self._model.table:
            return
        self._check_start(start)
        program = self._programs.get(start.workflow) or self._others[start.workflow]
        facts = RunFacts(
            start.id, start.tenant, program.name, start.input, start.started_at, start.expires_at, lambda step: step
        )
        saved = self._model.saved[start.workflow]

        def look_up(version: int) -> Prepared:
            return prepared_of(saved.versions[version][0].graph)

        prepared, family = look_up(start.version), family_in(start.opening)
        if family is not None and family.page is not None:
            if family.page.step not in prepared.numbers:
                raise Violation(f"a page was started with version {start.version}, which has no {family.page.step}")
            prepared = page_of(prepared, family.page)
        story = self.stories[start.id] = Story(start, facts, prepared, look_up=look_up)
        story.opened()
        if not start.owned:
            self._count("run started unowned")
        self.on_story(story)

    def _check_start(self, start: NewRun) -> None:
        """What a start promises, when it has just been written."""
        key = (start.tenant, start.request_id)
        same = [story for story in self.stories.values() if (story.row.tenant, story.row.request_id) == key]
        if start.request_id is not None and same:
            raise Violation(f"two runs have the request id {start.request_id!r}")
        self._check_key(start)
        saved = self._model.saved[start.workflow]
        is_current = start.version == saved.version and saved.new.enabled and saved.status == "active"
        if start.check is StartCheck.CURRENT and not is_current:
            raise Violation("a run of a version that is not the current one was started")
        self.on_start(start)
        if start.status == Status.PENDING:
            self._count("run started for later")
        if start.origin is not None:
            self._count(f"run started again: {start.origin_kind}")

    def _check_key(self, start: NewRun) -> None:
        """Of one active key there is one open run; and every run about somebody has one."""
        if start.hero_type is not None and start.active_key is None:
            raise Violation("a run of a workflow that allows one per hero has no active key")
        rows = self._model.table.values()
        key = (start.tenant, start.active_key)
        holders = [row.new.id for row in rows if (row.new.tenant, row.new.active_key) == key and row.is_open()]
        if start.active_key is not None and [run for run in holders if run != start.id]:
            raise Violation(f"two open runs have the active key {start.active_key}")

    def _look_at(self, story: Story, node: bytes, before: Ownership | None, flush: Flush) -> None:
        stored = self._model.entries.get(story.row.id, {})
        entries = [stored[seq] for seq in sorted(stored)]
        known = story.entries
        if entries[: len(known)] != known:
            raise Violation("an entry of the journal was changed")
        fresh = entries[len(known) :]
        if fresh and before is not None and before[0] != node:
            raise Violation(f"{fresh[0].kind} was journalled by a node that does not own the run")
        for entry in fresh:
            if entry.seq != len(known) + 1:
                raise Violation(f"the journal has entry {entry.seq} after {len(known)}")
            known.append(entry)
            try:
                data = decode_data(entry.data)
            except msgspec.DecodeError as error:
                raise Violation(f"{entry.kind} was journalled with data that cannot be read: {error}") from None
            self._entry(story, entry, data)

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
            if isinstance(row, Park) and row.kept:
                continue  # its node goes on with it
            self._count("run parked" if isinstance(row, Park) else f"run {row.status}")
            if isinstance(row, Park):
                self._check_park(row)
                self.stories[row.run].parks += 1
                self.suspects.parked(self.stories[row.run])
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
        if story.prepared.steps[0].kind is StepKind.FUNCTION:
            return  # when its function is called again is not in the journal
        state, names = story.state(), [step.name for step in story.prepared.steps]
        phases = TIMED if state.paused_by is None else (Phase.SLEEPING, Phase.WAITING, Phase.CHILD)
        if any(mail.run == park.run and mail.kind in STOPPING for mail in self._model.inbox.values()):
            phases = [phase for phase in phases if phase is not Phase.WAITING]  # the message makes the run due
        begun = state.child_of.keys() | state.maps.keys()
        times = [
            until
            for step, until in state.until.items()
            if until is not None
            and state.phase[step] in phases
            and names[step] not in story.accepted
            # The answer to another one of several waits is in the inbox, and makes the run due.
            and not any(names[other] in story.accepted for other in story.prepared.races.get(step, ()))
            and (step not in begun or state.phase[step] is Phase.CHILD or until > self._clock.highest())
        ]
        if state.facts.expires_at is not None:
            times.append(state.facts.expires_at)
        if state.opens_at is not None and state.paused_by is None:
            times.append(state.opens_at)
        if state.paused_by is None:
            ready = [child for index, child in state.child_of.items() if state.phase[index] is Phase.READY]
            times += [child.until for child in ready if child.until is not None]
        # After an adoption, the journal alone does not say that a step has looked for its child and waits for it.
        if state.ready.keys() - begun and state.paused_by is None:
            times.append(self._clock.highest())
        if times and (park.wake_at is None or park.wake_at > max(min(times), self._clock.highest())):
            raise Violation(f"a run was parked until {park.wake_at} that has something to do at {min(times)}")
        self._check_stage(park, story, state)

    def _check_stage(self, park: Park, story: Story, state: RunState) -> None:
        """Lists show what a run waits for by its row alone: the row must say what the journal says."""
        waiting = [index for index, phase in enumerate(state.phase) if phase in _STAGES]
        if state.status is Status.PAUSED:
            right = park.stage == ("uncertain" if state.paused_by == "uncertain" and state.doubts else "paused")
        elif park.stage in (None, "queued"):
            is_due = park.wake_at is not None and park.wake_at <= self._clock.highest() + SECOND * 60
            right = is_due or state.opens_at is not None or not waiting
        else:
            index = story.prepared.numbers.get(park.stage_step or "")
            phase = None if index is None else state.phase[index]
            is_child = index in state.child_of or index in state.maps
            right = park.stage in _STAGES.get(phase, ()) or (park.stage == "child" and is_child)
            right = right and (park.stage == "waiting" or Phase.WAITING not in state.phase)
        if not right:
            phases = [(story.prepared.steps[index].name, state.phase[index].name) for index in waiting]
            raise Violation(f"a run was parked as {park.stage} at {park.stage_step}, and its journal has {phases}")

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
        self.routes.check_end(story, status)
        for step in story.answered:
            if story.closed.get(step) != Ending.SUCCESS:
                raise Violation(f"the callback of {step} was accepted, and it ended {story.closed.get(step)}")
        for (run, step), callback in self._model.waits.items():
            if run == story.row.id and callback.state in (CallbackState.PENDING, CallbackState.ACTIVE):
                raise Violation(f"the callback of {step} is open though the run has ended")
        if any(mail.run == story.row.id for mail in self._model.inbox.values()):
            raise Violation("an ended run has mail")

    def _claim(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ClaimResult | None:
        node, epoch = args
        is_current = self._model.nodes.get(node) == epoch
        with_mail = {mail.run for mail in self._model.inbox.values()}
        wakes = {run: row.wake_at for run, row in self._model.table.items()}
        orphans = {run for run, row in self._model.table.items() if row.owner is not None}
        claims: ClaimResult | None = self._database.perform("claim", args, kwargs)
        if claims is None:
            self._count("fence refused a claim")
            return None
        if claims.runs and not is_current:
            raise Violation("a node that is not registered under that epoch claimed a run")
        for run in claims.runs:
            wake = wakes[run.id]
            self._archives[run.id] = self._archive_of(run, claims.now + kwargs["horizon"])
            if run.id in orphans:
                self._count("run adopted")
                self.stories[run.id].owes_adoption = True
            elif run.id in with_mail and (wake is None or wake > claims.now + kwargs["horizon"]):
                self._count("run claimed for its mail")
            elif self.stories[run.id].entries or self.stories[run.id].row.wake_at != wake:
                self._count("run woken from its park")
        return claims

    def _archive_of(self, run: ClaimedRun, until: int) -> int | None:
        """The archive that a run must not begin in, if it was claimed because its time has come."""
        saved, begins = self._model.saved[run.workflow], decode_opening(self.stories[run.id].row.opening).start
        is_archived = saved.status == "archived" and begins is not None and begins <= until
        return saved.updated_at if is_archived else None

    def _deliver(self, run: bytes, step: str, kwargs: dict[str, Any]) -> tuple[Receipt, bool]:
        receipt, repeated = self._database.perform("deliver", (run, step), kwargs)
        story = self.stories.get(run)
        if story is None:
            return receipt, repeated
        if receipt is Receipt.ASKS:  # an API checks the answer, and knows which other waits it ends
            races = story.prepared.races.get(story.prepared.numbers[step], ())
            others = tuple(story.prepared.steps[one].name for one in races)
            checked = AskAnswer(run, step, kwargs["data"], kwargs["message_id"], others=others)
            return self._decide(checked) or Receipt.ASKS, False
        place = (step, kwargs["message_id"] or "")
        if repeated:
            self._count("callback repeated with its message id")
            if story.receipts.get(place) != receipt:
                raise Violation(f"a repeated callback was answered {receipt}, and {story.receipts.get(place)} before")
        elif receipt in (Receipt.ACCEPTED, Receipt.EARLY):
            if step in story.accepted:
                raise Violation(f"the callback of {step} was accepted twice")
            if story.final is not None or story.ended.get(step) is Ending.TIMEOUT:
                raise Violation(f"the callback of {step} was accepted after its end")
            if step in story.closed:
                raise Violation(f"the callback of {step} was accepted though the step had ended {story.closed[step]}")
            if receipt is Receipt.ACCEPTED:
                story.answered[step] = None
            story.accepted[step], story.receipts[place] = kwargs["data"], receipt
            self._count("callback accepted" if receipt is Receipt.ACCEPTED else "callback came early")
        else:
            words = {Receipt.USED: "used twice", Receipt.EXPIRED: "came too late"}
            self._count(f"callback {words[receipt]}" if receipt in words else "early callback refused")
        return receipt, repeated

    def _decide(self, answer: AskAnswer) -> Receipt | None:
        receipt: Receipt | None = self._database.perform("decide", (answer,), {})
        story = self.stories.get(answer.run)
        if story is None or receipt is None:
            return receipt
        if answer.step in story.accepted or answer.step in story.closed or story.final is not None:
            raise Violation(f"an answer to {answer.step} was accepted after its end")
        if any(other in story.accepted for other in answer.others):
            raise Violation(f"answers to {answer.step} and to another wait of its race were accepted")
        if receipt is Receipt.ACCEPTED:
            story.answered[answer.step] = None
        story.accepted[answer.step] = answer.data
        story.receipts[answer.step, answer.message_id or ""] = receipt
        self._count("answer to one of several waits accepted")
        return receipt

    def _deliver_with_others(self, one: Delivery) -> Receipt | None:
        given = {"data": one.data, "message_id": one.message_id}
        receipt, repeated = self._deliver(one.run, one.step, given)
        is_taken = not repeated and receipt in (Receipt.ACCEPTED, Receipt.EARLY)
        if is_taken:
            self._count("callback received in a batch")
        return receipt if is_taken else None

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
        self._flow.before(story, entry, data)
        again = story.note(data.decided or Decided())
        if again:
            raise Violation(f"decided again: {', '.join(again)}")
        is_of_child = self.children.entry(story, entry, data) or self.maps.entry(story, entry, data)
        match entry.kind:
            case Kind.ENDED:
                self._ended(story, entry, data)
            case _ if is_of_child or story.prepared.steps[0].kind is StepKind.FUNCTION:
                pass  # they have rules of their own
            case Kind.RECEIVED:
                assert entry.step is not None
                if story.accepted.get(entry.step) != bytes(data.result):
                    raise Violation(f"{entry.step} received what nobody sent")
                story.early[entry.step] = bytes(data.result)
            case Kind.RETRY if data.released:
                pass
            case Kind.RETRY if data.probe is not None:
                self._effects.check_probe(story, entry, data)
            case Kind.RETRY if self._flow.is_of_people(story, entry, data) or self._flow.is_of_step(story, entry, data):
                pass
            case Kind.RETRY:
                self._effects.check_entry(story, entry, data)
                self._effects.check_retry(story, entry, data)
                self._count("step retried")
            case Kind.OPENED:
                self._opened(story, entry)
            case Kind.REUSED:
                self._again.check_reused(story, entry, data)
            case Kind.PAUSED | Kind.RESUMED | Kind.CANCELLED:
                self._flow.is_of_step(story, entry, data)
                self._count(f"run {entry.kind}")
        ended = story.close_steps()
        for index in ended:
            lost = story.prepared.steps[index].name
            is_over = story.state().is_over
            if index in story.prepared.races and story.closed[lost] == Ending.CANCELLED and not is_over:
                self._count("wait or sleep lost a race")
                if lost in story.accepted:
                    raise Violation(f"{lost} lost its race though its answer was accepted")
        if entry.kind == Kind.NOTED and data.reminder is not None:
            self._reminded(story, entry, data.reminder)
        self.suspects.entry(story, entry, data)
        if entry.kind == Kind.ADOPTED:
            self._count_crashed(story, ended)
        if data.decided and data.decided.skipped:
            self._count("step skipped")
        for name in data.decided.wait if data.decided else ():
            if name in story.early:
                self._count("early callback kept for its wait")

    def _reminded(self, story: Story, entry: Entry, number: int) -> None:
        """A wait reminds by its agenda: each reminder once, in its time, and while the wait is open."""
        assert entry.step is not None
        if entry.step in story.closed:
            raise Violation(f"{entry.step} reminded after its end")
        if number in story.reminded.setdefault(entry.step, []):
            raise Violation(f"{entry.step} sent its reminder {number} twice")
        story.reminded[entry.step].append(number)
        index = story.prepared.numbers[entry.step]
        agenda = story.prepared.steps[index].agenda
        note = None if agenda is None else agenda.note(story.state().since[index], len(story.reminded[entry.step]) - 1)
        if note is None or note.reminder != number or note.at > self._clock.highest():
            raise Violation(f"{entry.step} reminded at {entry.at} by number {number}, and {note} was to come")
        self._count("reminder of an open wait")

    def _count_crashed(self, story: Story, ended: list[int]) -> None:
        state = story.state()
        errors = state.errors
        if Phase.UNCERTAIN in state.phase:
            self._count("step is uncertain after a crash")
        words = {"poison": "step poisoned", "crashed": "step failed because its node died"}
        for step in ended:
            error = errors.get(step)
            if error is not None and error.code in words:
                self._count(words[error.code])

    def _ended(self, story: Story, entry: Entry, data: EntryData) -> None:
        step, ending = entry.step, Ending(entry.outcome or "")
        assert step is not None
        if step in story.closed:
            raise Violation(f"{step} ended twice: {story.closed[step]} and {ending}")
        for edge in story.prepared.graph.edges:
            if edge.target == step and edge.source not in story.closed:
                raise Violation(f"{step} ended before {edge.source}, which it depends on")
        story.ended[step], story.closed[step] = ending, str(ending)
        story.results[step] = bytes(data.result)
        prepared = story.prepared.steps[story.prepared.numbers[step]]
        kind = prepared.kind
        if kind is StepKind.SUBWORKFLOW or prepared.items is not None:
            return  # it has rules of its own
        if data.probe is not None:
            self._effects.check_probe(story, entry, data)
            return
        if self._flow.is_of_people(story, entry, data) or self._flow.is_of_step(story, entry, data):
            return
        if data.by is not None:
            self._resolved(story, step)
            return
        if kind is StepKind.SLEEP:
            self._check_time(story.sleeps[step], entry)
        elif kind is StepKind.WAIT:
            self._wait_ended(story, entry, data, ending)
        elif kind in EXECUTED:
            self._effects.check_entry(story, entry, data)
            if ending is Ending.TIMEOUT:
                self._count("step timed out")

    def _resolved(self, story: Story, step: str) -> None:
        """A person said how it ended, which only counts where nobody knew."""
        if story.state_before().phase[story.prepared.numbers[step]] is not Phase.UNCERTAIN:
            raise Violation(f"a person ended {step}, of which nothing was uncertain")
        self._count("uncertain step resolved")

    def _opened(self, story: Story, entry: Entry) -> None:
        begins = decode_opening(story.row.opening).start
        if begins is None or begins > min(entry.at, self._clock.highest()):
            raise Violation(f"a run that was to begin at {begins} was opened at {entry.at}")
        saved, archive = self._model.saved[story.row.workflow], self._archives.get(story.row.id)
        if archive is not None and (saved.status, saved.updated_at) == ("archived", archive):
            raise Violation("a run of a workflow that was archived before it was claimed began")
        if story.row.origin is not None:
            self._again.check_opened(story)  # it was not postponed: it begins in the flush of its start
            return
        if saved.status == "archived" and saved.updated_at <= begins and not self._clock.has_gone_back:
            raise Violation("a run of a workflow that was archived before its time began")
        self._count("run opened at its time")

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
            if self._was_closed_by_a_dead_node(story, entry):
                self._count("wait closed by a node that died")
                return
            self._check_time(story.waits[step], entry)
            self._count("timeout beat the callback")

    def _was_closed_by_a_dead_node(self, story: Story, entry: Entry) -> bool:
        """Its callback was closed because code stopped the run, and the node died: the adoption ends the wait."""
        before = [one for one in story.entries if one.seq < entry.seq]
        while before and before[-1].outcome == Ending.TIMEOUT:
            before.pop()
        return bool(before) and before[-1].kind == Kind.ADOPTED


def _touched(flush: Flush) -> list[bytes]:
    runs = [start.id for start in flush.starts]
    for rows in (flush.entries, flush.parks, flush.ends, flush.activations):
        runs.extend(row.run for row in cast(Sequence[Park], rows))
    return list(dict.fromkeys(runs))
