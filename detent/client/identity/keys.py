"""The operations on keys of the API: each function describes one call."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from detent.client.calls import JSON, PAGE, Call, Pages, given, instant, json_body, one, page, url_path
from detent.documents.answers import Json
from detent.documents.keys import CreatedKeyDocument, KeyDocument

_PLACE: Final = "keys"
_key: Final = one(KeyDocument)
_created: Final = one(CreatedKeyDocument)


def list_all(*, limit: int = PAGE) -> Pages[KeyDocument]:
    """Yield the keys by id, also those that have expired or were revoked."""
    return Pages(Call("GET", url_path(_PLACE), page(KeyDocument), query=given(limit=limit)))


def get(key: str) -> Call[KeyDocument]:
    """Return what a key may do, by its id."""
    return Call("GET", url_path(_PLACE, key), _key)


def create(
    name: str,
    *,
    role: str | None = None,
    scopes: Sequence[str] | None = None,
    workflows: Sequence[str] | None = None,
    expires_at: datetime | str | None = None,
    tenant: str | None = None,
) -> Call[CreatedKeyDocument]:
    """Create a key with a role or with scopes. `workflows` are the only ones that it may start. `expires_at` is an
    instant, or a time from now such as `90d`. `tenant` is the name of another tenant that
    the key is of. The `key` of the answer is never shown again."""
    body: dict[str, Json] = {"name": name}
    if role is not None:
        body["role"] = role
    if scopes is not None:
        body["scopes"] = list(scopes)
    if workflows is not None:
        body["workflows"] = list(workflows)
    if expires_at is not None:
        body["expires_at"] = instant(expires_at)
    if tenant is not None:
        body["tenant"] = tenant
    return Call("POST", url_path(_PLACE), _created, body=json_body(body), headers=JSON, repeatable=False)


def rotate(key: str, *, grace: str | None = None, expires_at: datetime | str | None = None) -> Call[CreatedKeyDocument]:
    """Create a key that may do the same as another, which stays valid for `grace`, by default a day."""
    body: dict[str, Json] = {}
    if grace is not None:
        body["grace"] = grace
    if expires_at is not None:
        body["expires_at"] = instant(expires_at)
    where = url_path(_PLACE, key, "rotate")
    return Call("POST", where, _created, body=json_body(body), headers=JSON, repeatable=False)


def revoke(key: str) -> Call[KeyDocument]:
    """Revoke a key, by its id. Every node refuses it within two seconds."""
    return Call("DELETE", url_path(_PLACE, key), _key)
