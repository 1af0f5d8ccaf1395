"""The rules of edges, written down once more without the planner: which are taken, what runs, and how a run ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from detent.graph.model import FAILURES, Edge, Ending, FailurePolicy, Graph, Join, Route, Step, StepKind
from detent.planner.judge import CONDITION_ERROR
from detent.run.journal import Decided, Kind, decode_data, decode_opening
from detent.run.state import RunState
from detent.run.status import Status
from tests.planner.naive import completed
from tests.sim.effects import Ledger
from tests.sim.story import Story, Violation


@dataclass(slots=True)
class Said:
    """Everything that the journal of a run says about its decisions."""

    edges: dict[int, bool] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)  # steps with a condition that cannot be evaluated
    answers: set[str] = field(default_factory=set)  # condition steps that were asked
    skipped: set[str] = field(default_factory=set)
    given_up: set[str] = field(default_factory=set)

    def add(self, decided: Decided) -> None:
        self.edges.update(decided.edges)
        self.broken.update(name for name, error in decided.errors.items() if error.code == CONDITION_ERROR)
        self.answers.update(decided.answers)
        self.skipped.update(decided.skipped)
        self.given_up.update(decided.given_up)


class RouteRules:
    """Looks at attempts that begin, and at the journal of every run that has ended by itself."""

    def __init__(self, ledger: Ledger, count: Callable[[str], None]) -> None:
        self._ledger, self._count = ledger, count

    def check_parallel(self, story: Story, state: RunState, step: str, node: bytes) -> None:
        """An attempt may begin if fewer are in flight than the graph allows."""
        most = story.prepared.graph.parallel
        if most is None:
            return
        others = [
            name for name in story.prepared.numbers if name != step and self.is_in_flight(story, state, name, node)
        ]
        if len(others) >= most:
            raise Violation(f"{step} began while {others} were in flight, and {most} may be at once")
        if len(others) + 1 == most:
            self._count("as many attempts were in flight as the graph allows")

    def is_in_flight(self, story: Story, state: RunState, name: str, node: bytes) -> bool:
        """Whether that node makes an attempt of a step that is not over by the journal."""
        if name in story.closed:
            return False
        number = state.attempt_number(story.prepared.numbers[name])
        effects = self._ledger.of(story.row.id, name)
        return any(
            not one.is_over and not one.is_stray and (one.node, one.attempt) == (node, number) for one in effects
        )

    def check_end(self, story: Story, status: str) -> None:
        """A run ended with its last step: every step ran or was skipped as its edges say, and so is its status."""
        graph, kinds = story.prepared.graph, {entry.kind for entry in story.entries}
        is_code = graph.steps[0].kind is StepKind.FUNCTION or story.prepared.page is not None
        if status not in (Status.COMPLETED, Status.FAILED) or is_code or story.is_done or Kind.MOVED in kinds:
            return
        said = Said()
        said.add(decode_opening(story.row.opening))
        for entry in story.entries:
            said.add(decode_data(entry.data).decided or Decided())
        endings = {name: Ending(ending) for name, ending in story.closed.items()}
        taken: dict[str, int] = {step.name: 0 for step in graph.steps}
        not_taken: set[Edge] = set()
        dead_ends = set()  # failures that took no edge
        for step in graph.steps:
            took_one = self._follow(graph, step, endings[step.name], said, taken, not_taken)
            if endings[step.name] in FAILURES and not took_one:
                dead_ends.add(step.name)
        for step in graph.steps:
            self._check_step(graph, step, endings[step.name], said, taken[step.name])
        if said.given_up and (graph.on_failure is not FailurePolicy.FAIL_FAST or not dead_ends):
            raise Violation(f"{sorted(said.given_up)} were given up though every failure took an edge")
        if completed(graph, endings, not_taken) is not (status == Status.COMPLETED):
            raise Violation(f"the run is {status}, and its steps ended {story.closed}")
        if any(endings[name] in FAILURES and name not in dead_ends for name in endings):
            self._count("failure was followed")
            if status == Status.FAILED and not dead_ends:
                self._count("failure was followed and not handled")

    def _follow(
        self, graph: Graph, step: Step, ending: Ending, said: Said, taken: dict[str, int], not_taken: set[Edge]
    ) -> bool:
        """Decide the edges of a step with the recorded answers. Return whether one was taken."""
        took_one = is_handled = False
        for index, edge in _in_order(graph, step.name):
            if ending not in edge.on:
                continue
            is_late = (step.route is Route.FIRST_MATCH and took_one) or (edge.otherwise and is_handled)
            was_asked = edge.condition is not None and (index in said.edges or edge.target in said.broken)
            if is_late and index in said.edges:
                raise Violation(f"{edge.source} -> {edge.target} was asked after the edge that was taken")
            if not is_late and edge.condition is not None and not was_asked:
                raise Violation(f"{edge.source} -> {edge.target} was not asked")
            if is_late or (edge.condition is not None and not said.edges.get(index, False)):
                not_taken.add(edge)
                continue
            taken[edge.target] += 1
            if edge.otherwise:
                self._count("otherwise edge was taken")
            took_one, is_handled = True, is_handled or edge.handles
        return took_one

    def _check_step(self, graph: Graph, step: Step, ending: Ending, said: Said, taken: int) -> None:
        name = step.name
        if name in said.given_up:
            if ending is not Ending.SKIPPED:
                raise Violation(f"{name} was given up and ended {ending}")
            return
        if name in said.broken:
            self._count("condition could not be evaluated")
            if ending is not Ending.FAILED:
                raise Violation(f"a condition of {name} cannot be evaluated, and it ended {ending}")
            return
        incoming = sum(edge.target == name for edge in graph.edges)
        is_met = taken == incoming if step.join is Join.ALL else taken > 0 or not incoming
        if is_met and step.guard is None and name in said.skipped:
            raise Violation(f"{name} was skipped though {taken} of {incoming} edges to it were taken")
        if not is_met and name not in said.skipped:
            raise Violation(f"{name} ended {ending} though only {taken} of {incoming} edges to it were taken")
        if step.kind is StepKind.CONDITION and name in said.answers:
            self._count("condition step was answered")


def _in_order(graph: Graph, source: str) -> Iterable[tuple[int, Edge]]:
    edges = [(index, edge) for index, edge in enumerate(graph.edges) if edge.source == source]
    return sorted(edges, key=lambda pair: (pair[1].otherwise, pair[1].order, pair[0]))
