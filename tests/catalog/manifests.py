"""Manifests for tests, with everything a test does not care about filled in."""

from typing import Any

from detent.catalog.connections import ServiceConnection
from detent.catalog.connector import Connector
from detent.catalog.data_action import DataAction, ServiceAnswer
from detent.catalog.manifest import build_connector

TOKEN = "tok-8a1c5e-not-to-be-seen"
CONNECTION = ServiceConnection("https://crm.example.com/v1", {"token": TOKEN})


def manifest(action: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    """A manifest with one action `run`."""
    default = {"request": {"method": "POST", "path": "/run", "body": {"a": 1}}}
    whole = {
        "connector": "crm",
        "version": "1.0.0",
        "base_url": "https://crm.example.com/v1",
        "auth": {"type": "bearer"},
        "actions": {"run": {**default, **(action or {})}},
    }
    return {**whole, **given}


def parameters(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


def compiled(action: dict[str, Any] | None = None, **given: Any) -> DataAction:
    connector = build_connector(manifest(action, **given))
    return DataAction(connector.definition(connector.actions[0]))


def shipped(connectors: tuple[Connector, ...], name: str) -> DataAction:
    id_, _, action = name.partition(".")
    connector = next(one for one in connectors if one.id == id_)
    return DataAction(connector.definition(next(one for one in connector.actions if one.id == action)))


def answered(body: Any, status: int = 200, **headers: str) -> ServiceAnswer:
    return ServiceAnswer(status, lambda: headers, body)
