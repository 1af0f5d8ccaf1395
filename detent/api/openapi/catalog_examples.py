"""The documents of the catalog that OpenAPI shows as examples."""

from __future__ import annotations

from typing import Any, Final

from detent.api.openapi.examples import many, one

__all__ = [
    "ACTION",
    "CONNECTOR",
    "IMPORT",
    "LISTED_ACTION",
    "LISTED_CONNECTOR",
    "MANIFEST",
    "MCP",
    "OPENAPI",
    "UPGRADE",
    "many",
    "one",
]

_AT: Final = "2026-02-22T10:05:00Z"
MANIFEST: Final[dict[str, Any]] = {
    "connector": "crm",
    "version": "1.0.0",
    "title": "Our CRM",
    "base_url": "https://crm.example/api",
    "auth": {"type": "bearer"},
    "actions": {
        "get-customer": {
            "title": "Get a customer",
            "category": "Data",
            "parameters": {
                "type": "object",
                "required": ["customerId"],
                "properties": {"customerId": {"type": "string"}},
                "additionalProperties": False,
            },
            "request": {"path": "/customers/{customerId}"},
            "output": {"name": "{{ response.body.name }}"},
            "effect": "none",
        }
    },
}
LISTED_CONNECTOR: Final[dict[str, Any]] = {
    "id": "crm",
    "display_name": "Our CRM",
    "description": "",
    "version": "1.0.0",
    "icon_url": None,
    "documentation_url": None,
    "enabled": True,
    "requires_auth": True,
    "auth_type": "bearer",
    "config_schema": None,
    "capabilities": ["actions"],
    "source": "manifest",
    "base_url": "https://crm.example/api",
    "missing": ["CONNECTOR_CRM_TOKEN"],
    "inserted_at": _AT,
}
CONNECTOR: Final[dict[str, Any]] = {**LISTED_CONNECTOR, "auth": {"type": "bearer"}}
LISTED_ACTION: Final[dict[str, Any]] = {
    "id": "crm.get-customer",
    "connector_id": "crm",
    "display_name": "Get a customer",
    "description": "",
    "category": "Data",
    "version": "1.0.0",
    "enabled": True,
    "deprecation_notice": None,
    "tags": [],
    "effect": {"kind": "none", "key": None, "probe": None},
    "source": "manifest",
    "inserted_at": _AT,
}
ACTION: Final[dict[str, Any]] = {
    **LISTED_ACTION,
    "parameter_schema": MANIFEST["actions"]["get-customer"]["parameters"],
    "output_schema": {},
}
FACETS: Final[dict[str, Any]] = {
    "connectors": [{"value": "crm", "count": 2}],
    "categories": [{"value": "Data", "count": 2}],
    "tags": [{"value": "customers", "count": 1}],
}
OPENAPI: Final[dict[str, Any]] = {
    "openapi": "3.1.0",
    "info": {"title": "Our CRM", "version": "7"},
    "servers": [{"url": "https://crm.example/api"}],
    "paths": {
        "/customers/{customerId}": {
            "get": {
                "operationId": "getCustomer",
                "parameters": [{"name": "customerId", "in": "path", "required": True, "schema": {"type": "string"}}],
                "responses": {"200": {"description": "The customer."}},
            }
        }
    },
}
MCP: Final[dict[str, Any]] = {
    "name": "search",
    "url": "https://mcp.example/mcp",
    "tools": [
        {
            "name": "find",
            "description": "Finds documents.",
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        }
    ],
}
IMPORT: Final[dict[str, Any]] = {
    "dry_run": True,
    "changed": True,
    "version": "2.0.0",
    "operations": 12,
    "actions": 11,
    "skipped": [{"operation": "POST /files", "reason": "its body is application/octet-stream, which is not text"}],
    "added": ["crm.list-invoices"],
    "changes": [{"action": "crm.get-customer", "breaks": ["the parameter 'region' is required now"]}],
    "removed": ["crm.delete-customer"],
    "broken_steps": [
        {
            "workflow": "onboarding",
            "step": "look-up",
            "action": "crm.get-customer",
            "problems": ["the parameter 'region' is required now"],
        }
    ],
    "connector": CONNECTOR,
}
UPGRADE: Final[dict[str, Any]] = {
    "connector": "crm",
    "dry_run": False,
    "workflows": [
        {
            "workflow": "onboarding",
            "version": 3,
            "new_version": 4,
            "blocked": False,
            "steps": [
                {
                    "step": "look-up",
                    "action": "crm.get-customer",
                    "old_version": "1.0.0",
                    "new_version": "1.1.0",
                    "problems": [],
                }
            ],
            "problems": [],
        }
    ],
}
