"""What every form returns: a workflow ready to be stored and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from detent.graph.model import Graph

MOST_STEPS: Final = 1_000
EDGES_PER_STEP: Final = 20


class TriggerType(StrEnum):
    """What starts runs of a workflow. A run can always be started through the API as well."""

    API = "api"
    CRON = "cron"
    WEBHOOK = "webhook"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class Trigger:
    """`cron` is an expression of five or six fields, as `cronsim` reads them; null for every other type."""

    type: TriggerType = TriggerType.API
    cron: str | None = None
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a workflow may be."""

    steps: int = MOST_STEPS

    @property
    def edges(self) -> int:
        return self.steps * EDGES_PER_STEP


@dataclass(frozen=True, slots=True)
class Compiled:
    """A workflow: its name, what starts it, and its graph.

    `code` names the user's actions it calls, sorted: only a node that has them may run it. `queue` and `priority` are
    those of its runs; null means the default. `warnings` are remarks that do not stop it.
    """

    name: str
    form: str
    graph: Graph
    trigger: Trigger = field(default_factory=Trigger)
    description: str | None = None
    enabled: bool = True
    code: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    queue: str | None = None
    priority: int | None = None
    warnings: tuple[str, ...] = ()
