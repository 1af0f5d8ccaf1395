"""Blobs as values: `{"$blob": id, "size", "type", "sha256"}` is in the journal in place of a large payload.

The id is random, so a value that names a blob cannot be guessed: it was read by a caller that may read the blob. Who
reads a blob by its id also names the tenant, and the row of the blob says its size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from detent.ids import BLOB, InvalidId, parse, show
from detent.values.limits import READABLE_BLOB

KEY: Final = "$blob"
#: How the key is written in stored JSON. A value without it names no blob. Code that looks for it in every step asks
#: `find`: `in` takes its left side for a number first, and that error costs more than the search.
MARK: Final = b'"$blob"'
JSON_TYPE: Final = "application/json"
_NAMED: Final = re.compile(rb'"\$blob":\s*"(blob_[0-9a-z]{26})"')
_WRITTEN: Final = re.compile(
    rb'\{"\$blob":"blob_[0-9a-z]{26}","size":[0-9]{1,15},"type":"(?:[^"\\]|\\.)*","sha256":"[0-9a-f]{64}"\}'
)
_KEYS: Final = frozenset({KEY, "size", "type", "sha256"})


class Blob:
    """A large payload: its id, its number of bytes, its media type and its SHA-256 in hexadecimal digits.

    An action may return one, also inside other values."""

    # It is neither a Struct nor a dataclass: the encoder would write the fields of those without asking.
    __slots__ = ("id", "sha256", "size", "type")

    def __init__(self, id_: bytes, size: int, type_: str, sha256: str) -> None:
        self.id = id_
        self.size = size
        self.type = type_
        self.sha256 = sha256

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blob) and self.document() == other.document()

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<Blob {show(BLOB, self.id)}: {self.size:,} bytes, {self.type}>"

    def document(self) -> dict[str, Any]:
        """Return what is stored and shown in its place."""
        return {KEY: show(BLOB, self.id), "size": self.size, "type": self.type, "sha256": self.sha256}

    def is_json(self) -> bool:
        """Return whether its type says that it is JSON."""
        kind = self.type.partition(";")[0].strip().lower()
        return kind in (JSON_TYPE, "text/json") or kind.endswith("+json")


def read_blob(value: Any) -> Blob | None:
    """Return the blob that a value stands for, or `None` if it is another value."""
    if not isinstance(value, Mapping) or value.keys() != _KEYS:
        return None
    size, type_, sha256 = value["size"], value["type"], value["sha256"]
    if not (isinstance(size, int) and isinstance(type_, str) and isinstance(sha256, str)):
        return None
    try:
        return Blob(parse(BLOB, value[KEY]), size, type_, sha256)
    except (InvalidId, TypeError, AttributeError):
        return None


def unreadable(blob: Blob) -> str | None:
    """Return why nothing inside a blob can be read, or None if it is JSON that is small enough."""
    if not blob.is_json():
        return f"it is a blob of the type {blob.type[:80]!r}, and only JSON can be read inside"
    if blob.size > READABLE_BLOB:
        return f"it is a blob of {blob.size:,} bytes, and JSON inside is read up to {READABLE_BLOB // 2**20} MB"
    return None


def blobs_in(data: bytes) -> list[Blob]:
    """Return the blobs that stored JSON names, with what it says of them."""
    found = []
    for text in dict.fromkeys(_WRITTEN.findall(data)):
        blob = read_blob(json.loads(text))
        if blob is not None:
            found.append(blob)
    return found


def named_blobs(data: bytes) -> list[bytes]:
    """Return the ids of the blobs that stored JSON names."""
    found = []
    for text in dict.fromkeys(_NAMED.findall(data)):
        try:
            found.append(parse(BLOB, text.decode()))
        except InvalidId:
            continue
    return found
