"""Names as requests write them. Ours are snake_case; the same name in camelCase is understood everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from detent.api.bodies import read_json
from detent.authoring.fields import Problems, described, inside, shown
from detent.errors import InvalidInput

Spellings = Mapping[str, str]


def spellings(*names: str, **others: str) -> Spellings:
    """Every spelling of our names, and further names with what they mean."""
    found = {spelling: name for name in names for spelling in (name, camel_case(name))}
    return found | {spelling: name for other, name in others.items() for spelling in (other, camel_case(other))}


def camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def our_names(document: Mapping[str, Any], known: Spellings, problems: Problems, path: str = "") -> dict[str, Any]:
    """The same under our names. A name that nobody knows, or that is there in two spellings, is a problem."""
    found: dict[str, Any] = {}
    for name, value in document.items():
        ours = known.get(name)
        if ours is None:
            names = sorted(set(known.values()))
            hint = problems.did_you_mean(name, known) or f"; known are {', '.join(names)}"
            problems.add(inside(path, name), f"unknown field {shown(name)}{hint}")
        elif ours in found:
            problems.add(inside(path, name), f"is there twice: {ours!r} is the same field")
        else:
            found[ours] = value
    return found


def object_body(data: bytes, message: str) -> dict[str, Any]:
    """The JSON object in a body; an empty body is an empty one."""
    value = read_json(data, empty={})
    if not isinstance(value, dict):
        raise InvalidInput(f"{message}: the body must be a JSON object, not {described(value)}")
    return value


def refuse_if_any(problems: Problems, message: str) -> None:
    """InvalidInput with everything that is wrong with a request."""
    if problems.found:
        raise InvalidInput(message, problems.found)
