"""What comes in: requests of the framework, and what of them every handler reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from litestar import Request

from detent.authoring.documents import decode_json
from detent.engine.commands import INPUT_LIMIT, Commands
from detent.engine.payloads import read_headers

AnyRequest = Request[Any, Any, Any]


def commands(request: AnyRequest) -> Commands:
    """What every handler calls."""
    found: Commands = request.app.state["commands"]
    return found


def read_json(data: bytes, *, empty: Any) -> Any:
    """The JSON value in a body; `empty` if there is none."""
    return decode_json(data, INPUT_LIMIT) if data and not data.isspace() else empty


def headers_of(request: AnyRequest) -> Mapping[str, str]:
    """The headers, if they are not too many or too long."""
    return read_headers(request.scope["headers"])


def filename_of(request: AnyRequest) -> str | None:
    """A name whose ending says the syntax of a definition, if the content type says it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.endswith(("/yaml", "/x-yaml", "+yaml")):
        return "body.yaml"
    return "body.json" if kind == "application/json" else None
