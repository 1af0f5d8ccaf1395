"""The JSON Schema of the rule form, draft 2020-12: what editors complete, and what other programs check.

It describes every key. It cannot say what refers to what: cycles, unknown targets and reads are found by `form` only.
A key whose value is null counts as not written, as everywhere in definitions.
"""

from __future__ import annotations

from typing import Any, Final

from detent.forms.aliases import SCOPES
from detent.forms.kinds import MOST_ITEMS, MOST_PARALLEL_ITEMS
from detent.forms.rules.action import LARGEST_ORDER, LONGEST_NAME
from detent.forms.rules.action_types import ACTION_TYPES, ActionType
from detent.forms.rules.conditions import MOST_CONDITIONS, Match, Operator
from detent.forms.rules.edge import LARGEST_EDGE_ORDER, EdgeType
from detent.forms.rules.form import FORM, RuleTrigger
from detent.forms.schedule import Missed, Overlap
from detent.forms.text_tests import MOST_TESTS
from detent.forms.workflow_fields import MOST_PARALLEL, MOST_VARS, OnUnhandled
from detent.graph.model import ItemFailure, OnCrash
from detent.values.limits import ID_LIMIT

Schema = dict[str, Any]

_STEP: Final = "^[A-Za-z_][A-Za-z0-9_-]{0,63}$"
_QUEUE: Final = "^[A-Za-z_][A-Za-z0-9_.-]{0,63}$"
_DURATION: Final = ["string", "number"]


def _maybe(description: str, type_: str | list[str], **rest: Any) -> Schema:
    """Return the schema of a key that may be left out, or null."""
    types = [type_] if isinstance(type_, str) else type_
    return {"description": description, "type": [*types, "null"], **rest}


def _choice(description: str, words: list[str], default: str | None = None) -> Schema:
    usual = {} if default is None else {"default": default}
    return {"description": description, "enum": [*words, None], **usual}


def _text(description: str, most: int, **rest: Any) -> Schema:
    return {"description": description, "type": "string", "minLength": 1, "maxLength": most, **rest}


