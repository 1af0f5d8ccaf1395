"""The JSON Schema of the graph form, draft 2020-12: what editors complete, and what other programs check.

It describes every key. It cannot say what refers to what: cycles, unknown targets and reads are found by `form` only.
A key whose value is null counts as not written, as everywhere in definitions.
"""

from __future__ import annotations

from typing import Any, Final

from detent.forms.aliases import SCOPES
from detent.forms.graph.node import (
    LARGEST_FACTOR,
    LONGEST_WAIT,
    MOST_ATTEMPTS,
    SHORTEST_LIMIT,
    NodeType,
    OnError,
    RoutePolicy,
    When,
)
from detent.forms.kinds import MOST_ITEMS, MOST_PARALLEL_ITEMS
from detent.forms.text_tests import MOST_TESTS
from detent.graph.model import Ending, ItemFailure, Join, OnCrash, Overflow, SnapshotMode
from detent.values.limits import LARGEST_VERSION

Schema = dict[str, Any]

_NODE_ID: Final = "^[A-Za-z_][A-Za-z0-9_-]{0,63}$"
_QUEUE: Final = "^[A-Za-z_][A-Za-z0-9_.-]{0,63}$"
_EXPRESSION: Final = "of the expression language, over trigger, spec, vars, context.data['NODE'] and steps.NODE"


def _maybe(description: str, type_: str | list[str], **rest: Any) -> Schema:
    """Return the schema of a key that may be left out, or null."""
    types = [type_] if isinstance(type_, str) else type_
    return {"description": description, "type": [*types, "null"], **rest}


def _choice(description: str, words: list[str], default: str) -> Schema:
    return {"description": description, "enum": [*words, None], "default": default}


def _text(description: str, most: int, **rest: Any) -> Schema:
    return {"description": description, "type": "string", "minLength": 1, "maxLength": most, **rest}


_RETRY: Final[Schema] = {
    "description": "When a failed attempt is repeated.",
    "type": ["object", "null"],
    "properties": {
        "maxAttempts": _maybe(
            "How many attempts in all, the first one included; 0 means one attempt too.",
            "integer",
            minimum=0,
            maximum=MOST_ATTEMPTS,
            default=3,
        ),
        "baseDelayMs": _maybe(
            "The pause after the first attempt.", "number", minimum=0, maximum=LONGEST_WAIT, default=2000
        ),
        "backoffFactor": _maybe(
            "By what the pause grows each time.", "number", minimum=1, maximum=LARGEST_FACTOR, default=2
        ),
        "jitter": _maybe("Shorten each pause by chance to 10-100 % of its length.", "boolean", default=True),
        "maxDelayMs": _maybe("The longest pause.", "number", minimum=0, maximum=LONGEST_WAIT, default=3_600_000),
    },
    "additionalProperties": False,
}

_POLICIES: Final[Schema] = {
    "description": "How the node is tried: a node with attempts only.",
    "type": ["object", "null"],
    "properties": {
        "timeoutMs": {
            "description": "The longest that one attempt may take, or none. The default of an action is 5 minutes; a "
            "child has none.",
            "anyOf": [
                {"type": "number", "minimum": SHORTEST_LIMIT, "maximum": LONGEST_WAIT},
                {"enum": ["none", None]},
            ],
        },
        "retry": {"$ref": "#/$defs/Retry"},
        "rerenderOnRetry": _maybe(
            "Whether attempt.number, attempt.at, now() and uuid() are those of each attempt. By default they are those "
            "of the first one, so every attempt sends the same.",
            "boolean",
            default=False,
        ),
        "sensitive": _maybe(
            "Whether the result is sealed: later nodes read it, and people see ***.", "boolean", default=False
        ),
        "onCrash": _choice(
            "What happens to an attempt that was in flight when its process died: repeat it, fail, pause the run "
            "until a person says whether it happened, or ask the probe that its action declares.",
            [word.value for word in OnCrash],
            OnCrash.RETRY.value,
        ),
    },
    "additionalProperties": False,
}

_REPEAT: Final[Schema] = {
    "description": "Look again and again until the result is as wanted. Between two looks the run costs nothing.",
    "type": ["object", "null"],
    "required": ["until"],
    "properties": {
        "until": _maybe("When it is enough: a condition over result.", ["string", "boolean"]),
        "every": _maybe("The pause between two looks: seconds, or a duration such as 30s.", ["number", "string"]),
        "factor": _maybe("How much longer each pause is.", "number", minimum=1, maximum=LARGEST_FACTOR, default=1),
        "maxWait": _maybe("The longest pause.", ["number", "string"]),
        "giveUpAfter": _maybe("How long to look before the node ends as timed out.", ["number", "string"]),
    },
    "additionalProperties": False,
}

