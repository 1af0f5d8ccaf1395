"""The documents of templates that OpenAPI shows as examples."""

from __future__ import annotations

from typing import Any, Final

from detent.api.openapi.examples import many, one

__all__ = ["many", "one"]

_AT: Final = "2026-02-22T10:05:00Z"

WORKFLOW_TEMPLATE: Final[dict[str, Any]] = {
    "id": "call-and-tell",
    "title": "Call and tell",
    "description": "Call an address, then another one.",
    "category": "integration",
    "tags": ["http"],
    "author": "api",
    "is_official": False,
    "inserted_at": _AT,
}
_TEXTS: Final[dict[str, Any]] = {
    "config_schema": {
        "type": "object",
        "required": ["url"],
        "properties": {"url": {"type": "string"}, "tries": {"type": "integer", "default": 3}},
    },
    "definition": {"tasks": {"call": {"url": "${config.url}", "retries": "${config.tries}"}}},
}
WHOLE_TEMPLATE: Final[dict[str, Any]] = {**WORKFLOW_TEMPLATE, **_TEXTS}
NEW_TEMPLATE: Final[dict[str, Any]] = {
    **{name: WORKFLOW_TEMPLATE[name] for name in ("id", "title", "description", "category", "tags")},
    **_TEXTS,
}
INSTANTIATE: Final[dict[str, Any]] = {
    "display_name": "Call the shop",
    "config": {"url": "https://shop.example/api/call", "tries": 5},
}
INSTANTIATED: Final[dict[str, Any]] = {
    "workflow_id": "wf_01k5c1s2m4d7x8y9z0a1b2c3d4",
    "workflow": "call-the-shop",
    "status": "draft",
    "revision": 1,
    "problems": [],
}
TEMPLATE_SET: Final[dict[str, Any]] = {
    "id": "project-briefs",
    "title": "Project briefs",
    "team": "product",
    "enabled": True,
    "inserted_at": _AT,
    "updated_at": _AT,
}
SET_CHANGE: Final[dict[str, Any]] = {name: TEMPLATE_SET[name] for name in ("title", "team", "enabled")}
DOCUMENT: Final[dict[str, Any]] = {
    "set": "project-briefs",
    "id": "mobile-app",
    "version": 1,
    "title": "Mobile app",
    "team": "product",
    "format": "html",
    "enabled": True,
    "saved_by": "api",
    "inserted_at": _AT,
}
NEW_VERSION: Final[dict[str, Any]] = {
    "title": "Mobile app",
    "format": "html",
    "fields": {
        "fields": [{"id": "title", "label": "Title"}],
        "validation": {
            "jsonSchema": {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}
        },
    },
    "body": "<h1>{{ title }}</h1>",
}
NEW_DOCUMENT: Final[dict[str, Any]] = {"set": "project-briefs", "id": "mobile-app", **NEW_VERSION}
WHOLE_DOCUMENT: Final[dict[str, Any]] = {**DOCUMENT, "versions": [1], **NEW_VERSION}
RENDER: Final[dict[str, Any]] = {"answers": {"title": "Recommendations"}}
RENDERED: Final[dict[str, Any]] = {
    "rendered_body": "<h1>Recommendations</h1>",
    "metadata": {
        "templateSetId": "project-briefs",
        "templateId": "mobile-app",
        "version": 1,
        "displayName": "Mobile app",
        "format": "html",
    },
}