def _config(type_: ActionType) -> Schema:
    """Return the schema of a config. A key that is not required may be null."""
    properties = dict(type_.config["properties"])
    for name, schema in properties.items():
        if name in type_.required:
            continue
        if "enum" in schema:
            properties[name] = {**schema, "enum": [*schema["enum"], None]}
        elif "anyOf" in schema:
            properties[name] = {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
        elif "type" in schema:
            types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            properties[name] = {**schema, "type": [*types, "null"]}
    return {**type_.config, "properties": properties}


_FIELD_CONDITION: Final[Schema] = {
    "description": "A condition on one field, or a group of conditions of which all or any must be true.",
    "type": "object",
    "properties": {
        "field_name": _text("The field.", 200),
        "operator": {"description": "What is asked of it.", "enum": list(Operator)},
        "value": {"description": "What it is compared with; a list for in and not_in."},
        "all": {"type": "array", "items": {"$ref": "#/$defs/FieldCondition"}, "minItems": 1},
        "any": {"type": "array", "items": {"$ref": "#/$defs/FieldCondition"}, "minItems": 1},
    },
    "additionalProperties": False,
    "oneOf": [{"required": ["field_name", "operator"]}, {"required": ["all"]}, {"required": ["any"]}],
}

_ACTION: Final[Schema] = {
    "description": "One action: what is done.",
    "type": "object",
    "required": ["name", "action_config"],
    "properties": {
        "id": _maybe("Its id, given by a save. A new action has none.", "string", minLength=1, maxLength=ID_LIMIT),
        "step": _maybe(
            "The name of its step in the graph and in runs. Without it, a slug of its first name.",
            "string",
            pattern=_STEP,
        ),
        "name": _text("The name that people read.", LONGEST_NAME),
        "description": _maybe("For people.", "string", minLength=1, maxLength=10_000),
        "action_type": _maybe(
            f"What it does: {', '.join(ACTION_TYPES)}, or an action of the catalog such as slack.post-message. "
            "Without it, the type that the config fits.",
            "string",
            minLength=1,
            maxLength=128,
        ),
        "action_config": {
            "description": "The config of its type. Texts may have {{ fields }} of the record.",
            "type": "object",
        },
        "execution_order": _maybe(
            "Actions are listed in this order.", "integer", minimum=1, maximum=LARGEST_ORDER, default=1
        ),
        "is_active": {"description": "Only true: remove an action instead.", "enum": [True, None]},
        "queue": _maybe("Checked and stored. The queue of the rule decides.", "string", pattern=_QUEUE),
        "priority": _maybe("Checked and stored.", "integer", minimum=-1000, maximum=1000),
        "retries": _maybe(
            "How often a failed attempt is repeated, a number or a block with max_attempts, delay, factor, max_delay, "
            "jitter.",
            ["integer", "object"],
            default=2,
        ),
        "retry": _maybe("Another spelling of retries.", ["integer", "object"]),
        "timeout": _maybe("The time limit of an attempt.", _DURATION, default="5m"),
        "on_crash": _choice("What happens to an attempt whose node died.", [str(one) for one in OnCrash], "retry"),
        "rerender_on_retry": _maybe("Whether attempt.number is that of the attempt at hand.", "boolean"),
        "sensitive": _maybe("Whether the result is sealed: later actions read it, and people see ***.", "boolean"),
        "credential": _maybe("The stored credential that its requests carry.", "string", maxLength=64),
        "repeat": _maybe("Look again until a condition over the result is true.", "object"),
        "for_each": _maybe("The action runs once for each item of this list.", ["array", "string"]),
        "max_parallel": _maybe(
            "How many items are in flight at once.", "integer", minimum=1, maximum=MOST_PARALLEL_ITEMS, default=10
        ),
        "collect": {"description": "A template over the result of an item: what the output has of it."},
        "on_item_failure": _choice(
            "Whether the first item that fails ends the action.", [one.value for one in ItemFailure], "stop"
        ),
        "tolerate": _maybe("How many items may fail: a number, or a share such as 5%.", ["integer", "string"]),
        "max_items": _maybe(
            "A longer list fails the action.", "integer", minimum=1, maximum=MOST_ITEMS, default=10_000
        ),
    },
    "additionalProperties": False,
    "allOf": [
        {
            "if": {"properties": {"action_type": {"const": one.name}}, "required": ["action_type"]},
            "then": {"properties": {"action_config": {"$ref": f"#/$defs/{one.name}"}}},
        }
        for one in ACTION_TYPES.values()
    ],
}

_EDGE: Final[Schema] = {
    "description": "An edge. Actions are named by id, by step, or as temp:N, their place in actions.",
    "type": "object",
    "required": ["target_action_id", "edge_type"],
    "properties": {
        "id": _maybe("Its id, given by a save.", "string", minLength=1, maxLength=ID_LIMIT),
        "source_action_id": _maybe("Where it leads from; null for a start edge.", "string", maxLength=ID_LIMIT),
        "target_action_id": _text("Where it leads to.", ID_LIMIT),
        "edge_type": {
            "description": "When it is taken: at the start, after success, after the answer true or false, or always.",
            "enum": [one.value for one in EdgeType],
        },
        "edge_order": _maybe(
            "The order among the edges of an action.", "integer", minimum=0, maximum=LARGEST_EDGE_ORDER, default=0
        ),
    },
    "additionalProperties": False,
    "if": {"properties": {"edge_type": {"const": "start"}}},
    "then": {"properties": {"source_action_id": {"enum": [None, ""]}}},
    "else": {"required": ["source_action_id"], "properties": {"source_action_id": {"type": "string", "minLength": 1}}},
}

SCHEMA: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:detent:schema:rule",
    "title": "Detent workflow, rule form",
    "description": "A workflow as actions and edges, run when a record changes. Times without a unit are seconds.",
    "type": "object",
    "required": ["name", "actions", "edges"],
    "anyOf": [{"required": ["trigger_type"]}, {"required": ["trigger_type_id"]}],
    "properties": {
        "form": {"description": "The form of this document.", "enum": [FORM, None], "default": FORM},
        "key": _maybe("The name of the workflow. It never changes. Without it, a slug of name.", "string"),
        "name": _text("The name that people read.", LONGEST_NAME),
        "description": _maybe("For people.", "string", minLength=1, maxLength=10_000),
        "is_active": _maybe("Whether it runs.", "boolean", default=True),
        "entity": _maybe("The entity whose records it is about.", "string", minLength=1, maxLength=200),
        "entity_id": _maybe("Another spelling of entity; a save takes its id too.", "string"),
        "trigger_type": _choice("When it runs.", [one.value for one in RuleTrigger]),
        "trigger_type_id": _maybe("Another spelling of trigger_type.", "string"),
        "trigger_conditions": {
            "description": "Which changes it is for.",
            "type": ["object", "null"],
            "properties": {
                "field_conditions": _maybe(
                    "Conditions on fields.",
                    "array",
                    items={"$ref": "#/$defs/FieldCondition"},
                    maxItems=MOST_CONDITIONS,
                ),
                "match": _choice("Whether all of them must be true, or any.", [one.value for one in Match], "all"),
            },
            "additionalProperties": False,
        },
        "cron_expression": _maybe("For scheduled: five fields, or @daily, @every 90m and their like.", "string"),
        "timezone": _maybe("For scheduled, such as Europe/Zurich.", "string", default="UTC"),
        "jitter": _maybe("For scheduled: a start is later by less than this.", _DURATION),
        "missed": _choice("For scheduled: which missed times start a run.", [str(one) for one in Missed], "last"),
        "missed_window": _maybe("For scheduled: how late a start may be.", _DURATION, default="1d"),
        "overlap": _choice(
            "What a time or an event does while a run is open. For events: allow or queue.",
            [str(one) for one in Overlap],
        ),
        "actions": {
            "description": "The actions. A rule has 1,000 at most, unless the operator allows another number.",
            "type": "array",
            "items": {"$ref": "#/$defs/Action"},
            "minItems": 1,
        },
        "edges": {"description": "The edges between them.", "type": "array", "items": {"$ref": "#/$defs/Edge"}},
        "labels": _maybe(
            "Names with texts, copied to every run.",
            "object",
            additionalProperties={"type": "string", "minLength": 1, "maxLength": 200},
            maxProperties=64,
        ),
        "queue": _maybe("Which nodes of Detent run it: those that serve this queue.", "string", pattern=_QUEUE),
        "priority": _maybe(
            "Of runs that wait for a node of Detent, larger ones go first.", "integer", minimum=-1000, maximum=1000
        ),
        "max_duration": _maybe("How long a run may take.", _DURATION, default="30d"),
        "max_parallel": _maybe(
            "How many attempts of a run may be in flight at once.", "integer", minimum=1, maximum=MOST_PARALLEL
        ),
        "on_unhandled": _choice(
            "What a failure does that no edge takes: it ends the run, or the other branches go on (settle).",
            [one.value for one in OnUnhandled],
            "fail",
        ),
        "vars": _maybe("Constants that expressions read as vars.NAME.", "object", maxProperties=MOST_VARS),
        "output": {
            "description": "What a run returns: any value with {{ templates }}. By default the output of its leaves."
        },
        "scope": _choice(
            "Which names expressions use. A document that was converted from another form names that form here.",
            list(SCOPES),
            FORM,
        ),
        "tests": _maybe(
            "Tests of the rule, which no version depends on. `detent test` runs them.",
            "array",
            items={"type": "object", "required": ["name", "expect"]},
            maxItems=MOST_TESTS,
        ),
        "canvas_layout": _maybe("Where an editor shows the actions. It is not part of the document.", "object"),
    },
    "additionalProperties": False,
    "$defs": {
        "Action": _ACTION,
        "Edge": _EDGE,
        "FieldCondition": _FIELD_CONDITION,
        **{one.name: _config(one) for one in ACTION_TYPES.values()},
    },
}
