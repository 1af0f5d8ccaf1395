"""The documents of credentials. None of them has a sealed part."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import Json


class CredentialDocument(msgspec.Struct, kw_only=True):
    """A credential without what is sealed of it.

    `state` is `new` (a person has not connected it), `ready`, or `reconnect` (its grant is dead; `reason` says why).
    `version` counts what was sealed: each change by a person, and each token that a provider has issued. It is sent to
    `hosts` only. `config` has the parts of its kind that are not secret. `expires_at` is the end of its
    access token, which is renewed before that."""

    name: str
    kind: str
    state: str
    reason: str | None
    hosts: list[str]
    config: dict[str, Json]
    version: int
    expires_at: datetime | None
    created_at: datetime
    updated_at: datetime
    updated_by: str


class ConnectionDocument(msgspec.Struct, kw_only=True):
    """Where a person agrees that Detent may use an account: the page of the provider, and until when it works."""

    credential: str
    url: str
    expires_at: datetime
