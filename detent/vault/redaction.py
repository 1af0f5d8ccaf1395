"""Redaction by value: the values of secrets are replaced by `***` in texts and JSON that come from outside.

A value has several spellings (`spellings`). JSON is read first, so its own escapes do not matter. A text that has
other escapes (percent, HTML, backslashes, line breaks) is also checked without them. If only that finds a value, the
whole text is replaced: where the value begins in the original text is not known.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote

import msgspec

MASK: Final = "***"
#: Shorter values are in ordinary texts by chance, so they cannot be redacted.
SHORTEST_SECRET: Final = 8
#: The lines of a longer value, such as a private key, are secret each.
_SHORTEST_LINE: Final = 20
#: With more beginnings of spellings than this, they are looked up among all parts of a text.
_MANY: Final = 400
_ROUNDS: Final = 3
#: The beginnings of longer texts, such as tracebacks, may have been cut off.
_SHORTEST_CUT: Final = 4_000
_URL_LETTERS: Final = str.maketrans("+/", "-_")
_ESCAPED: Final = re.compile(r"%[0-9A-F]{2}")
_BACKSLASH: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_decode: Final = msgspec.json.Decoder().decode
_encode: Final = msgspec.json.Encoder().encode


def spellings(value: str) -> set[str]:
    """Return the texts that a value is written as: itself, base64, hex, percent, JSON and HTML."""
    raw = value.encode()
    found = {value, raw.hex(), raw.hex().upper(), *_base64(raw)}
    for once in (quote(value, safe=""), quote(value, safe="/"), quote_plus(value)):
        for text in (once, _lower_escapes(once)):
            found |= {text, quote(text, safe="")}
    for ascii_only in (True, False):
        once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        found |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
    escaped = html.escape(value)
    return found | {escaped, escaped.replace("&#x27;", "&#39;"), html.escape(value, quote=False)}


def _base64(raw: bytes) -> Iterator[str]:
    """Yield the parts of a longer base64 text that these bytes alone decide, for each place that they can begin at."""
    for offset, first in ((0, 0), (1, 2), (2, 3)):
        whole = base64.b64encode(bytes(offset) + raw).decode()
        part = whole[first : (offset + len(raw)) * 8 // 6]
        yield part
        yield part.translate(_URL_LETTERS)


def _lower_escapes(text: str) -> str:
    return _ESCAPED.sub(lambda found: found[0].lower(), text)


def _parts(value: str) -> Iterator[str]:
    yield value
    lines = value.splitlines()
    if len(lines) > 1:
        yield from (line.strip() for line in lines if len(line.strip()) >= _SHORTEST_LINE)


class Redactor:
    """Replaces the values of secrets. It owns their spellings, and forgets none: an old value may still be echoed."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: set[str] = set()
        self._needles: list[str] = []
        self._raw_needles: list[bytes] = []
        self._beginnings: dict[bytes, None] = {}
        self._longest = 0
        self.add(*values)

    def add(self, *values: str) -> None:
        """Redact these values too. Values of fewer than 8 bytes are left out."""
        new = {value for value in values if len(value.encode()) >= SHORTEST_SECRET} - self._values
        if not new:
            return
        self._values |= new
        found = {text for value in new for part in _parts(value) for text in spellings(part)} | set(self._needles)
        # The longest first: a spelling may begin with another one.
        self._needles = sorted(found, key=len, reverse=True)
        self._raw_needles = [needle.encode() for needle in self._needles]
        self._beginnings = dict.fromkeys(needle[:SHORTEST_SECRET] for needle in self._raw_needles)
        self._longest = len(self._needles[0])

    def text(self, text: str) -> str:
        """Return a text without the values of secrets."""
        if len(text) < SHORTEST_SECRET:
            return text
        if self._may_be_in(text.encode("utf-8", "surrogatepass")):
            for needle in self._needles:
                if needle in text:
                    text = text.replace(needle, MASK)
            text = self._without_end(text)
        if len(text) >= _SHORTEST_CUT:
            text = self._without_beginning(text)
        return MASK if self._is_disguised(text) else text

    def json(self, raw: bytes) -> bytes:
        """Return JSON without the values of secrets; the same bytes if it has none."""
        if b"\\" not in raw and b"%" not in raw and b"&" not in raw and not self._may_be_in(raw):
            return raw
        try:
            value = _decode(raw)
        except (ValueError, RecursionError):
            return _encode(self.text(raw.decode(errors="replace")))
        clean = self.value(value)
        return raw if clean is value else _encode(clean)

    def value(self, value: Any) -> Any:
        """Return a JSON value without the values of secrets; the same object if it has none."""
        try:
            return self._clean(value)
        except RecursionError:
            return MASK

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            text = self.text(value)
            return value if text == value else text
        if isinstance(value, dict):
            entries = {self._clean(key): self._clean(item) for key, item in value.items()}
            is_same = all(map(_is_same, entries.items(), value.items())) and len(entries) == len(value)
            return value if is_same else entries
        if isinstance(value, list | tuple):
            items = [self._clean(item) for item in value]
            return value if all(one is other for one, other in zip(items, value, strict=True)) else items
        if type(value) in (int, float) and self._is_in(_encode(value)):
            return MASK
        return value

    def _is_in(self, raw: bytes) -> bool:
        return self._may_be_in(raw) and any(needle in raw for needle in self._raw_needles)

    def _may_be_in(self, raw: bytes) -> bool:
        """Return whether the beginning of a value is in a text: all of it, or what is left of it after a cut."""
        beginnings = self._beginnings
        if len(beginnings) < _MANY:
            return any(beginning in raw for beginning in beginnings)
        places = range(len(raw) - SHORTEST_SECRET + 1)
        return any(raw[place : place + SHORTEST_SECRET] in beginnings for place in places)

    def _without_end(self, text: str) -> str:
        """Return a text that was cut within a value without the rest of it."""
        tail = text[-self._longest :]
        for needle in self._needles:
            place = tail.rfind(needle[:SHORTEST_SECRET])
            if place >= 0 and needle.startswith(tail[place:]):
                return text[: len(text) - len(tail) + place] + MASK
        return text

    def _without_beginning(self, text: str) -> str:
        """Return a text whose beginning was cut off within a value without the rest of that value."""
        head = text[: self._longest]
        for needle in self._needles:
            place = head.find(needle[-SHORTEST_SECRET:], 0, len(needle))
            if place >= 0 and needle.endswith(head[: place + SHORTEST_SECRET]):
                return MASK + text[place + SHORTEST_SECRET :]
        return text

    def _is_disguised(self, text: str) -> bool:
        """Return whether a text has a value once its escapes are read: those of one kind, or of all kinds."""
        for read in (*_ESCAPES, _read_all):
            plain = text
            for _ in range(_ROUNDS):
                before, plain = plain, read(plain)
                if plain == before:
                    break
                if self._is_in(plain.encode("utf-8", "surrogatepass")):
                    return True
        return False


def _is_same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    return one[0] is other[0] and one[1] is other[1]


def _without_breaks(text: str) -> str:
    """Return a text without line breaks. Longer base64 has them."""
    return text.replace("\r", "").replace("\n", "") if "\n" in text else text


def _without_backslashes(text: str) -> str:
    return _BACKSLASH.sub(_unescaped, text) if "\\" in text else text


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else _LETTERS.get(found[3], found[3])


def _without_percent(text: str) -> str:
    return unquote(text, errors="replace") if "%" in text else text


def _without_html(text: str) -> str:
    return html.unescape(text) if "&" in text else text


_ESCAPES: Final[tuple[Callable[[str], str], ...]] = (
    _without_breaks,
    _without_backslashes,
    _without_percent,
    _without_html,
)


def _read_all(text: str) -> str:
    for read in _ESCAPES:
        text = read(text)
    return text
