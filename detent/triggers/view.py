"""Build the documents of triggers and firings, and hide the secrets of triggers."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from detent.documents.triggers import FiringDocument, TriggerDocument
from detent.forms.triggers import HIDDEN
from detent.ids import FIRING, RUN, TRIGGER, WORKFLOW, show
from detent.instant import Instant, as_datetime
from detent.store.trigger_rows import FiringRow, TriggerRow
from detent.triggers import record

WEBHOOKS: Final = "/api/v1/triggers"


def trigger_document(row: TriggerRow, base_url: str) -> TriggerDocument:
    """Build the document of a trigger, without its secrets."""
    id_ = show(TRIGGER, row.id)
    return TriggerDocument(
        id=id_,
        workflow_id=show(WORKFLOW, row.workflow),
        workflow=row.workflow_name,
        type=row.kind,
        name=row.name,
        enabled=row.enabled,
        owned_by="definition" if row.owned else "api",
        config=hide(json.loads(row.config)),
        condition=row.condition,
        note=row.note,
        url=f"{base_url.rstrip('/')}{WEBHOOKS}/{id_}" if row.kind == "webhook" else None,
        next_at=_when(row.next_at),
        last_fired_at=_when(row.last_at),
        inserted_at=as_datetime(row.created_at),
        updated_at=as_datetime(row.updated_at),
    )


def firing_document(row: FiringRow, *, whole: bool = False) -> FiringDocument:
    """Build the document of a firing; lists leave out the request."""
    return FiringDocument(**firing_fields(row), request=record.request_of(row).document() if whole else None)


def firing_fields(row: FiringRow) -> dict[str, Any]:
    """Return the fields of the document of a firing, without its request."""
    why = record.decode(row.message)
    return {
        "id": show(FIRING, row.id),
        "trigger_id": show(TRIGGER, row.trigger),
        "type": row.kind,
        "status": row.state,
        "scheduled_at": _when(record.request_of(row).scheduled_at),
        "received_at": as_datetime(row.at),
        "run_id": None if row.run is None else show(RUN, row.run),
        "message": None if why is None else why.text(),
        "replay_of": None if row.replay_of is None else show(FIRING, row.replay_of),
    }


def hide(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config without its secrets. The name of an environment variable is not a secret."""
    if "signature" not in config:
        return config
    signature = config["signature"]
    shown = [HIDDEN if isinstance(secret, str) else secret for secret in signature["secrets"]]
    return config | {"signature": signature | {"secrets": shown}}


def unhide(config: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """Return a config whose hidden secrets are those of the old config, at the same index."""
    signature = config.get("signature")
    known = old.get("signature", {}).get("secrets", [])
    if not isinstance(signature, dict) or not isinstance(signature.get("secrets"), list):
        return config
    secrets = [
        known[index] if secret == HIDDEN and index < len(known) else secret
        for index, secret in enumerate(signature["secrets"])
    ]
    written = {name: value for name, value in signature.items() if value != ""}
    return config | {"signature": written | {"secrets": secrets}}


def _when(instant: Instant | None) -> datetime | None:
    return None if instant is None else as_datetime(instant)
