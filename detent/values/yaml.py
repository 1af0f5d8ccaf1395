"""YAML 1.2 as plain JSON values, built from the parser's events; and JSON values as YAML.

The parser (libyaml) only reports the structure. The values are resolved here, with our own stack. So depth, aliases and
keys are checked while reading, each with its line, whatever the text contains. (A loader that recurses crashes the
whole process on 25 KB of `- - - -`, and number keys chosen to collide keep a dictionary busy for 20 s.)
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from detent.errors import InvalidDefinition, Problem

# The C parser is in every wheel; the Python parser returns the same events, more slowly.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_VALUES: Final = 200_000
# The parser compares each directive with all before it: a megabyte of them would take seconds.
_TAG_DIRECTIVES: Final = re.compile(r"^%TAG\b", re.MULTILINE)
_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_A_NUMBER: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_LONGEST_NUMBER: Final = 400
_PLAIN_TAGS: Final = frozenset({"!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})


def load_yaml(text: str, *, depth: int, most: int = _MOST_VALUES, is_foreign: bool = False) -> Any:
    """Return the one document of a YAML text, with at most so many values. Raise InvalidDefinition with line and column
    of what is wrong.

    `is_foreign`: other programs read the text too, so a key that is a number is taken as it is written."""
    if _TAG_DIRECTIVES.search(text):
        raise refused("tags are not supported; remove the %TAG lines", None)
    builder = _Builder(depth, most, is_foreign)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(filter(None, (error.context, error.problem)))
        raise refused(f"not valid YAML: {reason}", mark) from None
    except yaml.YAMLError as error:
        reason = " ".join(str(getattr(error, "reason", error)).split())
        raise refused(f"not valid YAML: {reason}", None) from None
    return builder.document


def refused(message: str, mark: Any) -> InvalidDefinition:
    """Return an error with its position; the parser counts from 0, people from 1."""
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return InvalidDefinition(problems=[Problem("", where + message)])


class _Open:
    """A list or mapping that is not closed yet."""

    __slots__ = ("anchor", "key", "size_before", "value")

    def __init__(self, value: list[Any] | dict[str, Any], anchor: str | None, size_before: int) -> None:
        self.value = value
        self.anchor = anchor
        self.size_before = size_before
        self.key: str | None = None


class _Builder:
    """Takes events one by one and builds the value they describe."""

    def __init__(self, depth: int, most: int, is_foreign: bool) -> None:
        self.document: Any = None
        self._depth = depth
        self._most = most
        self._is_foreign = is_foreign
        self._documents = 0
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._size = 0

    def take(self, event: Any) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise refused("a definition is one document, and here a second one begins", event.start_mark)
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.SequenceStartEvent():
                self._enter([], event)
            case yaml.MappingStartEvent():
                self._enter({}, event)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._leave(event)

    def _scalar(self, event: Any) -> None:
        self._check_tag(event)
        self._count(1, event)
        plain = not event.style and event.tag is None
        if self._at_key():
            self._open[-1].key = self._key(event, plain)
            return
        value = _resolved(event) if plain else event.value
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, 1)
        self._put(value)

    def _alias(self, event: Any) -> None:
        if any(one.anchor == event.anchor for one in self._open):
            raise refused(f"the alias *{event.anchor} is inside its own anchor", event.start_mark)
        if event.anchor not in self._anchors:
            raise refused(f"no anchor &{event.anchor} before this alias", event.start_mark)
        value, size = self._anchors[event.anchor]
        self._count(size, event)
        if not self._at_key():
            self._put(value)
        elif isinstance(value, str):
            self._open[-1].key = self._new_key(value, event)
        else:
            raise refused("a key must be text", event.start_mark)

    def _enter(self, value: list[Any] | dict[str, Any], event: Any) -> None:
        self._check_tag(event)
        if self._at_key():
            hint = 'a key must be text (a value that begins with {{ must be quoted: "{{ ... }}")'
            raise refused(hint, event.start_mark)
        if len(self._open) >= self._depth:
            raise refused(f"nested deeper than {self._depth} levels", event.start_mark)
        self._open.append(_Open(value, event.anchor, self._size))
        self._count(1, event)

    def _leave(self, event: Any) -> None:
        closed = self._open.pop()
        if closed.anchor is not None:
            self._anchors[closed.anchor] = (closed.value, self._size - closed.size_before)
        self._put(closed.value)

    def _put(self, value: Any) -> None:
        if not self._open:
            self.document = value
            return
        parent = self._open[-1]
        if isinstance(parent.value, list):
            parent.value.append(value)
        else:
            parent.value[str(parent.key)] = value
            parent.key = None

    def _at_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _key(self, event: Any, plain: bool) -> str:
        if plain and event.value == "<<":
            raise refused("merge keys (<<) are not part of YAML 1.2; write the fields out", event.start_mark)
        if plain and not self._is_foreign and not isinstance(_resolved(event), str):
            raise refused(f'a key must be text; write "{event.value[:40]}":', event.start_mark)
        key = self._new_key(event.value, event)
        if event.anchor is not None:
            self._anchors[event.anchor] = (key, 1)
        return key

    def _new_key(self, key: str, event: Any) -> str:
        if key in self._open[-1].value:
            raise refused(f"the key {key[:80]!r} is given twice", event.start_mark)
        return key

    def _check_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag not in _PLAIN_TAGS:
            raise refused(f"the tag {event.tag[:80]!r} is not supported", event.start_mark)

    def _count(self, values: int, event: Any) -> None:
        """Count values. Aliases count as often as they are used: a few lines must not become a million values."""
        self._size += values
        if self._size > self._most:
            raise refused(f"more than {self._most} values, aliases included", event.start_mark)


def _resolved(event: Any) -> bool | int | float | str | None:
    """Return the value of a plain word in YAML 1.2: `no`, `on` and `12:30` stay text."""
    word: str = event.value
    if word in _WORDS:
        return _WORDS[word]
    if _NOT_A_NUMBER.fullmatch(word):
        raise refused(f"{word} is not a number that JSON can hold", event.start_mark)
    number = _INTEGER.fullmatch(word) or _OTHER_BASE.fullmatch(word) or _FLOAT.fullmatch(word)
    if number is None:
        return word
    if len(word) > _LONGEST_NUMBER:
        raise refused("a number with too many digits", event.start_mark)
    if _OTHER_BASE.fullmatch(word):
        return int(word, 0)
    return int(word) if _INTEGER.fullmatch(word) else float(word)


class _Writer(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # which of them is known at runtime
    """Writes JSON values without anchors. Texts that YAML 1.2 would read as something else are quoted."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _write_text(writer: Any, text: str) -> Any:
    is_plain = text not in _WORDS and not any(
        kind.fullmatch(text) for kind in (_INTEGER, _OTHER_BASE, _FLOAT, _NOT_A_NUMBER)
    )
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_plain else '"')


_Writer.add_representer(str, _write_text)


def dump_yaml(value: Any) -> str:
    """Return a JSON value as YAML that `load_yaml` reads as the same value."""
    written: str = yaml.dump(value, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=100)
    return written
