"""The fields that every form has beside its steps: description, labels, and the schema of what starts a run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final

from detent.forms.compiled import TriggerDefinition, TriggerType
from detent.forms.payload_schema import PayloadSchema, check_schema
from detent.graph.model import Step
from detent.values.fields import Fields

DEFAULT_QUEUE: Final = "default"
_LONGEST_DESCRIPTION: Final = 10_000
_MOST_LABELS: Final = 64
_LONGEST_LABEL: Final = 200


class OnUnhandled(StrEnum):
    """What a failure does that takes no edge: it ends the run, or the other branches go on."""

    FAIL = "fail"
    SETTLE = "settle"


def read_description(fields: Fields) -> str | None:
    """Read the description of a workflow or a step: text of several lines."""
    return fields.text("description", most=_LONGEST_DESCRIPTION, lines=True)


def read_labels(fields: Fields) -> dict[str, str]:
    labels = fields.mapping("labels") or {}
    if len(labels) > _MOST_LABELS:
        fields.problems.add("labels", f"has {len(labels)} labels; at most {_MOST_LABELS} are allowed")
        return {}
    inner = Fields(labels, "labels", fields.problems)
    for key in labels:
        if not key.strip() or len(key) > _LONGEST_LABEL:
            fields.problems.add(inner.at(key), f"the name of a label has 1 to {_LONGEST_LABEL} characters")
        if labels[key] is None:
            inner.wrong(key, "text")
    found = {key: inner.text(key, most=_LONGEST_LABEL) for key in labels}
    return {key: value for key, value in found.items() if value is not None}


def read_trigger_schema(
    fields: Fields, name: str, trigger: TriggerDefinition
) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """Return the schema, and a warning if the body of its trigger can never be valid."""
    schema = fields.get(name)
    if schema is None:
        return None, ()
    if problems := check_schema(schema, fields.at(name)):
        for problem in problems:
            fields.problems.add(problem.field, problem.message)
        return None, ()
    if trigger.type is not TriggerType.CRON:
        return schema, ()
    refused = PayloadSchema(schema).problems({})
    warning = "the body of a run that cron starts is {}, and this schema refuses it"
    return schema, tuple(f"{fields.at(name)}: {warning} ({problem})" for problem in refused[:1])


def placed(steps: Collection[Step], queue: str | None, priority: int | None) -> tuple[Step, ...]:
    """Return the steps with their queue and priority.

    A run stays in the queue of its last step. So if one step has its own queue, every other step must name its queue
    too."""
    own_queue = any(step.queue is not None for step in steps)
    own_priority = any(step.priority is not None for step in steps)
    usual = (queue or DEFAULT_QUEUE if own_queue else None, priority or 0 if own_priority else None)
    return tuple(
        replace(
            step,
            queue=usual[0] if step.queue is None else step.queue,
            priority=usual[1] if step.priority is None else step.priority,
        )
        for step in steps
    )
