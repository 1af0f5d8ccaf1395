"""The graph: the one shape that every workflow compiles to.

A graph has steps and edges and nothing else. Each form is a function that returns a graph; the planner, the stores and
the pages read only graphs. When a step ends, each of its outgoing edges is *taken* or *dead*. It is taken if `on`
contains the ending and the condition is true. A step is decided when all its incoming edges are decided. It runs if its
join is met.

Stored graphs leave out defaults, so a default here never changes (`graph/codec.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

#: The names that expressions of the steps form, of the graph form and of rules use (see `Graph.scope`).
STEPS_SCOPE: Final = "steps"
GRAPH_SCOPE: Final = "graph"
RULE_SCOPE: Final = "rule"


class StepKind(StrEnum):
    """What a step does. Sleep, wait and condition have no executor: the planner decides them."""

    HTTP = "http"
    ACTION = "action"
    SLEEP = "sleep"
    WAIT = "wait"
    SUBWORKFLOW = "subworkflow"
    PYTHON = "python"
    FUNCTION = "function"
    CONDITION = "condition"

    @property
    def receives_signals(self) -> bool:
        """Return whether the code of a step of this kind can wait for signals."""
        return self is StepKind.FUNCTION


#: The kinds that the planner decides without an attempt.
DECIDED_AT_ONCE: Final = (StepKind.SLEEP, StepKind.WAIT, StepKind.CONDITION)


class Ending(StrEnum):
    """How a step ended. Skipped is an ending like any other."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    TEMPLATE_ERROR = "template_error"


FAILURES: Final = frozenset({Ending.FAILED, Ending.TIMEOUT, Ending.TEMPLATE_ERROR})
ON_SUCCESS: Final = frozenset({Ending.SUCCESS})
ON_ANY: Final = frozenset(Ending)
ON_RAN: Final = FAILURES | ON_SUCCESS


class Join(StrEnum):
    """When a step with several incoming edges runs: every edge taken, or at least one."""

    ALL = "all"
    ANY = "any"


class FailurePolicy(StrEnum):
    """What an unhandled failure does to the rest of the run."""

    SETTLE = "settle"
    FAIL_FAST = "fail_fast"
    PAUSE = "pause"


class OnCrash(StrEnum):
    """What happens to an attempt that was in flight when its node died."""

    RETRY = "retry"
    FAIL = "fail"
    ASK = "ask"
    PROBE = "probe"


