"""What a caller may do. Every command on rules asks here, and nowhere else."""

from __future__ import annotations

from enum import StrEnum

from detent.auth.caller import Caller


class Permission(StrEnum):
    """What a command needs. Reading and changing are apart, and so is what people do with alerts."""

    READ_RULES = "rules.read"
    WRITE_RULES = "rules.write"
    READ_ENTITIES = "entities.read"
    WRITE_ENTITIES = "entities.write"
    READ_ALERTS = "alerts.read"
    SETTLE_ALERTS = "alerts.settle"


def require(caller: Caller, permission: Permission) -> None:
    """Raise Forbidden unless the caller may do this. Every caller of a tenant may do everything so far."""
