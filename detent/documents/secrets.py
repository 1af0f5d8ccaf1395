"""The documents of secrets. None of them has a value."""

from __future__ import annotations

from datetime import datetime

import msgspec


class SecretDocument(msgspec.Struct, kw_only=True):
    """A secret without its value. `version` rises with every new value. It is sent to `hosts` only; empty means all."""

    name: str
    version: int
    hosts: list[str]
    created_at: datetime
    updated_at: datetime
    updated_by: str


class RotationDocument(msgspec.Struct, kw_only=True):
    """What a rotation did: the id of the key that seals now, how many secrets it sealed, and how many it had sealed
    before."""

    key: str
    sealed: int
    current: int
