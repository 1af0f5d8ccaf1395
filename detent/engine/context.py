"""The context that an engine shares with each of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from detent.blobs.contents import BlobContents
from detent.clock import Clock, DatabaseTime
from detent.engine.cache import GraphCache
from detent.engine.children.family import Children
from detent.engine.tuning import Tuning
from detent.graph.codec import FEATURES
from detent.graph.model import StepKind
from detent.steps.logs.loop_watch import LoopWatch
from detent.steps.protocol import StepExecutor
from detent.store.protocol import Hints, Store
from detent.vault.secrets import SecretOpener

# The user's code that an engine can run, and the features of graphs, by the names that runs require.


class AvailableCode:
    """The names of the user code in this process. More code may be defined while the engine works."""

    def __init__(self, known: Collection[str]) -> None:
        self._first = frozenset((*known, *FEATURES))
        self._known, self._sorted = self._first, sorted(self._first)
        self._more: Callable[[], Iterable[str]] = tuple

    def learn_from(self, more: Callable[[], Iterable[str]]) -> None:
        """Set the function that returns the names defined later."""
        self._more = more

    def all(self) -> Sequence[str]:
        """Return all names, sorted. Every claim calls this."""
        known = self._first.union(self._more())
        if known != self._known:
            self._known, self._sorted = known, sorted(known)
        return self._sorted

    def has(self, code: Collection[str]) -> bool:
        """Return whether all of this code is available. Every start calls this, so known names are checked first."""
        return self._known.issuperset(code) or set(code) <= set(self.all())


@dataclass(frozen=True, slots=True)
class Executors:
    """What runs the attempts of a node: an executor for each kind of step, and the secrets that they may open.

    `contents` reads the blobs that expressions may read inside."""

    kinds: Mapping[StepKind, StepExecutor]
    secrets: SecretOpener
    contents: BlobContents


@dataclass(frozen=True, slots=True)
class NodeContext:
    """What all nodes of one engine share. `served` has its user code; `callback_url` renders the URL of (run, step)."""

    store: Store
    clock: Clock
    time: DatabaseTime
    tuning: Tuning
    graphs: GraphCache
    executors: Executors
    served: AvailableCode
    callback_url: Callable[[bytes, str], str]
    children: Children
    hints: Hints | None = None
    seal_key: bytes | None = None  # of a node that seals runs
    watch: LoopWatch | None = None  # of the loop of a process; none in simulated time
