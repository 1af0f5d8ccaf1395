"""The operations on credentials: each function describes one call. None of them returns a sealed part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from detent.client.calls import JSON, PAGE, Call, Pages, given, json_body, one, page, url_path
from detent.documents.answers import Json
from detent.documents.credentials import ConnectionDocument, CredentialDocument

_credential: Final = one(CredentialDocument)


def list_all(*, limit: int = PAGE) -> Pages[CredentialDocument]:
    """Yield the credentials by name, without what is sealed."""
    return Pages(Call("GET", url_path("credentials"), page(CredentialDocument), query=given(limit=limit)))


def get(name: str) -> Call[CredentialDocument]:
    """Return what is known of a credential. No call returns a sealed part."""
    return Call("GET", url_path("credentials", name), _credential)


def put(name: str, credential: Mapping[str, Json]) -> Call[CredentialDocument]:
    """Set a credential: its `kind`, its `hosts` and the parts of its kind. Raise InvalidRequest with all problems."""
    return Call("PUT", url_path("credentials", name), _credential, body=json_body(dict(credential)), headers=JSON)


def connect(name: str) -> Call[ConnectionDocument]:
    """Return the page on which a person agrees that Detent may use an account. It works for ten minutes."""
    return Call("POST", url_path("credentials", name, "connect"), one(ConnectionDocument))


def delete(name: str) -> Call[CredentialDocument]:
    """Delete a credential. Steps that name it fail from now on."""
    return Call("DELETE", url_path("credentials", name), _credential)
