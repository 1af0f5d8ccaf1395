"""The operations on people and sessions: each function describes one call."""

from __future__ import annotations

from typing import Final

from detent.client.calls import JSON, PAGE, Answer, Call, Pages, given, json_body, one, page, url_path
from detent.documents.answers import Json
from detent.documents.people import PersonDocument, SessionDocument

_PLACE: Final = "users"
_SESSIONS: Final = "sessions"
_person: Final = one(PersonDocument)


def _nothing(answer: Answer) -> None:
    """Read an answer without a body."""


def list_people(*, limit: int = PAGE) -> Pages[PersonDocument]:
    """Yield the people in the order in which they were added, `limit` per request."""
    return Pages(Call("GET", url_path(_PLACE), page(PersonDocument), query=given(limit=limit)))


def get_person(person: str) -> Call[PersonDocument]:
    """Return a person by id or name."""
    return Call("GET", url_path(_PLACE, person), _person)


def create_person(
    name: str,
    role: str,
    *,
    password: str | None = None,
    display_name: str | None = None,
    email: str | None = None,
) -> Call[PersonDocument]:
    """Add a person. Raise Conflict if the name is taken."""
    fields = {"name": name, "role": role, "password": password, "display_name": display_name, "email": email}
    body = json_body({field: value for field, value in fields.items() if value is not None})
    return Call("POST", url_path(_PLACE), _person, body=body, headers=JSON, repeatable=False)


def change_person(
    person: str,
    *,
    role: str | None = None,
    password: str | None = None,
    disabled: bool | None = None,
    display_name: str | None = None,
    email: str | None = None,
) -> Call[PersonDocument]:
    """Change a person. A new password, and `disabled`, end the sessions of the person."""
    fields: dict[str, Json] = {
        "role": role,
        "password": password,
        "disabled": disabled,
        "display_name": display_name,
        "email": email,
    }
    body = json_body({field: value for field, value in fields.items() if value is not None})
    return Call("PATCH", url_path(_PLACE, person), _person, body=body, headers=JSON)


def list_sessions(*, everyone: bool = False, limit: int = PAGE) -> Pages[SessionDocument]:
    """Yield the sessions of the caller, or of everyone in the tenant, oldest first."""
    query = given(all="true" if everyone else None, limit=limit)
    return Pages(Call("GET", url_path(_SESSIONS), page(SessionDocument), query=query))


def end_session(session: str) -> Call[None]:
    """End a session by its id."""
    return Call("DELETE", url_path(_SESSIONS, session), _nothing)
