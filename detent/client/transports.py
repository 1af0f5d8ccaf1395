"""Transports: a transport sends a request to a Detent and returns its answer.

`HttpTransport` is here, on the standard library. `detent.embed` has those that reach a Detent in this process or open
its database.
"""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from threading import Lock
from typing import Final, Protocol, TypeVar
from urllib.parse import urlsplit

from detent.client.calls import Answer, Request
from detent.client.errors import NoConnection

T = TypeVar("T")

MOST_IDLE: Final = 16
#: Seconds. Servers close a connection that is idle for five seconds. A connection near that limit is not reused: the
#: server may be closing it at the same moment.
LONGEST_IDLE: Final = 4.0
_PIECE: Final = 16 * 1024


class Stream(Protocol):
    """The body of an answer, piece by piece."""

    def read(self) -> bytes:
        """Return the next piece; empty at the end. Raise NoConnection if the stream broke."""

    def close(self) -> None: ...


class AsyncStream(Protocol):
    """The body of an answer, piece by piece."""

    async def read(self) -> bytes:
        """Return the next piece; empty at the end. Raise NoConnection if the stream broke."""

    def close(self) -> None: ...


class Transport(Protocol):
    """Sends requests to a Detent, in the caller's thread."""

    @property
    def can_wait(self) -> bool:
        """Whether a caller can wait for a run: another thread or process works on it while this one waits."""

    def send(self, request: Request) -> Answer:
        """Return the complete answer. Raise NoConnection if there is none."""

    def open_stream(self, request: Request) -> tuple[Answer, Stream | None] | None:
        """Return an answer and the stream of its body. Return an error completely, without a stream. Return `None` if
        this transport has no streams."""

    def close(self) -> None: ...


class AsyncTransport(Protocol):
    """Sends requests to a Detent, from any event loop."""

    async def send_async(self, request: Request) -> Answer:
        """Return the complete answer. Raise NoConnection if there is none."""

    async def open_stream_async(self, request: Request) -> tuple[Answer, AsyncStream | None] | None:
        """Return an answer and the stream of its body. Return an error completely, without a stream. Return `None` if
        this transport has no streams."""

    async def close_async(self) -> None: ...


#: The status of an answer to a request without a valid key.
_REFUSED: Final = 401


def sent_headers(request: Request) -> dict[str, str]:
    """Return the headers of a request for a transport that can lose the answer. They include the key, if there is
    one, so that the request can be sent again."""
    return dict(request.headers) if request.key is None else {**request.headers, "Idempotency-Key": request.key}


def with_key(headers: dict[str, str], key: str | None) -> dict[str, str]:
    """Return the headers with a key, unless they name a caller already."""
    if key is None or any(name.lower() == "authorization" for name in headers):
        return headers
    return {**headers, "Authorization": f"Bearer {key}"}


def connect_reason(error: OSError | HTTPException) -> str:
    """Return why there is no connection, without the number that the operating system has for it."""
    if isinstance(error, ssl.SSLCertVerificationError):
        what = f"its certificate is not accepted ({error.verify_message})"
        return f"{what}; if your own authority has issued it, set SSL_CERT_FILE to the certificate of that authority"
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return "the server does not use TLS at this port; write http:// instead of https://, or the port of its proxy"
    words = error.strerror if isinstance(error, OSError) else None
    return words[0].lower() + words[1:] if words else str(error)


