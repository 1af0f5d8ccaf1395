"""Check the credential of a connector: send the request of its probe, as a step of this machine would."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from detent.catalog.connections import EnvironmentConnections, MissingConnection
from detent.catalog.connector import ActionSpec, Auth, DataDefinition
from detent.cli.client import Document
from detent.errors import InvalidInput
from detent.graph.model import StepKind
from detent.ids import new_id
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome
from detent.settings import Settings
from detent.steps.data_action import CatalogActions, StoredDefinition
from detent.steps.egress import EgressPolicy
from detent.steps.http.step import HttpExecutor
from detent.tenants.limits import INSTALLATION

_TIMEOUT: Final = 20.0


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """What a service said to a credential."""

    is_accepted: bool
    message: str


def probe_connector(document: Document, settings: Settings) -> ProbeOutcome:
    """Send the probe of a connector. Raise InvalidInput if it has none or is not set up in this environment."""
    if not document.get("probe"):
        raise InvalidInput(f"the connector {document['id']!r} has no probe; call one of its actions in a run instead")
    definition = DataDefinition(
        connector=document["id"],
        base_url=document["base_url"],
        auth=msgspec.convert(document.get("auth") or {}, Auth, strict=False),
        action=msgspec.convert(document["probe"], ActionSpec, strict=False),
        acting_user_headers=False,
    )
    connections = EnvironmentConnections()
    try:
        connections.find(definition.connector, definition.base_url, definition.auth)
    except MissingConnection as error:
        raise InvalidInput(str(error)) from None
    match asyncio.run(_send(definition, connections, settings)):
        case Done():
            return ProbeOutcome(True, "the service accepts the credential")
        case Fail(error=refusal):
            return ProbeOutcome(False, refusal.message)
        case other:
            return ProbeOutcome(False, repr(other))


async def _send(definition: DataDefinition, connections: EnvironmentConnections, settings: Settings) -> Outcome:
    async def load(*_: Any) -> StoredDefinition:
        return StoredDefinition(msgspec.json.encode(definition), is_own=False)

    http = HttpExecutor(EgressPolicy.from_texts(settings.egress_allow, ()))
    parameters = {"action": f"{definition.connector}.probe", "version": definition.action.version, "with": {}}
    call = StepCall(new_id(), INSTALLATION, "probe", StepKind.ACTION, 1, parameters, _TIMEOUT)
    try:
        return await CatalogActions(http, load, connections).begin(call)
    finally:
        await http.close()
