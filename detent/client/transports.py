"""HTTP over the standard library, for any number of threads: connections are kept and used again, one request each."""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from threading import Lock
from typing import Final, TypeVar
from urllib.parse import urlsplit

from detent.client.calls import Answer, Request
from detent.client.errors import NoConnection

T = TypeVar("T")

MOST_IDLE: Final = 16
#: Servers close what is idle for five seconds; a connection they may just be closing is not used.
LONGEST_IDLE: Final = 4.0
_PIECE: Final = 16 * 1024


class Connections:
    """Connections to one server."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host, self._port, self._prefix = parts.hostname or "", parts.port, parts.path
        self._url, self._lock, self._process = url, Lock(), os.getpid()
        self._idle: list[tuple[HTTPConnection, float]] = []

    def send(self, request: Request) -> Answer:
        """The whole answer, or NoConnection."""
        until = time.monotonic() + request.timeout
        connection, sock = self._connected(request.timeout)
        return self._guarded(connection, lambda: self._exchange(connection, sock, request, until))

    def listen(self, request: Request) -> tuple[Answer, Stream | None]:
        """An answer whose body is read as it comes, or a whole one if it is an error."""
        until = time.monotonic() + request.timeout
        connection, sock = self._connected(request.timeout)

        def begin() -> tuple[Answer, Stream | None]:
            response = self._asked(connection, sock, request)
            if response.status == 200:
                return _answer(response, b""), Stream(connection, response)
            with closing(connection):
                return _answer(response, _whole(response, sock, until)), None

        return self._guarded(connection, begin)

    def close(self) -> None:
        """Close what is idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _exchange(self, connection: HTTPConnection, sock: socket.socket, request: Request, until: float) -> Answer:
        response = self._asked(connection, sock, request)
        answer = _answer(response, _whole(response, sock, until))
        if connection.sock is None:
            return answer  # the server wants it closed, and it is
        with self._lock:
            if len(self._idle) < MOST_IDLE and self._process == os.getpid():
                self._idle.append((connection, time.monotonic()))
                return answer
        connection.close()
        return answer

    def _asked(self, connection: HTTPConnection, sock: socket.socket, request: Request) -> HTTPResponse:
        sock.settimeout(request.timeout)
        connection.request(request.method, self._prefix + request.target, request.body, dict(request.headers))
        return connection.getresponse()

    def _connected(self, timeout: float) -> tuple[HTTPConnection, socket.socket]:
        connection = self._kept()
        if connection is None:
            connection = self._kind(self._host, self._port, timeout=timeout)
            try:
                connection.connect()
            except (OSError, HTTPException) as error:
                connection.close()
                raise NoConnection(f"cannot connect to {self._url}: {error}", sent=False) from None
        sock: socket.socket = connection.sock
        return connection, sock

    def _kept(self) -> HTTPConnection | None:
        """An idle connection that is still good. Those of the process we were forked from belong to it alone."""
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
        """Whatever goes wrong, a connection in the middle of something is not kept."""
        try:
            return act()
        except (OSError, HTTPException) as error:
            connection.close()
            told = "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
            raise NoConnection(f"{self._url} did not answer: {told}", sent=True) from None
        except BaseException:
            connection.close()
            raise


class Stream:
    """An answer that comes piece by piece."""

    def __init__(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        self._connection, self._response = connection, response

    def hear(self) -> bytes:
        """The next piece; empty at the end."""
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
    """All of the body, before a point in time."""
    pieces: list[bytes] = []
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
    """Whether nothing has come on an idle connection: neither its end nor what nobody asked for."""
    sock.settimeout(0.0)
    try:
        sock.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except OSError:
        return False
    return False
