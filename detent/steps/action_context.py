"""The context of an action: which attempt it is for, and what it can ask of its node.

A parameter that is annotated with `ActionContext` receives it; no step can set it. The same object works in a thread,
on the loop and in a process of its own: it only knows an `ActionPort`, and each of them has one.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol

import msgspec

from detent import ids
from detent.catalog.connections import MISSING, MissingConnection, NamedConnection
from detent.run.call import StepCall
from detent.run.initiator import CORRELATION_HEADER, SYSTEM, Principal, given_principal
from detent.run.links import Link
from detent.steps.errors import OutputTooLarge, Permanent
from detent.steps.links import Create, CreateAsync, Links, Reservations
from detent.steps.output import encode_output
from detent.steps.payloads.blobs import TenantBlobs, blob_in
from detent.values.blob import Blob
from detent.values.text import plain_text

if TYPE_CHECKING:
    from detent.steps.http.client import GuardedHttp

LARGEST_DETAIL: Final = 16 * 1024
LONGEST_LINE: Final = 4_000
MOST_FACTS: Final = 20
CONNECT_SECONDS: Final = 10.0
#: Where the error of an attempt has its last heartbeat, for the next attempt.
HEARTBEAT: Final = "heartbeat"
_PLAIN: Final = (bool, int, float, type(None))


class ActionPort(Protocol):
    """What a context asks of the process that runs its action."""

    def log(self, level: str, message: str, facts: dict[str, Any]) -> None:
        """Write a line to the log of the node."""

    def progress(self, fraction: float, text: str) -> None:
        """Report how far the attempt is."""

    def beat(self, detail: bytes | None) -> None:
        """Report that the attempt is alive. `detail` is JSON; `None` leaves the last one as it is."""

    def is_cancelled(self) -> bool:
        """Return whether the attempt is over for its node, so that its result will not count."""

    def connection(self, name: str) -> NamedConnection:
        """Return what the operator has set of a connection. Raise Permanent if this process may not know it."""

    def secret(self, name: str) -> str:
        """Return the value of a secret of the tenant. It blocks. Raise Permanent."""

    async def secret_async(self, name: str) -> str:
        """Return the value of a secret of the tenant. Raise Permanent."""

    def http(self) -> GuardedHttp:
        """Return the HTTP client of the running loop."""

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """Return a connected socket. Raise EgressDenied or OSError."""

    def blobs(self) -> TenantBlobs:
        """Return the blobs of the tenant. Raise Permanent if this process has none."""


class ActionLog:
    """Writes lines to the log of the node. Each has the run, the step and the attempt."""

    __slots__ = ("_port",)

    def __init__(self, port: ActionPort) -> None:
        self._port = port

    def debug(self, message: object, *values: object, **facts: object) -> None:
        self._write("debug", message, values, facts)

    def info(self, message: object, *values: object, **facts: object) -> None:
        self._write("info", message, values, facts)

    def warning(self, message: object, *values: object, **facts: object) -> None:
        self._write("warning", message, values, facts)

    def error(self, message: object, *values: object, **facts: object) -> None:
        self._write("error", message, values, facts)

    def _write(self, level: str, message: object, values: tuple[object, ...], facts: dict[str, object]) -> None:
        """Write a line. `values` fill the `%s` of the message, as in Python's own loggers. Never raise."""
        text = plain_text(message, LONGEST_LINE)
        if values:
            try:
                text = plain_text(text % values, LONGEST_LINE)
            except Exception:  # noqa: BLE001 - a line that cannot be formatted is written as it is
                text = plain_text(f"{text} {values!r}", LONGEST_LINE)
        kept = list(facts.items())[:MOST_FACTS]
        self._port.log(level, text, {name: _plain(value) for name, value in kept})


