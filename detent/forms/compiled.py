"""What every form returns: a workflow that can be stored and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from detent.forms.text_tests import TextTest
from detent.graph.codec import features
from detent.graph.model import ContextSnapshot, Graph, Overflow, SnapshotMode
from detent.settings import Settings

MOST_STEPS: Final = 1_000
EDGES_PER_STEP: Final = 20
DEEPEST_NESTING: Final = 5
USUAL_CONTEXT: Final = ContextSnapshot()


class TriggerType(StrEnum):
    """What starts runs of a workflow. A run can always be started through the API too."""

    API = "api"
    CRON = "cron"
    WEBHOOK = "webhook"
    EVENT = "event"
    MANUAL = "manual"


class Respond(StrEnum):
    """What the caller of a webhook gets: that the run has started, its output, or what a step of it says."""

    NOW = "now"
    OUTPUT = "output"
    STEP = "step"


@dataclass(frozen=True, slots=True)
class TriggerDefinition:
    """What starts runs. `config` is plain JSON: the fields of its type, defaults filled in, durations in seconds.

    cron     cron_expression (as `cronsim` reads it), timezone, jitter, missed, missed_window, overlap
    webhook  signature {preset, secrets, ...}, dedup_header; each only if it was written; respond and wait (seconds),
             only if its caller waits for the run
    event    event (a type, or a prefix such as `order.*`)

    `condition` is an expression over what was received; a firing for which it is not true starts no run.
    """

    type: TriggerType = TriggerType.API
    config: Mapping[str, Any] = field(default_factory=dict)
    condition: str | None = None

    @property
    def cron(self) -> str | None:
        """Return the cron expression; `None` for every other type."""
        return self.config.get("cron_expression")

    @property
    def timezone(self) -> str:
        return str(self.config.get("timezone", "UTC"))

    @property
    def has_plain_secrets(self) -> bool:
        """Return whether a secret of its signature is written in the definition itself."""
        signature = self.config.get("signature")
        return signature is not None and any(isinstance(one, str) for one in signature["secrets"])


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a workflow may be, and how deep its child runs may nest. `context` is for graphs that have none."""

    steps: int = MOST_STEPS
    nesting: int = DEEPEST_NESTING
    context: ContextSnapshot = USUAL_CONTEXT

    @property
    def edges(self) -> int:
        return self.steps * EDGES_PER_STEP


def limits_of(settings: Settings) -> Limits:
    """Return the limits as the operator's settings define them."""
    context = ContextSnapshot(
        mode=SnapshotMode(settings.context_mode),
        max_bytes=settings.context_max_bytes,
        overflow=Overflow(settings.context_overflow),
    )
    return Limits(settings.max_steps_per_workflow, settings.max_nesting_depth, context)


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """What a rule says about the changes that it is for.

    `trigger_type` is as it was written. `operations` are those of the events that can start it: `create`, `update`,
    `delete`; none of a rule that is scheduled or started by hand. `condition` is the conditions as one expression over
    `before` and `after`, `None` if there are none; `conditions` is how they were written. `reads` are the fields of
    the entity that the rule reads, each with its place in the document. `branches` are the steps of actions of the
    catalog whose output decides a branch, each with the place of that branch. `is_ordered`: the runs of one record
    begin one after the other. `ids` are the steps with the ids of their actions."""

    entity: str | None
    trigger_type: str
    operations: tuple[str, ...] = ()
    condition: str | None = None
    conditions: Mapping[str, Any] = field(default_factory=dict)
    reads: tuple[tuple[str, str], ...] = ()
    branches: tuple[tuple[str, str], ...] = ()
    is_ordered: bool = False
    ids: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return what a matcher needs to know of the rule."""
        order = {"overlap": "queue"} if self.is_ordered else {}
        return {"entity": self.entity, "trigger_type": self.trigger_type, "conditions": dict(self.conditions), **order}


@dataclass(frozen=True, slots=True)
class Compiled:
    """A workflow: its name, what starts it, and its graph.

    `title` is what people read instead of the name. `code` names the user's actions it calls, sorted: only a node that
    has them may run it. `queue` and `priority` are those of its runs; `None` means the default. `trigger_schema` is the
    JSON Schema that validates the body of every start. `step_descriptions` are for people. `warnings` are remarks that
    do not make it invalid. `tests` are those in its text, which no version depends on. `retried` are the steps whose
    retries are written in it, `limited` those whose time limit is: the others have the defaults of their form. `rule`
    is there if it is a rule. `places` has fields of the graph with the fields of the document that they were written
    in, where these are not those of the form.
    """

    name: str
    form: str
    graph: Graph
    trigger: TriggerDefinition = field(default_factory=TriggerDefinition)
    description: str | None = None
    enabled: bool = True
    code: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    queue: str | None = None
    priority: int | None = None
    trigger_schema: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    title: str | None = None
    step_descriptions: Mapping[str, str] = field(default_factory=dict)
    tests: tuple[TextTest, ...] = ()
    retried: frozenset[str] = frozenset()
    limited: frozenset[str] = frozenset()
    rule: RuleFacts | None = None
    places: Mapping[str, str] = field(default_factory=dict)

    def start_facts(self) -> dict[str, Any]:
        """Return what a start of this version reads beside its graph, as JSON."""
        trigger = self.trigger
        facts: dict[str, Any] = {"type": str(trigger.type), "code": (*features(self.graph), *self.code)}
        if trigger.config:
            facts["config"] = dict(trigger.config)
        if trigger.condition is not None:
            facts["condition"] = trigger.condition
        if self.trigger_schema is not None:
            facts["payload"] = self.trigger_schema
        if self.queue is not None:
            facts["queue"] = self.queue
        if self.priority is not None:
            facts["priority"] = self.priority
        if self.rule is not None:
            facts["rule"] = self.rule.as_json()
        return facts