_EDGE: Final[Schema] = {
    "description": "An edge to a node that may run after this one.",
    "type": "object",
    "required": ["targetNode"],
    "properties": {
        "targetNode": _text("The id of the node that it leads to.", 200),
        "when": {
            "description": "How the node must have ended: success, failure (a timeout too), always (success or "
            "failure), any (skipped too), or a list of endings. An edge with always takes care of no failure.",
            "anyOf": [
                {"enum": [*(word.value for word in When), None]},
                {"type": "array", "items": {"enum": [ending.value for ending in Ending]}, "minItems": 1},
            ],
            "default": When.SUCCESS.value,
        },
        "condition": _maybe(
            f"The edge is only taken if this is true: a condition {_EXPRESSION}.", ["string", "boolean"]
        ),
        "onError": {
            "description": "What happens if the condition cannot be evaluated: the target fails, or (false) the edge "
            "is not taken and the error is noted.",
            "enum": [*(word.value for word in OnError), False, None],
            "default": OnError.FAIL.value,
        },
        "otherwise": _maybe(
            "Consider this edge last, and take it only if no edge before it takes care of the ending. onFailure is "
            "such an edge.",
            "boolean",
            default=False,
        ),
        "handles": _maybe(
            "Whether a failure that takes this edge counts as handled. By default it does, except with always.",
            "boolean",
        ),
    },
    "additionalProperties": False,
}

_NODE: Final[Schema] = {
    "description": "One node: an action, a child workflow or a condition.",
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {
            "description": "Its id, unique in the workflow, also without regard to case.",
            "type": "string",
            "pattern": _NODE_ID,
        },
        "displayName": _maybe("The name that people read.", "string", minLength=1, maxLength=200),
        "description": _maybe("For people.", "string", minLength=1, maxLength=10_000),
        "nodeType": _choice(
            "What it is. Without it, a node that names a workflowId and no actionType is a subworkflow.",
            [word.value for word in NodeType],
            NodeType.ACTION.value,
        ),
        "actionType": _maybe(
            "The action: one of yours, or core.echo, core.fail, core.log, core.delay, core.wait, core.http.request.",
            "string",
            minLength=1,
            maxLength=128,
        ),
        "parameters": _maybe(
            "Parameters of the action, or the body that the child begins with. Texts may have {{ templates }}.",
            "object",
        ),
        "policies": {"$ref": "#/$defs/Policies"},
        "credential": _maybe("The stored credential that its requests carry.", "string", maxLength=64),
        "workflowId": _maybe("The workflow that a subworkflow starts.", "string", minLength=1, maxLength=200),
        "workflowVersion": _maybe(
            "Its version; without it the current one.", "integer", minimum=1, maximum=LARGEST_VERSION
        ),
        "waitForCompletion": _maybe(
            "Whether the node ends when its child ends, or at once when it has started.", "boolean", default=True
        ),
        "allowRecursion": _maybe("Whether the child may be a workflow above it.", "boolean", default=False),
        "expression": _maybe(
            f"What a condition asks, {_EXPRESSION}. Its output is true or false.", ["string", "boolean"]
        ),
        "forEach": _maybe(
            "The node runs once for each item of this list. Its parameters read item and index.", ["array", "string"]
        ),
        "maxParallel": _maybe(
            "How many items are in flight at once.", "integer", minimum=1, maximum=MOST_PARALLEL_ITEMS, default=10
        ),
        "collect": {"description": "A template over the result of an item: what the output has of it."},
        "onItemFailure": _choice(
            "Whether the first item that fails ends the node, or the others go on.",
            [word.value for word in ItemFailure],
            ItemFailure.STOP.value,
        ),
        "tolerate": _maybe("How many items may fail: a number, or a share such as 5%.", ["integer", "string"]),
        "maxItems": _maybe("A longer list fails the node.", "integer", minimum=1, maximum=MOST_ITEMS, default=10_000),
        "repeat": {"$ref": "#/$defs/Repeat"},
        "delay": _maybe("The pause before its first attempt: seconds, or a duration.", ["number", "string"]),
        "edges": _maybe("Where it leads. With firstMatch their order counts.", "array", items={"$ref": "#/$defs/Edge"}),
        "onFailure": _maybe(
            "The node that runs if this one fails and none of its edges takes care of the failure.",
            "string",
            minLength=1,
            maxLength=200,
        ),
        "routePolicy": _choice(
            "Which of the satisfied edges are taken: all of them, or the first one.",
            [word.value for word in RoutePolicy],
            RoutePolicy.PARALLEL.value,
        ),
        "join": _choice(
            "With several incoming edges it runs when all are decided, and at least one of them (any) or every one "
            "(all) is taken.",
            [word.value for word in Join],
            Join.ANY.value,
        ),
        "if": _maybe(f"A condition {_EXPRESSION}. If it is false, the node is skipped.", ["string", "boolean"]),
        "queue": _maybe("Checked and stored. The queue of the workflow decides.", "string", pattern=_QUEUE),
        "priority": _maybe(
            "Checked and stored. The priority of the workflow decides.", "integer", minimum=-1000, maximum=1000
        ),
    },
    "additionalProperties": False,
    "anyOf": [{"required": ["actionType"]}, {"required": ["workflowId"]}, {"required": ["expression"]}],
    "allOf": [
        {
            "if": {"properties": {"nodeType": {"const": word}}, "required": ["nodeType"]},
            "then": {"required": [key]},
        }
        for word, key in (("action", "actionType"), ("subworkflow", "workflowId"), ("condition", "expression"))
    ],
}

