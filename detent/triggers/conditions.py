"""Whether a firing starts anything: the trigger's condition, asked about what came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from detent.authoring.compiled import TriggerType
from detent.authoring.fields import Fields, Problems
from detent.authoring.trigger_scope import read_condition
from detent.errors import Problem
from detent.expressions import Headers, Scope, compile_expression
from detent.instant import Instant, iso


@dataclass(frozen=True, slots=True)
class Facts:
    """What a condition can read. `event` has type, data and id; null where no event came."""

    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    scheduled_at: Instant | None = None
    event: Mapping[str, Any] | None = None

    def scope(self) -> Scope:
        headers = Headers(self.headers)
        came = {
            "body": self.body,
            "headers": headers,
            "query": dict(self.query),
            "scheduled_at": None if self.scheduled_at is None else iso(self.scheduled_at),
        }
        short = {"body": self.body, "headers": headers, "query": came["query"]}
        return {"trigger": came, **short, "event": None if self.event is None else dict(self.event)}


def evaluate(condition: str | None, facts: Facts) -> bool:
    """Whether a firing passes; one without a condition always does. ExpressionError if that cannot be said."""
    return condition is None or compile_expression(condition).test(facts.scope())


def condition_problems(condition: object, kind: TriggerType, path: str = "condition") -> list[Problem]:
    """What keeps a text from being the condition of a trigger of this type."""
    problems = Problems()
    parent, _, name = path.rpartition(".")
    read_condition(Fields({name: condition}, parent, problems), name, kind)
    return problems.found
