"""What an engine gives to each of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from detent.clock import Clock, DatabaseTime
from detent.engine.family import Family
from detent.engine.graphs import Graphs
from detent.engine.served import Served
from detent.engine.tuning import Tuning
from detent.graph.model import StepKind
from detent.steps.protocol import StepExecutor
from detent.store.protocol import Store


@dataclass(frozen=True, slots=True)
class Equipment:
    """The same for every node of one engine. `served`: its user actions; `callback_url` renders (run, step)."""

    store: Store
    clock: Clock
    time: DatabaseTime
    tuning: Tuning
    graphs: Graphs
    executors: Mapping[StepKind, StepExecutor]
    served: Served
    callback_url: Callable[[bytes, str], str]
    family: Family