class HttpTransport:
    """HTTP to one server, for any number of threads. It owns the idle connections and reuses them, one request at a
    time."""

    can_wait = True

    def __init__(self, url: str, find_key: Callable[[], str | None] | None = None) -> None:
        """Connect to a server later. `find_key` returns the key for it; it is asked again when a key is refused."""
        parts = urlsplit(url)
        self._find_key = find_key
        self._key = None if find_key is None else find_key()
        self._kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host, self._port, self._prefix = parts.hostname or "", parts.port, parts.path
        self._url, self._lock, self._process = url, Lock(), os.getpid()
        self._idle: list[tuple[HTTPConnection, float]] = []
        self._is_closed = False

    def send(self, request: Request) -> Answer:
        answer = self._send(request)
        return self._send(request) if answer.status == _REFUSED and self._has_new_key() else answer

    def _send(self, request: Request) -> Answer:
        until = time.monotonic() + request.timeout
        connection, sock = self._connected(request.timeout)
        return self._guarded(connection, lambda: self._exchange(connection, sock, request, until))

    def _has_new_key(self) -> bool:
        """Return whether there is another key than the one that was refused: the server may have restarted."""
        found = None if self._find_key is None else self._find_key()
        is_new = found is not None and found != self._key
        self._key = found if is_new else self._key
        return is_new

    def open_stream(self, request: Request) -> tuple[Answer, Stream | None]:
        answer, stream = self._open_stream(request)
        is_stale = answer.status == _REFUSED and self._has_new_key()
        return self._open_stream(request) if is_stale else (answer, stream)

    def _open_stream(self, request: Request) -> tuple[Answer, Stream | None]:
        until = time.monotonic() + request.timeout
        connection, sock = self._connected(request.timeout)

        def begin() -> tuple[Answer, Stream | None]:
            response = self._asked(connection, sock, request)
            if response.status == 200:
                return _answer(response, b""), HttpStream(connection, response)
            with closing(connection):
                return _answer(response, _whole(response, sock, until)), None

        return self._guarded(connection, begin)

    def close(self) -> None:
        """Close the idle connections now, and connections in use after their answers."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _exchange(self, connection: HTTPConnection, sock: socket.socket, request: Request, until: float) -> Answer:
        response = self._asked(connection, sock, request)
        answer = _answer(response, _whole(response, sock, until))
        if connection.sock is None:
            return answer  # the server asked to close the connection
        with self._lock:
            if not self._is_closed and len(self._idle) < MOST_IDLE and self._process == os.getpid():
                self._idle.append((connection, time.monotonic()))
                return answer
        connection.close()
        return answer

    def _asked(self, connection: HTTPConnection, sock: socket.socket, request: Request) -> HTTPResponse:
        sock.settimeout(request.timeout)
        headers = with_key(sent_headers(request), self._key)
        connection.request(request.method, self._prefix + request.target, request.body, headers)
        return connection.getresponse()

    def _connected(self, timeout: float) -> tuple[HTTPConnection, socket.socket]:
        connection = self._kept()
        if connection is None:
            connection = self._kind(self._host, self._port, timeout=timeout)
            try:
                connection.connect()
            except (OSError, HTTPException) as error:
                connection.close()
                raise NoConnection(f"cannot connect to {self._url}: {connect_reason(error)}", sent=False) from None
        sock: socket.socket = connection.sock
        return connection, sock

    def _kept(self) -> HTTPConnection | None:
        """Return an idle connection that is still usable. After a fork, close the connections of the parent."""
        with self._lock:
            is_forked, self._process = self._process != os.getpid(), os.getpid()
            while self._idle:
                connection, since = self._idle.pop()
                is_fresh = not is_forked and time.monotonic() - since < LONGEST_IDLE
                if is_fresh and _is_quiet(connection.sock):
                    return connection
                connection.close()
        return None

    def _guarded(self, connection: HTTPConnection, act: Callable[[], T]) -> T:
        """Run `act`. If it fails, close the connection: it cannot be reused. Raise NoConnection for its errors."""
        try:
            return act()
        except (OSError, HTTPException) as error:
            connection.close()
            reason = "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
            raise NoConnection(f"{self._url} did not answer: {reason}", sent=True) from None
        except BaseException:
            connection.close()
            raise


class HttpStream:
    """The body of an answer, piece by piece."""

    def __init__(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        self._connection, self._response = connection, response

    def read(self) -> bytes:
        try:
            return self._response.read1(_PIECE)
        except (OSError, HTTPException) as error:
            raise NoConnection(f"the stream broke: {error}", sent=True) from None

    def close(self) -> None:
        self._response.close()
        self._connection.close()


def _answer(response: HTTPResponse, body: bytes) -> Answer:
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


def _whole(response: HTTPResponse, sock: socket.socket, until: float) -> bytes:
    """Read the whole body before the time `until`, else raise TimeoutError. Always close the response."""
    pieces: list[bytes] = []
    # After `Connection: close` the connection has dropped its socket, so only the response can close it.
    with closing(response):
        while not response.isclosed():
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            sock.settimeout(left)
            pieces.append(response.read(_PIECE))
    if response.length:
        raise IncompleteRead(b"".join(pieces), response.length)
    return b"".join(pieces)


def _is_quiet(sock: socket.socket) -> bool:
    """Return whether an idle connection is still open and has no unexpected data."""
    sock.settimeout(0.0)
    try:
        sock.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except OSError:
        return False
    return False
