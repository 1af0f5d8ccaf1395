"""The operations on secrets: each function describes one call. None of them returns a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detent.client.calls import JSON, PAGE, Call, Pages, given, json_body, one, page, url_path
from detent.documents.answers import Json
from detent.documents.secrets import RotationDocument, SecretDocument

_secret: Final = one(SecretDocument)


def list_all(*, limit: int = PAGE) -> Pages[SecretDocument]:
    """Yield the secrets by name, without their values."""
    return Pages(Call("GET", url_path("secrets"), page(SecretDocument), query=given(limit=limit)))


def get(name: str) -> Call[SecretDocument]:
    """Return what is known of a secret. No call returns its value."""
    return Call("GET", url_path("secrets", name), _secret)


def set_value(name: str, value: str, *, hosts: Sequence[str] | None = None) -> Call[SecretDocument]:
    """Set a secret. It is sent to `hosts` only; `None` leaves them as they are. Raise InvalidRequest for a value of
    fewer than 8 bytes."""
    body: dict[str, Json] = {"value": value} | ({} if hosts is None else {"hosts": list(hosts)})
    return Call("PUT", url_path("secrets", name), _secret, body=json_body(body), headers=JSON)


def delete(name: str) -> Call[SecretDocument]:
    """Delete a secret. Steps that send it fail from now on."""
    return Call("DELETE", url_path("secrets", name), _secret)


def rotate() -> Call[RotationDocument]:
    """Seal all secrets with the first encryption key."""
    return Call("POST", url_path("rotate-secrets"), one(RotationDocument))
