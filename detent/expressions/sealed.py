"""Secrets in templates: values of their own type, which only the executor of a step opens.

`{{ secrets.NAME }}` evaluates to a `Sealed` value. It has the name and not the value, so whatever is written, shown or
compared before the executor opens it cannot have the value. A text with a secret in it, and a function of a secret, are
`Sealed` values too. They are not texts with marks in them: a text that a caller sends can never become a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

#: The root name of secrets, and the revision of the language that brought it.
SECRETS: Final = "secrets"
SECRETS_LANGUAGE: Final = 4
#: The functions that are called when a secret is opened. Each is made for texts that are sent.
LATE_FUNCTIONS: Final = ("base64", "basic", "hmac", "json", "urlEncode")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,99}")


class SecretName(NamedTuple):
    """A part of a sealed text: the value of the secret with this name."""

    name: str

    def __str__(self) -> str:
        return f"{SECRETS}.{self.name}" if is_secret_name(self.name) else f"{SECRETS}[{self.name!r}]"


class LateCall(NamedTuple):
    """A part of a sealed text: what a function returns once its arguments are opened."""

    function: str
    arguments: tuple[object, ...]

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(_source, self.arguments))})"


class Sealed:
    """A text whose parts are texts, secrets and late functions of secrets. Its own text shows the names only."""

    __slots__ = ("parts",)

    def __init__(self, *parts: str | SecretName | LateCall) -> None:
        self.parts = parts

    def __str__(self) -> str:
        return "".join(part if isinstance(part, str) else f"{{{{{part}}}}}" for part in self.parts)

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sealed) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(str(self))


def is_secret_name(text: str) -> bool:
    """Return whether a secret can have this name: letters, digits, `_` and `-`, and no digit first."""
    return _NAME.fullmatch(text) is not None


def _source(argument: object) -> str:
    """Return an argument of a late function as an expression writes it, more or less."""
    if isinstance(argument, Sealed):
        return " + ".join(json.dumps(part) if isinstance(part, str) else str(part) for part in argument.parts)
    return json.dumps(masked(argument), ensure_ascii=False)


def masked(value: object) -> object:
    """Return a JSON value in which each sealed value is a text that shows names only; the same object without any."""
    if isinstance(value, Sealed):
        return str(value)
    if isinstance(value, Mapping):
        entries = {key: masked(item) for key, item in value.items()}
        return value if all(entries[key] is value[key] for key in entries) else entries
    if isinstance(value, list):
        items = [masked(item) for item in value]
        return value if all(one is other for one, other in zip(items, value, strict=True)) else items
    return value


def sealed_names(value: object) -> Iterator[str]:
    """Yield the names of the secrets in a value, each as often as it is there."""
    if isinstance(value, Sealed):
        for part in value.parts:
            if isinstance(part, SecretName):
                yield part.name
            elif isinstance(part, LateCall):
                yield from sealed_names(list(part.arguments))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from sealed_names(item)
    elif isinstance(value, list):
        for item in value:
            yield from sealed_names(item)
