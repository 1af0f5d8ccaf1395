"""The JSON Schema of a manifest, draft 2020-12: what editors complete, and what other programs check.

It describes every key. It cannot say what a template may read: that is found by `manifest.py` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from detent.catalog.action import EffectKind
from detent.catalog.connector import AuthType, BodyEncoding, KeyPlace
from detent.catalog.manifest import (
    LONGEST_ACTION,
    LONGEST_DESCRIPTION,
    LONGEST_ID,
    LONGEST_PATH,
    LONGEST_TEXT,
    LONGEST_TITLE,
    MOST_ACTIONS,
    MOST_LINKS,
    MOST_PAGES,
    MOST_TAGS,
)
from detent.forms.compile import schema_of
from detent.forms.kinds import METHODS, MOST_HEADERS

Schema = dict[str, Any]
#: The name that the schema of manifests is published under, beside those of the forms.
NAME: Final = "connector"


def published_schema(name: str) -> Mapping[str, Any]:
    """Return the JSON Schema of manifests, or of a form of definitions. Raise NotFound if there is none."""
    return SCHEMA if name == NAME else schema_of(name)


def _text(description: str, most: int = LONGEST_TITLE, **rest: Any) -> Schema:
    return {"description": description, "type": ["string", "null"], "minLength": 1, "maxLength": most, **rest}


def _choice(description: str, words: list[str]) -> Schema:
    return {"description": description, "enum": [*words, None]}


def _object(description: str, properties: Schema, *required: str) -> Schema:
    return {
        "description": description,
        "type": ["object", "null"],
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_CONDITION: Final[Schema] = {"type": ["string", "boolean", "null"], "maxLength": LONGEST_TEXT}
_VERSION: Final[Schema] = {
    "type": "string",
    "pattern": r"^\d{1,4}\.\d{1,4}\.\d{1,4}$",
    "description": "Three numbers: 1.2.0",
}
_URL: Final[Schema] = {"maxLength": LONGEST_PATH, "pattern": "^https?://"}
_MAPPING: Final[Schema] = {"type": ["object", "null"]}
_REQUEST: Final = _object(
    "The request. Its templates read `with` and `credential`.",
    {
        "method": _choice("GET by default.", list(METHODS)),
        "path": _text("What follows the base_url. `{name}` is a parameter.", LONGEST_PATH, pattern="^/"),
        "query": {**_MAPPING, "description": "Names and values of the query."},
        "headers": {**_MAPPING, "maxProperties": MOST_HEADERS, "description": "Names and values of headers."},
        "body": {"description": "The body: a template."},
        "as": _choice("How the body is written: json by default.", [one.value for one in BodyEncoding]),
    },
    "path",
)
_ERROR: Final = _object(
    "What a failed answer means. Templates read `with` and `response`.",
    {
        "code": _text("The code of the error.", LONGEST_TEXT),
        "message": _text("The message of the error.", LONGEST_TEXT),
        "retry": {**_CONDITION, "description": "Whether another attempt may help; the status decides by default."},
    },
)
_ACTION: Final = _object(
    "One action: one request.",
    {
        "version": _VERSION,
        "title": _text("What people read."),
        "description": _text("What it does.", LONGEST_DESCRIPTION),
        "category": _text("Data, Communication, Document, ..."),
        "tags": {"type": ["array", "null"], "maxItems": MOST_TAGS, "items": {"type": "string"}},
        "parameters": {**_MAPPING, "description": "The JSON Schema of its parameters; none by default."},
        "output_schema": {**_MAPPING, "description": "The JSON Schema of its output."},
        "request": _REQUEST,
        "success": {**_CONDITION, "description": "Whether an answer is a success; a status of 2xx by default."},
        "error": _ERROR,
        "output": {"description": "A template over `with` and `response`; the body by default."},
        "links": {
            "description": "Resources of the service that belong to the run.",
            "type": ["array", "null"],
            "maxItems": MOST_LINKS,
            "items": _object(
                "A resource.",
                {
                    "system": _text("The service.", LONGEST_TEXT),
                    "type": _text("The type of the resource.", LONGEST_TEXT),
                    "id": _text("Its id.", LONGEST_TEXT),
                    "url": _text("Where people find it.", LONGEST_TEXT),
                },
                "system",
                "type",
                "id",
            ),
        },
        "effect": {
            "description": "What a repeated attempt does to the world.",
            "anyOf": [
                _choice("The kind.", [one.value for one in EffectKind]),
                _object(
                    "The kind with what belongs to it.",
                    {
                        "kind": _choice("The kind.", [one.value for one in EffectKind]),
                        "key": _text("The header of the idempotency key, or body.FIELD."),
                        "probe": _text("The action that says whether the effect happened.", LONGEST_ACTION),
                    },
                ),
            ],
        },
        "pagination": _object(
            "How the pages of an answer follow each other.",
            {
                "items": {**_CONDITION, "description": "The list of one page."},
                "next": {**_CONDITION, "description": "The mark of the next page; null at the end."},
                "into": _text("Where the request carries the mark: query.NAME, body.PATH or url."),
                "link_header": {"type": ["boolean", "null"], "description": "The header Link has the next page."},
                "max_pages": {"type": ["integer", "null"], "minimum": 1, "maximum": MOST_PAGES, "default": 10},
                "on_more": _choice("After the last page that is read: fail by default.", ["fail", "stop"]),
            },
            "items",
        ),
        "deprecated": _text("What its users should do instead.", LONGEST_TEXT),
    },
    "request",
)

SCHEMA: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A connector of Detent",
    "type": "object",
    "required": ["connector", "version", "actions"],
    "additionalProperties": False,
    "properties": {
        "connector": {
            "description": "The id of the connector; its actions are named CONNECTOR.ACTION.",
            "type": "string",
            "pattern": "^[a-z][a-z0-9-]*$",
            "maxLength": LONGEST_ID,
        },
        "version": _VERSION,
        "title": _text("What people read."),
        "description": _text("What the service is for.", LONGEST_DESCRIPTION),
        "icon_url": {"type": ["string", "null"], **_URL},
        "documentation_url": {"type": ["string", "null"], **_URL},
        "base_url": {
            "description": "Where the service is. Without it the operator sets CONNECTOR_ID_URL.",
            "type": ["string", "null"],
            **_URL,
        },
        "auth": _object(
            "How requests authenticate.",
            {
                "type": _choice("The type.", [one.value for one in AuthType]),
                "in": _choice("Where an API key is: header by default.", [one.value for one in KeyPlace]),
                "name": _text("The header or query parameter of an API key."),
                "token_url": {"type": ["string", "null"], **_URL},
                "service": _text("The service in a signature of aws4.", pattern="^[a-z][a-z0-9-]*$"),
                "region": _text("Its region, unless CONNECTOR_ID_REGION is set.", pattern="^[a-z][a-z0-9-]*$"),
                "scopes": {"type": ["array", "null"], "maxItems": MOST_TAGS, "items": {"type": "string"}},
            },
            "type",
        ),
        "acting_user_headers": {
            "description": "Whether requests name the user that the run acts for; true by default.",
            "type": ["boolean", "null"],
        },
        "probe": _object(
            "A request that checks a credential.",
            {"request": _REQUEST, "success": _CONDITION, "error": _ERROR},
            "request",
        ),
        "actions": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": MOST_ACTIONS,
            "propertyNames": {"pattern": "^[a-z0-9][a-z0-9._-]*$", "maxLength": LONGEST_ACTION},
            "additionalProperties": _ACTION,
        },
    },
}