class Route(StrEnum):
    """Which of the satisfied edges of a step are taken: all, or the first in order."""

    PARALLEL = "parallel"
    FIRST_MATCH = "first_match"


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a step is tried, and the delay between attempts. `attempts` includes the first one."""

    attempts: int = 6
    delay: float = 2.0
    factor: float = 2.0
    jitter: bool = True
    max_delay: float = 3600.0


NO_RETRY: Final = Retry(attempts=1)


@dataclass(frozen=True, slots=True)
class Repeat:
    """A step that looks again and again until a condition over its result is true. Lengths are in seconds.

    The pause between two looks begins with `every` and grows by `factor` up to `max_wait`. After `give_up_after` the
    step ends as timed out.
    """

    until: str
    every: float = 30.0
    factor: float = 1.0
    max_wait: float = 3600.0
    give_up_after: float | None = None


class ItemFailure(StrEnum):
    """What the failure of an item means for the others: no further one begins, or all of them go on."""

    STOP = "stop"
    CONTINUE = "continue"


@dataclass(frozen=True, slots=True)
class Each:
    """A step that runs once for each item of a list (a *map*).

    `items` is a template that renders to the list. At most `parallel` items are in flight at once. `collect` is a
    template over the result of an item, `None` for its output. The step fails if more items fail than `tolerate`
    allows: a number of items, or a part of all with `tolerate_share`. If both are 0, any number may fail.
    """

    items: Any
    parallel: int = 10
    collect: Any = None
    on_failure: ItemFailure = ItemFailure.STOP
    tolerate: int = 0
    tolerate_share: float = 0.0
    max_items: int = 10_000


@dataclass(frozen=True, slots=True)
class Probe:
    """The action that says whether the effect of a step happened. `version` pins one that is data."""

    action: str
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One node of the graph.

    `config` has what its kind needs, as JSON with `{{ }}` templates: http `url method headers body`; action `action
    with`; sleep `seconds` (a number, or a text that renders to a duration); wait `timeout` (seconds or `None`) and
    `early` (`buffer` or `reject`); condition `expression`; subworkflow `workflow input version detached recursion`;
    python and function `workflow` (the name its code is registered with) and `drift`.
    `guard` is evaluated last, when the join is met; false skips the step. `delay` is the pause before the first
    attempt; it is added to a sleep and to the time limit of a wait. With `rerender`, templates read the number and time
    of the attempt at hand; otherwise those of the first one, so every attempt sends the same. With `each`, the step
    runs once for each item of a list; with `repeat`, until its result is as wanted. `title` is what people read instead
    of the name. `probe` is asked after a crash if `on_crash` is `probe`. The result of a `sensitive` step is sealed.
    """

    name: str
    kind: StepKind
    config: Mapping[str, Any] = field(default_factory=dict)
    guard: str | None = None
    join: Join = Join.ALL
    retry: Retry = NO_RETRY
    timeout: float | None = None
    delay: float | None = None
    on_crash: OnCrash = OnCrash.RETRY
    route: Route = Route.PARALLEL
    queue: str | None = None
    priority: int | None = None
    rerender: bool = False
    each: Each | None = None
    repeat: Repeat | None = None
    title: str | None = None
    probe: Probe | None = None
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from a step to one that depends on it. `on` has the endings of the source that satisfy it.

    An edge with `otherwise` is considered last: it is taken only if no edge before it handles the ending. An edge
    without `handles` is followed, but a failure that takes only such edges is unhandled (cleanup, logging).
    """

    source: str
    target: str
    on: frozenset[Ending] = ON_SUCCESS
    condition: str | None = None
    order: int = 0
    false_on_error: bool = False
    otherwise: bool = False
    handles: bool = True


class SnapshotMode(StrEnum):
    """What users see of the results of a run at once: the values of all, sizes and types, or the values of some."""

    FULL = "full"
    SUMMARY = "summary"
    KEYS = "keys"


class Overflow(StrEnum):
    """What happens to a result that makes the readable results too large together.

    Its step fails, the oldest results are dropped, or that result is dropped. An expression that reads a dropped result
    fails; the journal keeps it.
    """

    FAIL = "fail"
    PRUNE_OLDEST = "prune_oldest"
    DROP_OVERSIZE = "drop_oversize"


@dataclass(frozen=True, slots=True)
class ContextSnapshot:
    """How large the results that later steps can read may be together, and what users see of them."""

    mode: SnapshotMode = SnapshotMode.SUMMARY
    keys: tuple[str, ...] = ()
    max_bytes: int = 10 * 1024 * 1024
    overflow: Overflow = Overflow.FAIL


@dataclass(frozen=True, slots=True)
class Graph:
    """A whole workflow, ready to be planned. Steps are in the order of the definition.

    `scope` names the aliases its expressions use (`steps`: trigger.body, tasks.X; `graph`: context.data['X'], ...;
    `rule`: before, after, and the fields of the record).
    `max_duration` is in seconds; with `None` a run may last forever. `output` is a template for the run's output.
    `one_per_hero`: a hero has at most one open run of this workflow. `parallel`: at most so many attempts of a run are
    in flight at once. `vars` has constants that expressions read. `context` limits the results that expressions read;
    without it the graph form has the usual limits, and the other forms have none.
    """

    steps: tuple[Step, ...]
    edges: tuple[Edge, ...] = ()
    on_failure: FailurePolicy = FailurePolicy.SETTLE
    scope: str = "steps"
    output: Any = None
    max_duration: float | None = None
    language: int = 1
    one_per_hero: bool = False
    parallel: int | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)
    context: ContextSnapshot | None = None
