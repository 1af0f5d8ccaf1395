"""Where the next page of a list begins. A cursor belongs to one list with one filter and one order, and to no other."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

_MARK_BYTES: Final = 9
FOREIGN: Final = "is none that this list gave"


class CursorScope:
    """The cursors of one list. `facts` are what makes it this list: its name, tenant, filter and order."""

    def __init__(self, *facts: object) -> None:
        self._mark = hashlib.sha256(repr(facts).encode()).digest()[:_MARK_BYTES]

    def cursor(self, place: bytes) -> str:
        """The text of a place in the list."""
        return base64.urlsafe_b64encode(self._mark + place).rstrip(b"=").decode()

    def place(self, cursor: str, size: int | None = None) -> bytes:
        """The place, of `size` bytes. ValueError if another list gave the cursor, or nobody did."""
        try:
            raw = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise ValueError(FOREIGN) from None
        place = raw[_MARK_BYTES:]
        if raw[:_MARK_BYTES] != self._mark or self.cursor(place) != cursor or size not in (None, len(place)):
            raise ValueError(FOREIGN)
        return place
