"""Read the fields of a mapping that a person wrote. Each error becomes a problem with its path, and reading continues.

A field whose value is `null` counts as not written.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from detent.errors import InvalidDefinition, InvalidInput, Problem
from detent.values.durations import parse_duration
from detent.values.nearest import nearest

_Choice = TypeVar("_Choice", bound=StrEnum)
_LONGEST_SHOWN: Final = 80
_MOST_PROBLEMS: Final = 1_000
_MOST_HINTS: Final = 40
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_OR_LINE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Problems:
    """Collects everything that is wrong with a definition, up to a limit."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self._left_out = 0

    def add(self, field: str, message: str) -> None:
        if len(self.found) < _MOST_PROBLEMS:
            self.found.append(Problem(field, message))
        else:
            self._left_out += 1

    def did_you_mean(self, name: str, known: Collection[str]) -> str:
        """Return `; did you mean 'charge'?`, or nothing.

        Only the first problems get a hint, because the search takes time."""
        near = nearest(name, known) if len(self.found) < _MOST_HINTS else None
        return f"; did you mean {near!r}?" if near is not None else ""

    def raise_if_any(self) -> None:
        if not self.found:
            return
        rest = [Problem("", f"and {self._left_out} more problems")] if self._left_out else []
        raise InvalidDefinition(problems=[*self.found, *rest])


def shown(text: str) -> str:
    """Return a text of a person, quoted and short enough for a message."""
    return repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…")


def inside(path: str, key: str) -> str:
    """Return the path of a field: `tasks.charge.url`."""
    short = key if len(key) <= _LONGEST_SHOWN else key[: _LONGEST_SHOWN - 1] + "…"
    return f"{path}.{short}" if path else short


def described(value: object) -> str:
    """Describe a value in the words of a message."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {shown(value)}"
        case list():
            return "a list"
        case _:
            return "a mapping"


class Fields:
    """The fields of one mapping, read one by one."""

    def __init__(self, values: Mapping[str, Any], path: str, problems: Problems) -> None:
        self.values = values
        self.path = path
        self.problems = problems

    def at(self, name: str) -> str:
        return inside(self.path, name)

    def get(self, name: str) -> Any:
        return self.values.get(name)

    def written(self, names: Collection[str]) -> list[str]:
        """Return those of `names` that have a value, in the order of `names`."""
        return [name for name in names if self.values.get(name) is not None]

    def wrong(self, name: str, wanted: str) -> None:
        """Report that a field has a value of another kind than `wanted`."""
        self.problems.add(self.at(name), f"must be {wanted}, not {described(self.get(name))}")

    def text(self, name: str, *, most: int, lines: bool = False) -> str | None:
        """Return a text of 1 to `most` characters, without control characters.

        Line ends and tabs are allowed only with `lines`."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            self.wrong(name, "text")
        elif not value.strip():
            self.problems.add(self.at(name), "must not be empty")
        elif len(value) > most:
            self.problems.add(self.at(name), f"has {len(value)} characters; at most {most} are allowed")
        elif (_CONTROL if lines else _CONTROL_OR_LINE).search(value):
            self.problems.add(self.at(name), "has a control character, which is not allowed here")
        else:
            return value
        return None

    def boolean(self, name: str, default: bool) -> bool:
        value = self.get(name)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.wrong(name, "true or false")
        return default

    def integer(self, name: str, *, least: int, most: int) -> int | None:
        value = self.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong(name, "a whole number")
        elif not least <= value <= most:
            self.problems.add(self.at(name), f"must be from {least} to {most}, not {value}")
        else:
            return value
        return None

    def number(self, name: str, *, least: float, most: float) -> float | None:
        value = self.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(name, "a number")
        elif not least <= value <= most:
            self.problems.add(self.at(name), f"must be from {_plain(least)} to {_plain(most)}, not {value}")
        else:
            return float(value)
        return None

    def choice(self, name: str, options: type[_Choice], default: _Choice) -> _Choice:
        value = self.get(name)
        if value is None:
            return default
        words = [option.value for option in options]
        if not isinstance(value, str):
            self.wrong(name, f"one of {', '.join(words)}")
        elif value not in words:
            hint = self.problems.did_you_mean(value, words)
            self.problems.add(self.at(name), f"{shown(value)} is not one of {', '.join(words)}{hint}")
        else:
            return options(value)
        return default

    def duration(self, name: str, *, unit: float, zero: bool = True) -> float | None:
        """Return a duration in seconds; `unit` is what a bare number counts."""
        value = self.get(name)
        if value is None:
            return None
        try:
            return parse_duration(value, unit=unit, zero=zero)
        except InvalidInput as error:
            self.problems.add(self.at(name), error.message)
            return None

    def mapping(self, name: str) -> dict[str, Any] | None:
        value = self.get(name)
        if value is None or isinstance(value, dict):
            return value
        self.wrong(name, "a mapping")
        return None

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Report every key that is not a known field."""
        for key in self.values:
            if key not in known:
                hint = self.problems.did_you_mean(key, known) or f"; known are {', '.join(sorted(known))}"
                self.problems.add(self.at(key), f"unknown field {shown(key)}{hint}")


def _plain(number: float) -> str:
    """Return a number as people write it: no exponent for a large whole one."""
    return f"{number:.0f}" if number == int(number) else f"{number:g}"
