"""The HTTP protocol of one connection, with limits that apply before the request reaches the application.

A late head, a dripping body, endless headers and a body beyond every limit are refused at once. The answer has the form
of every other error, and the connection is closed. A request that two servers could parse differently is refused,
because that allows request smuggling. A good request costs a few comparisons. All open connections are checked once a
second, so no connection needs a timer.
"""

from __future__ import annotations

import asyncio
import math
import resource
from typing import ClassVar, Final

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from detent.api.errors import refusal_bytes
from detent.values.http_body import HEADER_BYTES, MOST_HEADERS
from detent.values.limits import BLOB_LIMIT, DEFINITION_LIMIT, IMPORT_LIMIT, INPUT_LIMIT, RULE_LIMIT


class Connection(HttpToolsProtocol):
    """A connection that is aborted if its client does not read the answer for `patience` seconds.

    Until then a write waits, so at most one piece of an answer is in memory for a client that does not read. It owns
    the timer of that abort."""

    patience: ClassVar[float] = 30.0
    _cut: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._cut is None:
            self._cut = self.loop.call_later(self.patience, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._keep()

    def connection_lost(self, exc: Exception | None) -> None:
        self._keep()
        super().connection_lost(exc)

    def _keep(self) -> None:
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None


HEAD_SECONDS: Final = 15.0
BODY_SECONDS: Final = 30.0
#: Clients and load balancers reuse connections that were idle for up to a minute. The server must keep a connection
#: longer: if it closes one while a request is being sent, the client cannot know whether the request was received.
IDLE_SECONDS: Final = 75
#: How long the rest of a refused request is read and dropped, so that the client reads the answer before the close.
LINGER_SECONDS: Final = 2.0
#: Half of the open files of this process stay free for the database and for steps.
MOST_CONNECTIONS: Final = min(2_000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
#: So many connections above that limit get an error answer. Further ones are closed at once.
_MOST_REFUSED: Final = 200
#: No route accepts a larger body, but those that import documents and those that save rules.
LARGEST_BODY: Final = DEFINITION_LIMIT
IMPORTS: Final = b"/api/v1/connectors/import/"
RULES: Final = (b"/api/v1/rules", b"/v1/workflow/rules")
#: What a large body, which becomes a blob, is sent to: callbacks, webhooks, and starts of a workflow.
_CALLBACKS: Final = (b"/wh/", b"/webhook/workflow/", b"/api/v1/triggers/")
_STARTED: Final = b"/api/v1/workflows/"
_START: Final = b"/trigger"
#: A large body must go on: so many bytes in each `BODY_SECONDS`.
_PROGRESS: Final = INPUT_LIMIT
LONGEST_TARGET: Final = 16 * 1024
_LONGEST_HEAD: Final = HEADER_BYTES + LONGEST_TARGET + 8 * 1024
#: A chunk with one byte of data takes six bytes on the wire.
_LONGEST_STREAM: Final = 8 * LARGEST_BODY

_NEVER: Final = math.inf
_VERSIONS: Final = frozenset({"1.1", "1.0"})
_NOTED: Final = frozenset({b"host", b"content-length", b"transfer-encoding"})


class LimitedHttpProtocol(Connection):
    """A connection with limits for time and size. It owns the deadline and the counters of the current request."""

    #: The maximum number of bytes of a body that becomes a blob.
    largest_blob: ClassVar[int] = BLOB_LIMIT
    _deadline = _NEVER  # when the current head or body must be complete
    _in_body = False
    _has_begun = False  # whether the head of a request was complete
    _is_refused = False
    _seen = 0  # bytes of the current head or body
    _body_bytes = 0
    _timely_bytes = 0  # of the body, when the deadline was set
    _noted: tuple[bytes, ...] = ()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.time() + HEAD_SECONDS
        if len(self.connections) > MOST_CONNECTIONS:
            self._refuse(503, "unavailable", "unavailable", "too many connections; try again in a moment")
            if len(self.connections) > MOST_CONNECTIONS + _MOST_REFUSED:
                transport.close()

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        self._unset_keepalive_if_required()
        if self._deadline == _NEVER:
            self._deadline = self.loop.time() + HEAD_SECONDS
        self._seen += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # no other protocol is supported; the request is answered as plain HTTP
        except httptools.HttpParserError:
            self._refuse_malformed("this is not an HTTP/1.1 request")
        if self._seen > _LONGEST_HEAD and not self._in_body:
            self._refuse_head()
        elif self._seen > _LONGEST_STREAM and self._seen > 8 * self._largest_body():
            self._refuse_size()

    def shutdown(self) -> None:
        if self._is_refused:
            self.transport.close()
        else:
            super().shutdown()

    def look(self, now: float) -> None:
        """Refuse the request if its deadline has passed, or abort a refused connection. Called once a second."""
        if now < self._deadline:
            return
        if self._in_body and self.flow.read_paused:  # the application is slow, and not the client
            self._deadline = now + BODY_SECONDS
            return
        if self._is_refused:
            self.transport.abort()
            return
        what = "body" if self._in_body else "head"
        self._refuse(408, "invalid_argument", "request_timeout", f"the {what} of the request did not come in time")

    # Callbacks of the parser.

    def on_message_begin(self) -> None:
        if self._deadline == _NEVER:  # this request arrived in one piece with the one before it
            self._deadline = self.loop.time() + HEAD_SECONDS
        self._in_body, self._body_bytes, self._timely_bytes, self._noted = False, 0, 0, ()
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._is_refused or self._in_body:
            return  # trailers after the body are not headers
        name = name.lower()
        if name in _NOTED and not self._note(name, value):
            return
        self.headers.append((name, value))
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        if len(self.headers) > MOST_HEADERS:
            self._refuse_head()

    def on_headers_complete(self) -> None:
        if self._is_refused:
            return
        if len(self.url) > LONGEST_TARGET:
            self._refuse(414, "invalid_argument", "uri_too_long", f"an address has at most {LONGEST_TARGET} bytes")
        elif self._seen > HEADER_BYTES and sum(len(name) + len(value) for name, value in self.headers) > HEADER_BYTES:
            self._refuse_head()
        elif not self._is_plain():
            self._refuse_malformed("the path must begin with '/' and have only ASCII, without '//' and '\\'")
        elif self.parser.get_http_version() not in _VERSIONS:
            self._refuse_malformed("this is not an HTTP/1.1 request")
        else:
            super().on_headers_complete()
            self._has_begun = self._in_body = True
            self._seen, self._deadline = 0, self.loop.time() + BODY_SECONDS

    def on_body(self, body: bytes) -> None:
        if self._is_refused:
            return
        self._body_bytes += len(body)
        if self._body_bytes > LARGEST_BODY and self._body_bytes > self._largest_body():
            self._refuse_size()
            return
        if self._body_bytes - self._timely_bytes > _PROGRESS:
            self._timely_bytes, self._deadline = self._body_bytes, self.loop.time() + BODY_SECONDS
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._is_refused:
            return
        self._in_body, self._seen, self._deadline = False, 0, _NEVER
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_refused:
            self._leave(b"")

    # Refusing.

    def _is_plain(self) -> bool:
        """Return whether every proxy in front of this server reads the address as the same path."""
        path = self.url.partition(b"?")[0]
        return path.startswith(b"/") and path.isascii() and b"//" not in path and b"\\" not in path

    def _largest_body(self) -> int:
        if self.url.startswith(RULES):
            return RULE_LIMIT
        if self.url.startswith(_CALLBACKS) or (
            self.url.startswith(_STARTED) and self.url.partition(b"?")[0].endswith(_START)
        ):
            return max(self.largest_blob, LARGEST_BODY)
        return IMPORT_LIMIT if self.url.startswith(IMPORTS) else LARGEST_BODY

    def _note(self, name: bytes, value: bytes) -> bool:
        """Check a header that delimits the request. Refuse it if it is given twice, or if proxies could read it in
        different ways. Return whether it is accepted."""
        if name in self._noted:
            self._refuse_malformed(f"{name.decode()} is given twice")
        elif name == b"transfer-encoding" and value.strip().lower() != b"chunked":
            self._refuse_malformed("Transfer-Encoding may be chunked and nothing else")
        elif name == b"content-length" and not value.isdigit():
            self._refuse_malformed("Content-Length is not a valid number")
        elif name == b"content-length" and (len(value) > 12 or int(value) > self._largest_body()):
            self._refuse_size()
        self._noted += (name,)
        return not self._is_refused

    def _refuse_malformed(self, message: str) -> None:
        self._refuse(400, "invalid_argument", "bad_request", message)

    def _refuse_size(self) -> None:
        self._refuse(413, "too_large", "too_large", "the body is larger than its limit")

    def _refuse_head(self) -> None:
        message = f"at most {MOST_HEADERS} headers with {HEADER_BYTES} bytes in all are taken"
        self._refuse(431, "too_large", "headers_too_large", message)

    def _refuse(self, status: int, error: str, code: str, message: str) -> None:
        """Answer with an error and end the connection."""
        if self._is_refused:
            return
        self._is_refused, self._deadline = True, _NEVER
        self._unset_keepalive_if_required()
        cycle = self.cycle if self._in_body else None
        if self.pipeline or self._is_answering(cycle):
            self.pipeline.clear()  # another answer is being sent; the connection ends after it
            return
        if cycle is None or not cycle.response_complete:
            self._leave(_answer(status, error, code, message))
        else:
            self._leave(b"")
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()

    def _is_answering(self, current: RequestResponseCycle | None) -> bool:
        """Return whether an answer is being sent: to an earlier request, or a first part to this one."""
        if not self._has_begun:
            return False
        return not self.cycle.response_complete and (current is None or current.response_started)

    def _leave(self, last: bytes) -> None:
        """Write the last bytes, then read and drop input for a moment. A close with unread input would reset the
        connection, and the client might never read the answer."""
        if self.transport.is_closing():
            return
        self._deadline = self.loop.time() + LINGER_SECONDS
        self.transport.write(last)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()


def limited_protocol(largest_blob: int) -> type[LimitedHttpProtocol]:
    """Return the protocol of connections whose large bodies have that limit."""
    return type("HttpProtocol", (LimitedHttpProtocol,), {"largest_blob": largest_blob})


def _answer(status: int, error: str, code: str, message: str) -> bytes:
    body = refusal_bytes(error, code, message)
    wait = b"retry-after: 1\r\n" if status == 503 else b""
    return (
        STATUS_LINE[status] + b"content-type: application/json\r\ncontent-length: " + str(len(body)).encode() + b"\r\n"
        b"connection: close\r\n" + wait + b"\r\n" + body
    )
