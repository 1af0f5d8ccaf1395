"""The headers that tell a service for whom a step acts: the principal of the run's start, and its correlation id."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from detent.ids import RUN, show
from detent.run.initiator import CORRELATION_HEADER, given_principal

_LONGEST: Final = 500
_NOT_IN_HEADER: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class _Given(msgspec.Struct):
    principal: Any = None
    correlation_id: str | None = None
    headers: dict[str, str] | None = None


_decode: Final = msgspec.json.Decoder(_Given).decode


def acting_user_headers(run: bytes, raw: bytes) -> dict[str, str]:
    """Return the headers for a request of a run with this id and input. A part that the principal does not have is
    left out."""
    try:
        given = _decode(raw)
    except msgspec.ValidationError:
        given = _Given()
    principal = given_principal(given.principal)
    correlation = given.correlation_id or (given.headers or {}).get(CORRELATION_HEADER) or show(RUN, run)
    headers = {
        "X-Acting-User-Id": principal.user_id,
        "X-Acting-User-Email": principal.email,
        "X-Acting-User-Name": principal.display_name,
        "X-Correlation-Id": correlation,
    }
    return {name: _NOT_IN_HEADER.sub(" ", text[:_LONGEST]) for name, text in headers.items() if text}
