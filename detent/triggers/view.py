"""Triggers and firings as people see them."""

from __future__ import annotations

import json
from typing import Any, Final

from detent.forms.triggers import HIDDEN
from detent.ids import FIRING, RUN, TRIGGER, WORKFLOW, show
from detent.instant import Instant, iso
from detent.store.trigger_rows import FiringRow, TriggerRow
from detent.triggers import record

#: What stands in the place of a secret. Sent back, it means the secret that is there.

WEBHOOKS: Final = "/api/v1/triggers"


def trigger_document(row: TriggerRow, base_url: str) -> dict[str, Any]:
    """The document of a trigger. Secrets are never shown."""
    id_ = show(TRIGGER, row.id)
    return {
        "id": id_,
        "workflow_id": show(WORKFLOW, row.workflow),
        "workflow": row.workflow_name,
        "type": row.kind,
        "name": row.name,
        "enabled": row.enabled,
        "owned_by": "definition" if row.owned else "api",
        "config": hide(json.loads(row.config)),
        "condition": row.condition,
        "note": row.note,
        "url": f"{base_url.rstrip('/')}{WEBHOOKS}/{id_}" if row.kind == "webhook" else None,
        "next_at": _when(row.next_at),
        "last_fired_at": _when(row.last_at),
        "inserted_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
    }


def firing_document(row: FiringRow, *, whole: bool = False) -> dict[str, Any]:
    """The document of a firing; in lists without what was received."""
    request, why = record.request_of(row), record.decode(row.message)
    document = {
        "id": show(FIRING, row.id),
        "trigger_id": show(TRIGGER, row.trigger),
        "type": row.kind,
        "status": row.state,
        "scheduled_at": _when(request.scheduled_at),
        "received_at": iso(row.at),
        "run_id": None if row.run is None else show(RUN, row.run),
        "message": None if why is None else why.text(),
        "replay_of": None if row.replay_of is None else show(FIRING, row.replay_of),
    }
    return document | {"request": request.document()} if whole else document


def hide(config: dict[str, Any]) -> dict[str, Any]:
    """A config without its secrets; the name of a variable is none."""
    if "signature" not in config:
        return config
    signature = config["signature"]
    shown = [HIDDEN if isinstance(secret, str) else secret for secret in signature["secrets"]]
    return config | {"signature": signature | {"secrets": shown}}


def unhide(config: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """A config in which the hidden secrets are those of the old one, each in its place."""
    signature = config.get("signature")
    known = old.get("signature", {}).get("secrets", [])
    if not isinstance(signature, dict) or not isinstance(signature.get("secrets"), list):
        return config
    secrets = [
        known[place] if secret == HIDDEN and place < len(known) else secret
        for place, secret in enumerate(signature["secrets"])
    ]
    written = {name: value for name, value in signature.items() if value != ""}
    return config | {"signature": written | {"secrets": secrets}}


def _when(instant: Instant | None) -> str | None:
    return None if instant is None else iso(instant)
