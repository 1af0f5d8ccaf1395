"""What an engine gives to each of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from detent.clock import Clock, DatabaseTime
from detent.engine.cache import GraphCache
from detent.engine.children import Children
from detent.engine.tuning import Tuning
from detent.graph.model import StepKind
from detent.steps.protocol import StepExecutor
from detent.store.protocol import Store

# The user's code that an engine has, by the names that runs ask for it.


class AvailableCode:
    """Some was there when the engine was made; more may be defined while it works."""

    def __init__(self, known: Collection[str]) -> None:
        self._first = frozenset(known)
        self._known, self._sorted = self._first, sorted(self._first)
        self._more: Callable[[], Iterable[str]] = tuple

    def learn_from(self, more: Callable[[], Iterable[str]]) -> None:
        """Ask there what is defined by now."""
        self._more = more

    def all(self) -> Sequence[str]:
        """Everything that is there now. Asked at every claim."""
        known = self._first.union(self._more())
        if known != self._known:
            self._known, self._sorted = known, sorted(known)
        return self._sorted

    def has(self, code: Collection[str]) -> bool:
        """Whether all of that is there. Asked at every start: only what is not known is looked for."""
        return self._known.issuperset(code) or set(code) <= set(self.all())


@dataclass(frozen=True, slots=True)
class NodeContext:
    """The same for every node of one engine. `served`: its user actions; `callback_url` renders (run, step)."""

    store: Store
    clock: Clock
    time: DatabaseTime
    tuning: Tuning
    graphs: GraphCache
    executors: Mapping[StepKind, StepExecutor]
    served: AvailableCode
    callback_url: Callable[[bytes, str], str]
    family: Children
