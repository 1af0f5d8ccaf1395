"""The rules of flow control: what a step asked for is what the journal says, and what a person said counts once."""

from __future__ import annotations

from collections.abc import Callable

from detent.graph.model import Ending, FailurePolicy, StepKind
from detent.run.journal import REFUSED, Entry, EntryData, Kind, decode_data
from detent.run.links import CONFLICT
from detent.run.outcomes import Cancel, Done, Fail, Finish, Outcome, Pause, Reattempt, Skip
from detent.run.state import Phase
from tests.sim.effects import Ledger
from tests.sim.story import Story, Violation

AT_HAND = (
    *(Phase.READY, Phase.RUNNING, Phase.RETRYING, Phase.CHILD),
    *(Phase.WAITING, Phase.SLEEPING, Phase.UNCERTAIN),
)


class FlowRules:
    """Looks at the entries that tell of flow control."""

    def __init__(self, ledger: Ledger, count: Callable[[str], None]) -> None:
        self._ledger, self._count = ledger, count

    def before(self, story: Story, entry: Entry, data: EntryData) -> None:
        """Whatever the entry is: a run that was said to be done does not go on, and a moved one goes on elsewhere."""
        if story.is_done:
            raise Violation(f"{entry.kind} was journalled though the run had been finished")
        if entry.kind == Kind.FINISHED or data.finished:
            story.is_done = True
            self._count("run finished by a step" if data.finished else "run finished by a person")
        if entry.kind == Kind.MOVED and data.version is not None:
            self._version_moved(story, entry, data.version)
        elif entry.kind == Kind.MOVED:
            self._check_carried(story, data)
            story.move(data)
            self._check_kept(story, data)
            self._count("run moved")

    def _version_moved(self, story: Story, entry: Entry, version: int) -> None:
        """A run goes on by another version: what has ended has ended there, and what is active goes on."""
        if entry.outcome == REFUSED:
            self._count("move refused")
            return
        was, old = story.state_before(), story.prepared
        story.move_to(version)
        now, numbers = story.state(), story.prepared.numbers
        self._count("run moved to another version")
        for step in old.steps:
            before, index = was.phase[step.index], numbers.get(step.name)
            if index is None or before is Phase.PENDING:
                if index is None and before not in (Phase.PENDING, Phase.ENDED):
                    raise Violation(f"a run was moved to a version without {step.name}, which was active")
                continue
            if before is Phase.ENDED and now.ending[index] is not was.ending[step.index]:
                raise Violation(f"{step.name} ended {was.ending[step.index]}, and {now.ending[index]} after a move")
            # A step with a child looks again whether the child exists.
            may_change = (Phase.READY, Phase.RUNNING, Phase.CHILD)
            if now.phase[index] is not before and before not in may_change:
                raise Violation(f"{step.name} was {before.name}, and is {now.phase[index].name} after a move")
            if before is not Phase.CHILD and now.until.get(index) != was.until.get(step.index):
                raise Violation(f"{step.name} waits until another time after a move")
            if before is not Phase.ENDED and now.attempt_number(index) != was.attempt_number(step.index):
                raise Violation(f"{step.name} has another attempt after a move")
            if before is Phase.ENDED and now.results.get(index) != was.results.get(step.index):
                raise Violation(f"a move changed what {step.name} gave")

    def _check_carried(self, story: Story, data: EntryData) -> None:
        carried = {name: how.ending for name, how in data.carried.items()}
        if carried != story.closed:
            raise Violation(f"a run was moved with {carried}, and had achieved {story.closed}")

    def _check_kept(self, story: Story, data: EntryData) -> None:
        """What a step gave is there in the new graph as it was."""
        gave = {
            entry.step: bytes(decode_data(entry.data).result) for entry in story.entries if entry.kind == Kind.ENDED
        }
        results, numbers = story.state().results, story.prepared.numbers
        for name in data.carried:
            if name in gave and name in numbers and results.get(numbers[name], b"") != gave[name]:
                raise Violation(f"a moved run has {results.get(numbers[name])!r} of {name}, which gave {gave[name]!r}")

    def is_of_people(self, story: Story, entry: Entry, data: EntryData) -> bool:
        """A person had a step skipped or tried anew; only what the run was at can be."""
        if data.by is None or entry.kind not in (Kind.ENDED, Kind.RETRY) or not self._is_wish(entry):
            return False
        before = story.state_before()
        if before.phase[story.prepared.numbers[entry.step or ""]] not in AT_HAND:
            raise Violation(f"a person's word about {entry.step} counted, and the run was not there")
        self._count("step skipped by a person" if entry.kind == Kind.ENDED else "step tried anew by a person")
        return True

    def _is_wish(self, entry: Entry) -> bool:
        return entry.outcome == Ending.SKIPPED if entry.kind == Kind.ENDED else entry.outcome is None

    def is_of_step(self, story: Story, entry: Entry, data: EntryData) -> bool:
        """A step asked for it: then it must have."""
        wanted = self._wanted(story, entry, data)
        if wanted is None:
            return False
        effect = self._ledger.attempt(story.row.id, entry.step or "", entry.attempt)
        if effect is None or (effect.outcome is not None and not isinstance(effect.outcome, wanted)):
            said = None if effect is None else effect.outcome
            raise Violation(f"{entry.kind} of {entry.step} attempt {entry.attempt} says what it did not: {said}")
        self._count(f"step says {wanted[0].__name__.lower()}")
        return True

    def _is_given_up_wait(self, story: Story, entry: Entry) -> bool:
        """A failing run waits for nothing more."""
        step = story.prepared.steps[story.prepared.numbers[entry.step or ""]]
        return step.kind is StepKind.WAIT and entry.outcome == Ending.SKIPPED and story.state_before().failing

    def _wanted(self, story: Story, entry: Entry, data: EntryData) -> tuple[type[Outcome], ...] | None:
        match entry.kind:
            case Kind.ENDED if data.finished:
                return (Finish,)
            case Kind.ENDED if self._is_given_up_wait(story, entry):
                return None
            case Kind.ENDED if entry.outcome == Ending.SKIPPED:
                return (Skip,)
            case Kind.ENDED if data.error is not None and data.error.code in ("given_up", "exception"):
                # A failing run tries nothing again, whatever is asked for.
                return (Reattempt, Pause, Fail) if story.state_before().failing else None
            case Kind.RETRY if entry.outcome is None or (data.error is not None and data.error.code == "exception"):
                return (Reattempt, Fail)
            case Kind.CANCELLED if entry.step is not None:
                return (Cancel,)
            case Kind.PAUSED if data.error is not None and data.error.code == "did_not_happen":
                self._count("uncertain step resolved")
                return None
            case Kind.PAUSED if data.error is not None and data.error.code == CONFLICT:
                return (Done,)  # a resource that it names belongs to another run
            case Kind.PAUSED if entry.outcome == Ending.TEMPLATE_ERROR:
                return None  # no attempt was made: its template reads a step that this version does not have
            case Kind.PAUSED if entry.step is not None:
                pauses = story.prepared.graph.on_failure is FailurePolicy.PAUSE
                return (Pause, Fail) if pauses and data.error is not None else (Pause,)
            case _:
                return None
