"""Compare what a test expects with what a run did, and say each difference with its path.

A mapping is compared by the keys that are expected. The text `$any` stands for any value, `$absent` for none, and
`{$exact: value}` compares a value completely.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from detent.values.fields import inside

ANY: Final = "$any"
ABSENT: Final = "$absent"
EXACT: Final = "$exact"
_LONGEST: Final = 300
_MISSING: Final = object()


def differences(expected: Any, found: Any, path: str) -> Iterator[str]:
    """Yield a line for each value that is not as expected."""
    if expected == ANY:
        if found is _MISSING:
            yield f"{path}: is missing"
    elif expected == ABSENT:
        if found is not _MISSING:
            yield f"{path}: expected nothing, was {_shown(found)}"
    elif isinstance(expected, dict) and list(expected) == [EXACT]:
        if not _is_same(expected[EXACT], found):
            yield _difference(path, expected[EXACT], found)
    elif isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from differences(value, found.get(key, _MISSING), inside(path, key))
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{path}: expected {len(expected)} values, were {len(found)}: {_shown(found)}"
        for number, (one, other) in enumerate(zip(expected, found, strict=False)):
            yield from differences(one, other, f"{path}[{number}]")
    elif not _is_same(expected, found):
        yield _difference(path, expected, found)


def route_differences(expected: Sequence[str], found: Sequence[str]) -> Iterator[str]:
    """Yield the steps that are missing on a route, and those that were not expected. The order does not count: it
    follows from the graph."""
    missing, extra = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    ended = {name.partition(":")[0]: name.partition(":")[2] or "success" for name in extra}
    for one in missing.elements():
        name, _, ending = one.partition(":")
        was = ended.pop(name, None)
        yield f"route: {name} expected {ending or 'success'}, {'did not end' if was is None else f'was {was}'}"
    for name, ending in ended.items():
        yield f"route: {name} not expected, was {ending}"


def _difference(path: str, expected: Any, found: Any) -> str:
    was = "is missing" if found is _MISSING else f"was {_shown(found)}"
    return f"{path}: expected {_shown(expected)}, {was}"


def _is_same(expected: Any, found: Any) -> bool:
    """Return whether two JSON values are equal. `1` and `1.0` are; `1` and `true` are not."""
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return expected.keys() == found.keys() and all(_is_same(expected[key], found[key]) for key in expected)
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(_is_same, expected, found))
    return bool(expected == found)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
