"""`trigger_schema` of a definition: the JSON Schema that the body of every start must keep."""

from __future__ import annotations

from typing import Any

from detent.authoring.compiled import Trigger, TriggerType
from detent.authoring.fields import Fields
from detent.authoring.payload_schema import PayloadSchema, check_schema


def read_trigger_schema(fields: Fields, trigger: Trigger) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The schema, and a warning if the trigger can never keep it."""
    schema = fields.get("trigger_schema")
    if schema is None:
        return None, ()
    if problems := check_schema(schema, fields.at("trigger_schema")):
        for problem in problems:
            fields.problems.add(problem.field, problem.message)
        return None, ()
    if trigger.type is not TriggerType.CRON:
        return schema, ()
    refused = PayloadSchema(schema).problems({})
    warning = "the body of a run that cron starts is {}, and this schema refuses it"
    return schema, tuple(f"{fields.at('trigger_schema')}: {warning} ({problem})" for problem in refused[:1])
