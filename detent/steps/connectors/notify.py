"""The connector `notify`: messages to phones, chats and pagers through Apprise, which knows more than a hundred.

The targets are those of a named connection, several of them separated by blanks: `CONNECTOR_NOTIFY_URL="ntfy://topic
mailto://..."`. They are addresses with tokens in them, so they are never part of a workflow. Apprise connects by
itself, past the egress guard. It runs in a process of its own, which can be ended.
"""

from __future__ import annotations

import logging
from typing import Annotated, Any, Final, Literal
from urllib.parse import unquote, urlsplit

import msgspec

from detent.catalog.connections import SHORTEST_SECRET, NamedConnection, Scrubber
from detent.steps.action_context import ActionContext
from detent.steps.connectors.library import SHIPPED, describe, load
from detent.steps.errors import InvalidParameters, Permanent, RetriableFailure

CONNECTOR: Final = describe(
    "notify",
    "Notifications",
    "Sends messages to phones, chats and pagers through Apprise. CONNECTOR_NOTIFY_URL has the targets.",
)
MOST_TARGETS: Final = 20
#: Addresses of other connectors: a connection of one of them is not one of notifications.
_FOREIGN: Final = ("postgresql", "postgres", "mysql", "mariadb", "sqlite", "s3", "smtp", "smtps", "http", "https")
_FORMATS: Final = {"text": "text", "markdown": "markdown", "html": "html"}
_LONGEST_MESSAGE: Final = 500

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=32_000)]


class Notified(msgspec.Struct, frozen=True):
    """The output of `notify.send`: to how many targets it went."""

    targets: int


@SHIPPED.action(
    "notify.send",
    title="Send a notification",
    category="Communication",
    tags=("notification", "apprise"),
    isolation="pool",
    timeout=120,
)
def send(
    context: ActionContext,
    message: Text,
    title: Annotated[str, msgspec.Meta(max_length=250)] = "",
    kind: Literal["info", "success", "warning", "failure"] = "info",
    format: Literal["text", "markdown", "html"] = "text",  # noqa: A002
    connection: str = "notify",
) -> Notified:
    """Send a message to all targets of a connection."""
    if any(character in title for character in "\r\n\x00"):
        raise InvalidParameters(f"title: {title[:80]!r} has a line break, which a title cannot have")
    named = context.connection(connection, "url")
    library = load("apprise", "notify")
    targets = _targets(library, named)
    with library.LogCapture(level=logging.WARNING) as log:
        is_sent = targets.notify(body=message, title=title, notify_type=kind, body_format=_FORMATS[format])
        said = log.getvalue()
    if not is_sent:
        raise RetriableFailure(f"a target refused the message: {_reason(said, named)}", "refused")
    return Notified(len(targets))


def _targets(library: Any, connection: NamedConnection) -> Any:
    """Return the targets of a connection. Raise Permanent if Apprise does not know one of them."""
    found, urls = library.Apprise(), connection["url"].split()
    if len(urls) > MOST_TARGETS:
        message = f"the connection {connection.name!r} has {len(urls)} targets, more than {MOST_TARGETS}"
        raise Permanent(message, code="invalid_connection")
    for number, url in enumerate(urls, 1):
        scheme = url.partition("://")[0].lower()
        if scheme in _FOREIGN or not found.add(url):
            message = (
                f"target {number} of the connection {connection.name!r} ({scheme[:40]}://...) is not one of Apprise"
            )
            raise Permanent(message, code="invalid_connection")
    return found


def _reason(said: str, connection: NamedConnection) -> str:
    """Return what Apprise logged, without the parts of the targets, of which many are tokens."""
    secrets: dict[str, str] = {}
    for url in connection["url"].split():
        parts = urlsplit(url)
        words = [parts.netloc, parts.username, parts.password, parts.query, *parts.path.split("/")]
        secrets |= {word: unquote(word) for word in words if word and len(word) >= SHORTEST_SECRET}
    lines = [line.strip() for line in Scrubber(secrets).text(said).splitlines() if line.strip()]
    return ("; ".join(lines) or "Apprise says no more")[:_LONGEST_MESSAGE]
