"""The form of a callback page without a script: its fields are texts, and become the values that a schema asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from detent.errors import InvalidInput
from detent.graph.ask import WaitAsk
from detent.values.json import parse_json

#: A hidden field of the form of our page. Other senders of forms do not have it.
MARK: Final = "_page"
BUTTON: Final = "button"
DECISION: Final = "approved"
COMMENT: Final = "comment"
FIELD: Final = "field."
#: No page has more buttons than numbers of so many digits.
_DIGITS: Final = 4


def is_page_form(body: Any) -> bool:
    """Return whether a body was sent by our page."""
    return isinstance(body, dict) and body.get(MARK) == "1"


def page_body(ask: WaitAsk, form: Mapping[str, Any]) -> Any:
    """Return the body that the form of a page means. Raise InvalidInput."""
    if ask.is_approval:
        if form.get(DECISION) not in ("true", "false"):
            raise InvalidInput("the form says neither approved=true nor approved=false; open its address again")
        body: dict[str, Any] = {"approved": form[DECISION] == "true"}
        if form.get(COMMENT):
            body["comment"] = form[COMMENT]
        if ask.schema is not None and body["approved"]:
            body["answer"] = _values(ask.schema, form)
        return body
    if ask.is_form and ask.schema is not None:
        return _values(ask.schema, form)
    number = str(form.get(BUTTON, ""))
    if not number.isascii() or not number.isdigit() or len(number) > _DIGITS or int(number) >= len(ask.buttons):
        raise InvalidInput("the page that sent this is out of date; open its address again")
    return ask.buttons[int(number)].body


def _values(schema: Mapping[str, Any], form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a form as values. An empty text is a field that was left out."""
    found: dict[str, Any] = {}
    for name, kind in schema.get("properties", {}).items():
        given = form.get(FIELD + name)
        if kind_of(kind) == "boolean":
            found[name] = given == "true"
        elif isinstance(given, str) and given.strip():
            found[name] = _value(kind, given)
    return found


def _value(kind: Any, text: str) -> Any:
    """Return a text as the value that it spells. A text that is not one stays, and the schema refuses it."""
    if kind_of(kind) == "string":
        return text.replace("\r\n", "\n")
    try:
        return parse_json(text, InvalidInput)
    except InvalidInput:
        return text


def kind_of(schema: Any) -> str:
    """Return the type of a field: a type of JSON Schema, or `json` for any value."""
    if not isinstance(schema, dict):
        return "json"
    options = schema.get("enum")
    if isinstance(options, list) and options and all(isinstance(one, str) for one in options):
        return "string"
    kind = schema.get("type")
    return kind if kind in ("string", "number", "integer", "boolean") else "json"
