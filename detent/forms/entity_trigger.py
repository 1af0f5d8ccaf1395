"""What starts a workflow of any form, changes of records included: `trigger: {type: on_update, entity: order, ...}`.

A rule has the same facts in keys of its own. So a rule that is converted to another form still starts by itself.
"""

from __future__ import annotations

from typing import Final

from detent.forms.compiled import RuleFacts, TriggerDefinition
from detent.forms.rules.conditions import read_conditions
from detent.forms.rules.form import OPERATIONS, RuleOverlap, RuleTrigger
from detent.forms.triggers import read_trigger
from detent.values.fields import Fields

_FIELDS: Final = ("type", "entity", "trigger_conditions", "overlap")
_LONGEST_NAME: Final = 200
_WORDS: Final = {kind.value: kind for kind in OPERATIONS}


def read_start(fields: Fields) -> tuple[TriggerDefinition, RuleFacts | None]:
    """Read the trigger of a definition. If records of an entity start it, return the facts that a rule has."""
    block = fields.get("trigger")
    kind = _WORDS.get(str(block.get("type"))) if isinstance(block, dict) else None
    if kind is None:
        return read_trigger(fields), None
    inner = Fields(block, fields.at("trigger"), fields.problems)
    inner.refuse_unknown(_FIELDS)
    return TriggerDefinition(), _facts(inner, kind)


def _facts(fields: Fields, kind: RuleTrigger) -> RuleFacts:
    entity = fields.text("entity", most=_LONGEST_NAME)
    if fields.get("entity") is None:
        fields.problems.add(fields.at("entity"), f"is missing: {kind} is about the records of an entity")
    block = Fields(fields.mapping("trigger_conditions") or {}, fields.at("trigger_conditions"), fields.problems)
    conditions = read_conditions(block)
    reads = tuple((one.path, one.field) for one in conditions.leaves())
    return RuleFacts(
        entity,
        kind.value,
        OPERATIONS[kind],
        conditions.expression(),
        conditions.written,
        reads,
        is_ordered=fields.choice("overlap", RuleOverlap, RuleOverlap.ALLOW) is RuleOverlap.QUEUE,
    )
