"""What the outside world tells a Detent: answers to waits, events, and the question how it is."""

from __future__ import annotations

import secrets
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from detent.client.calls import JSON, Call, bare, json_body, one
from detent.client.documents import Health, Json, Received, SentEvent
from detent.client.spelling import header_text, place

_WAITS: Final = "/wh/"


def callback(url_or_token: str, body: Json = None, *, message_id: str | None = None) -> Call[Received]:
    """Answer a wait step, at the URL of its callback or by the token alone. It is sent to this client's own server,
    whatever host the URL names. The same `message_id` again is the same callback again."""
    url = urlsplit(url_or_token)
    token = unquote(url.path.rpartition("/")[2])
    return Call(
        "POST",
        _WAITS + quote(token, safe=""),
        one(Received),
        query=parse_qsl(url.query, keep_blank_values=True),
        body=json_body(body),
        headers={**JSON, "webhook-id": header_text(message_id or secrets.token_hex(16))},
    )


def send_event(type: str, data: Json = None, *, id: str | None = None) -> Call[SentEvent]:  # noqa: A002
    """Tell that something happened; event triggers of that type fire. The same `id` again fires nothing again."""
    body = {"type": type, "data": {} if data is None else data, "id": id or secrets.token_hex(16)}
    return Call("POST", place("events"), one(SentEvent), body=json_body(body), headers=JSON)


def health() -> Call[Health]:
    """Whether it can take work. Unavailable if it is starting, draining or cut off."""
    return Call("GET", "/health/ready", bare(Health), repeatable=False)