SCHEMA: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:detent:schema:graph",
    "title": "Detent workflow, graph form",
    "description": "A workflow as nodes with edges. Times without a unit are seconds; names that end in Ms count "
    "milliseconds.",
    "type": "object",
    "required": ["id", "displayName", "nodes"],
    "anyOf": [{"required": ["startNode"]}, {"required": ["startNodes"]}],
    "properties": {
        "id": _text("The name of the workflow. It never changes.", 200, pattern="^[a-z0-9-]+$"),
        "displayName": _text("The name that people read.", 200),
        "description": _maybe("For people.", "string", minLength=1, maxLength=10_000),
        "form": {"description": "The form of this document.", "enum": ["graph", None], "default": "graph"},
        "startNode": _maybe("The id of the node that runs first.", "string", minLength=1, maxLength=200),
        "startNodes": _maybe(
            "The ids of the nodes that run first, instead of startNode.", "array", items={"type": "string"}, minItems=1
        ),
        "nodes": {
            "description": "The nodes. A workflow has 1,000 at most, unless the operator allows another number.",
            "type": "array",
            "items": {"$ref": "#/$defs/Node"},
            "minItems": 1,
        },
        "triggerSchema": _maybe("A JSON Schema that the body of every start must match.", ["object", "boolean"]),
        "enabled": _maybe("Whether runs can be started.", "boolean", default=True),
        "vars": _maybe("Constants that expressions read as vars.NAME.", "object", maxProperties=1000),
        "output": {
            "description": "What a run returns: any value with {{ templates }}. By default the output of its leaves."
        },
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
        "maxDuration": _maybe(
            "How long a run may take: a duration such as 90m, a number of seconds, or none.",
            ["string", "number"],
            default="1h",
        ),
        "maxParallel": _maybe(
            "How many attempts of a run may be in flight at once.", "integer", minimum=1, maximum=100_000
        ),
        "onUnhandled": _choice(
            "What a failure does that no edge takes: it ends the run, or the other branches go on (settle).",
            ["fail", "settle"],
            "fail",
        ),
        "onePerHero": _maybe("A hero has at most one open run of this workflow.", "boolean", default=False),
        "scope": _choice(
            "Which names expressions use. A document that was converted from another form names that form here.",
            list(SCOPES),
            "graph",
        ),
        "tests": _maybe(
            "Tests of the workflow, which no version depends on. `detent test` runs them.",
            "array",
            items={"type": "object", "required": ["name", "expect"]},
            maxItems=MOST_TESTS,
        ),
        "contextSnapshot": {
            "description": "How large the outputs may be that later nodes read, and what `include=context` shows.",
            "type": ["object", "null"],
            "properties": {
                "mode": _choice(
                    "What is shown of the outputs: all, sizes and types (summary), or those of the nodes in keys.",
                    [str(mode) for mode in SnapshotMode],
                    "summary",
                ),
                "keys": _maybe("The nodes whose outputs are shown in mode keys.", "array", items={"type": "string"}),
                "maxBytes": _maybe(
                    "How many bytes the results may have together that later nodes read.",
                    "integer",
                    minimum=1,
                    maximum=1024 * 1024 * 1024,
                    default=10 * 1024 * 1024,
                ),
                "overflow": _choice(
                    "What a result does that exceeds maxBytes: its node fails, or the oldest or this one is dropped.",
                    [str(one) for one in Overflow],
                    "fail",
                ),
            },
            "additionalProperties": False,
        },
        "trigger": _maybe(
            "What starts it: api, cron, webhook, event or manual, or a block with a type.", ["string", "object"]
        ),
        "cron_expression": _maybe("For trigger cron: five fields, or @daily, @every 90m and their like.", "string"),
        "timezone": _maybe("For trigger cron, such as Europe/Zurich.", "string"),
    },
    "additionalProperties": False,
    "$defs": {"Node": _NODE, "Edge": _EDGE, "Policies": _POLICIES, "Retry": _RETRY, "Repeat": _REPEAT},
}
