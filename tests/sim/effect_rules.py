"""The rules of effects: begun only by the run's owner, when the journal says so, and journalled as they happened."""

from __future__ import annotations

from collections.abc import Callable

from detent.instant import micros
from detent.planner.judge import TEMPLATE_ERROR
from detent.run.call import StepCall
from detent.run.journal import Entry, EntryData, ProbeAnswer
from detent.run.links import CONFLICT
from detent.run.outcomes import Done, Fail
from detent.run.state import Phase
from detent.store.rows import MessageKind
from detent.values.blob import named_blobs
from tests.sim.effects import Effect, Ledger
from tests.sim.route_rules import RouteRules
from tests.sim.store import DatabaseClock, ModelStore
from tests.sim.story import Story, Violation
from tests.sim.suspect_rules import SuspectRules

#: Failures that no effect stands behind.
WITHOUT_EFFECT = (TEMPLATE_ERROR, "poison", "crashed", "condition_error", "did_not_happen")


#: What lets a paused run go on.
GETS_GOING = (MessageKind.RESUME, MessageKind.SKIP, MessageKind.REATTEMPT)


class EffectRules:
    """Looks at every effect as it begins, and at every entry that tells of one."""

    def __init__(
        self,
        model: ModelStore,
        clock: DatabaseClock,
        ledger: Ledger,
        stories: dict[bytes, Story],
        count: Callable[[str], None],
        suspects: SuspectRules,
        routes: RouteRules,
    ) -> None:
        self._suspects, self._routes = suspects, routes
        self.on_item: Callable[[Story, str], None] = lambda story, step: None  # a step of a page of a map begins
        self._model, self._clock, self._ledger, self._stories, self._count = model, clock, ledger, stories, count

    def check_entry(self, story: Story, entry: Entry, data: EntryData) -> None:
        """What the journal says of an attempt is what the outside world saw."""
        if data.error is not None and data.error.code in WITHOUT_EFFECT:
            return
        effect = self._ledger.attempt(story.row.id, entry.step or "", entry.attempt)
        if effect is None:
            raise Violation(f"{entry.step} ended with attempt {entry.attempt}, which was never begun")
        if isinstance(effect.outcome, Fail) and effect.outcome.large is not None:
            self._check_large(entry, data, effect.outcome.large)
        elif data.error is None:
            if not isinstance(effect.outcome, Done) or effect.outcome.result != bytes(data.result):
                raise Violation(f"{entry.step} succeeded with what the outside world did not answer")
        elif isinstance(effect.outcome, Done) and data.error.code not in ("timeout", CONFLICT):
            raise Violation(f"{entry.step} failed though its effect succeeded")

    def _check_large(self, entry: Entry, data: EntryData, large: Done) -> None:
        """An output that is too large for the journal is a blob, and the effect that made it has succeeded."""
        if data.error is not None:
            if data.error.code not in ("timeout", CONFLICT):
                raise Violation(f"{entry.step} failed though its output could be stored")
            return
        [blob] = named_blobs(bytes(data.result)) or [b""]
        _, content = self._model.chunks.get((blob, 0), (None, None))
        if blob not in self._model.blobs_by_id or content is None or large.result != b'{"output":' + content + b"}":
            raise Violation(f"{entry.step} succeeded, and its blob is not its output")
        self._count("large output was stored")

    def check_probe(self, story: Story, entry: Entry, data: EntryData) -> None:
        """What the journal says of an attempt whose node died is what the outside world saw."""
        assert data.probe is not None
        if story.prepared.numbers[entry.step or ""] not in story.state_before().probes:
            raise Violation(f"a probe answered for {entry.step}, which was not in doubt")
        effects = self._ledger.of(story.row.id, entry.step or "")
        has_happened = any(one.happened for one in effects)
        if data.probe.answer is ProbeAnswer.HAPPENED:
            if not any(one.happened and one.attempt == entry.attempt for one in effects):
                raise Violation(f"{entry.step} ended with attempt {entry.attempt}, which did not happen")
            self._count("step ended by its probe")
        elif data.probe.answer is ProbeAnswer.DID_NOT_HAPPEN:
            if has_happened:
                raise Violation(f"{entry.step} is tried again although it happened")
            self._count("step tried again after its probe")

    def check_retry(self, story: Story, entry: Entry, data: EntryData) -> None:
        """Not more often than allowed, and not sooner than the server asked for."""
        policy = story.prepared.graph.steps[story.prepared.numbers[entry.step or ""]].retry
        if entry.attempt >= policy.attempts:
            raise Violation(f"{entry.step} is tried again after {entry.attempt} of {policy.attempts} attempts")
        effect = self._ledger.attempt(story.row.id, entry.step or "", entry.attempt)
        if effect is not None and isinstance(effect.outcome, Fail) and data.error and data.error.code == "http_status":
            asked = micros(effect.outcome.retry_after or 0)
            if data.retry_at is None or data.retry_at - entry.at < asked:
                raise Violation(f"{entry.step} is tried again sooner than the server asked for")

    def begins(self, call: StepCall, node: bytes, generation: int | None) -> Effect:
        """An attempt is about to act on the outside world."""
        effects = self._ledger.of(call.run_id, call.step)
        effect = Effect(call.idempotency_key, call.attempt, node, str(call.parameters.get("same", "")))
        if effects and effects[0].key != effect.key:
            raise Violation(f"{call.step} changed its idempotency key")
        if effects and effects[0].same != effect.same:
            raise Violation(f"{call.step} sent another body with the same key: {effect.same}, not {effects[0].same}")
        effect.is_stray = not self._has_lease(call, node, generation)
        story = self._stories[call.run_id]
        effect.parks = story.parks
        before = self._ledger.attempt(call.run_id, call.step, call.attempt)
        if not effect.is_stray and before and before.parks < story.parks:
            # Its node stopped gracefully and gave the run up: that is not an attempt of its own.
            self._count("released attempt began again")
            before.is_stray = True
        elif not effect.is_stray and before:
            # A step that waited for its time had it, began, and lost its node. If the database's clock then steps back,
            # its time has not come for whoever adopts the run and cannot know of that attempt. The key is the same.
            if not self._clock.has_gone_back:
                raise Violation(f"attempt {call.attempt} of {call.step} was made twice")
            before.is_stray = True
        if effects and effects[-1].node != node:
            self._count("step ran again after a crash")
        if not effect.is_stray:
            self._suspects.begins(story, call.step, node, effect)
        effects.append(effect)
        return effect

    def _has_lease(self, call: StepCall, node: bytes, generation: int | None) -> bool:
        row = self._model.table.get(call.run_id)
        if row is None:
            raise Violation(f"{call.step} began before its run was durable")
        if node not in self._model.nodes or (row.owner, row.generation) != (node, generation):
            # Only a database clock that jumps ahead can end a lease that its node is sure of.
            if not self._clock.has_jumped:
                raise Violation(f"{call.step} began on a node that does not own the run")
            self._count("effect by a node that could not know")
            return False
        story = self._stories[call.run_id]
        if story.is_done or call.step in story.closed:
            raise Violation(f"{call.step} began though it, or its run, was over")
        if story.owes_adoption:
            raise Violation(f"{call.step} began in an adopted run before its adoption was journalled")
        self._check_ready(story, call, node)
        return True

    def _check_ready(self, story: Story, call: StepCall, node: bytes) -> None:
        """The journal alone, as it is in the database now, says that this attempt may begin."""
        state, index = story.state(), story.prepared.numbers[call.step]
        is_resumed = any(mail.run == call.run_id and mail.kind in GETS_GOING for mail in self._model.inbox.values())
        if state.is_over or (state.paused_by is not None and not is_resumed):
            raise Violation(f"{call.step} began though the journal says that the run is {state.status}")
        phase, until = state.phase[index], state.until.get(index)
        is_due = until is not None and until <= self._clock.highest()
        if phase is not Phase.READY and not (phase is Phase.RETRYING and is_due):
            raise Violation(f"{call.step} began though the journal says that it is {phase.name} until {until}")
        if call.attempt != state.attempt_number(index):
            raise Violation(f"{call.step} began as attempt {call.attempt}, not {state.attempt_number(index)}")
        is_suspect = state.stalled >= 2 or call.step in story.strikes
        self._routes.check_parallel(story, state, call.step, node)
        self.on_item(story, call.step)
        if (story.prepared.steps[index].on_record or is_suspect) and state.begun.get(index) != call.attempt:
            raise Violation(f"{call.step} began before its start was journalled")