class ActionContext:
    """The attempt for which an action is called, and what it can ask of its node.

    `heartbeat_detail` is what the attempt before this one reported last. `links` has the resources that the action
    names, and finds or creates one. A context that was made without a port, as in
    a test of the action alone, logs and reports nothing.
    """

    __slots__ = (
        "attempt",
        "correlation_id",
        "heartbeat_detail",
        "idempotency_key",
        "links",
        "log",
        "principal",
        "run_id",
        "step",
        "tenant",
        "_port",
    )

    def __init__(
        self,
        run_id: str,
        step: str,
        attempt: int,
        idempotency_key: str,
        tenant: int,
        *,
        principal: Principal = SYSTEM,
        correlation_id: str | None = None,
        heartbeat_detail: Any = None,
        links: Links | None = None,
        port: ActionPort | None = None,
    ) -> None:
        self.run_id = run_id
        self.step = step
        self.attempt = attempt
        self.idempotency_key = idempotency_key
        self.tenant = tenant
        self.principal = principal
        self.correlation_id = run_id if correlation_id is None else correlation_id
        self.heartbeat_detail = heartbeat_detail
        self.links = Links(None, b"", tenant, step) if links is None else links
        self._port: ActionPort = _NoPort() if port is None else port
        self.log = ActionLog(self._port)

    @property
    def cancelled(self) -> bool:
        """Return whether the attempt is over: its time limit has passed, or its run was stopped. Its result will not
        count, so the action should return soon."""
        return self._port.is_cancelled()

    @property
    def http(self) -> GuardedHttp:
        """Return an HTTP client behind the egress guard. Only an `async def` can use it."""
        return self._port.http()

    def connect(self, host: str, port: int, timeout: float = CONNECT_SECONDS) -> socket.socket:
        """Return a socket that is connected to an address the egress guard allows. It blocks.

        Raise EgressDenied or OSError."""
        return self._port.connect(host, port, timeout)

    def connection(self, name: str, *parts: str) -> NamedConnection:
        """Return a connection of the operator. It has at least these parts: `url`, `token`, `username`, `password`.

        Raise Permanent with the names of the variables that are not set."""
        found = self._port.connection(name)
        if parts:
            try:
                found.need(*parts)
            except MissingConnection as error:
                raise Permanent(str(error), code=MISSING) from None
        return found

    def credential(self, connector: str) -> str:
        """Return the token of a connector. Raise Permanent with the name of the missing variable."""
        return self.connection(connector, "token")["token"]

    def secret(self, name: str) -> str:
        """Return the newest value of a secret, for plain functions. What the action returns, logs or raises is
        redacted.

        Raise Permanent if there is no such secret."""
        return self._port.secret(name)

    async def secret_async(self, name: str) -> str:
        """Return the newest value of a secret, in a coroutine."""
        return await self._port.secret_async(name)

    def find_or_create(self, system: str, type: str, key: str, create: Create) -> Link:  # noqa: A002
        """Return the resource that a run created under this key, or create it. For plain functions.

        `create` gets an idempotency key, the same in every attempt and every run. It returns the id of the resource, or
        a `Link`. Raise RetryLater while another run creates it."""
        return self.links.find_or_create(system, type, key, create)

    async def find_or_create_async(self, system: str, type: str, key: str, create: CreateAsync) -> Link:  # noqa: A002
        """Return the resource that a run created under this key, or create it, in a coroutine."""
        return await self.links.find_or_create_async(system, type, key, create)

    def open(self, blob: Blob | Mapping[str, Any]) -> BinaryIO:
        """Return the content of a blob as a file, for plain functions. It is a temporary file, which is deleted when it
        is closed. It blocks. `blob` is what a parameter of the step has in its place. Raise Permanent."""
        return self._port.blobs().open(blob_in(blob))

    def stream(self, blob: Blob | Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Yield the content of a blob, a part at a time, in a coroutine. Raise Permanent."""
        return self._port.blobs().stream(blob_in(blob))

    def save(self, content: bytes | BinaryIO, type: str | None = None) -> Blob:  # noqa: A002
        """Store bytes, or what a file has from its position on, as a blob that the action may return. For plain
        functions; it blocks. `type` is its media type. Raise Permanent if it is larger than a blob may be."""
        return self._port.blobs().save(content, type)

    async def save_async(self, content: bytes | AsyncIterator[bytes], type: str | None = None) -> Blob:  # noqa: A002
        """Store bytes, or what an iterator yields, as a blob, in a coroutine."""
        return await self._port.blobs().save_async(content, type)

    def progress(self, fraction: float, text: str = "") -> None:
        """Report how far the attempt is: from 0 to 1, with a few words."""
        share = float(fraction)
        self._port.progress(min(1.0, max(0.0, share)) if share == share else 0.0, plain_text(text, LONGEST_LINE))

    def heartbeat(self, detail: Any = None) -> None:
        """Report that the attempt is alive. `detail` reaches the next attempt as `heartbeat_detail`, if this one fails.

        Raise Unserialisable or OutputTooLarge if the detail has no JSON form or more than 16 KB."""
        self._port.beat(None if detail is None else encode_detail(detail))


def encode_detail(detail: Any) -> bytes:
    """Return the detail of a heartbeat as JSON. Raise Unserialisable or OutputTooLarge."""
    encoded = encode_output(detail)[len(b'{"output":') : -1]
    if len(encoded) > LARGEST_DETAIL:
        message = f"the detail of a heartbeat takes {len(encoded):,} bytes, more than {LARGEST_DETAIL // 1024} KB"
        raise OutputTooLarge(message)
    return encoded


class _Origin(msgspec.Struct):
    """The parts of a run's input that say where it comes from."""

    principal: Any = None
    correlation_id: Any = None
    headers: Any = None


def context_of(call: StepCall, port: ActionPort, reservations: Reservations | None = None) -> ActionContext:
    """Return the context of an attempt. A call without a view of its run has the system as its principal."""
    run, principal, correlation, detail = ids.show(ids.RUN, call.run_id), SYSTEM, None, None
    if call.view is not None:
        origin = msgspec.json.decode(call.view.facts.input, type=_Origin)
        principal = given_principal(origin.principal)
        headers = origin.headers if isinstance(origin.headers, Mapping) else {}
        correlation = origin.correlation_id or headers.get(CORRELATION_HEADER)
        error = call.view.error_of(call.step)
        detail = error.detail.get(HEARTBEAT) if error is not None and isinstance(error.detail, Mapping) else None
    return ActionContext(
        run,
        call.step,
        call.attempt,
        call.idempotency_key,
        call.tenant,
        principal=principal,
        correlation_id=correlation if isinstance(correlation, str) else None,
        heartbeat_detail=detail,
        links=Links(reservations, call.run_id, call.tenant, call.step),
        port=port,
    )


def _plain(value: object) -> object:
    return value if type(value) in _PLAIN else plain_text(value, LONGEST_LINE)


class _NoPort:
    """The port of a context that belongs to no attempt."""

    def log(self, level: str, message: str, facts: dict[str, Any]) -> None:
        return None

    def progress(self, fraction: float, text: str) -> None:
        return None

    def beat(self, detail: bytes | None) -> None:
        return None

    def is_cancelled(self) -> bool:
        return False

    def connection(self, name: str) -> NamedConnection:
        raise RuntimeError("this context belongs to no attempt and has no connections")

    def secret(self, name: str) -> str:
        raise RuntimeError("this context belongs to no attempt and has no secrets")

    async def secret_async(self, name: str) -> str:
        return self.secret(name)

    def http(self) -> GuardedHttp:
        raise RuntimeError("this context belongs to no attempt and has no HTTP client")

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        raise RuntimeError("this context belongs to no attempt and cannot connect")

    def blobs(self) -> TenantBlobs:
        raise RuntimeError("this context belongs to no attempt and has no blobs")
