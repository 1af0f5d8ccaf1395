"""The process of an attempt: receives a call, runs the function and sends its result.

It runs after a fork, in a process that has only this work. Nothing here can harm the node: whatever goes wrong ends the
process, and the node learns that there is no result.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from detent.catalog.connections import MISSING, NamedConnection
from detent.ids import RUN, parse
from detent.run.initiator import Principal
from detent.run.outcomes import Outcome
from detent.steps.action_context import ActionContext
from detent.steps.arguments import Signature, innermost, read_signature
from detent.steps.credentials.action_connections import HostBinding
from detent.steps.egress import EgressPolicy
from detent.steps.errors import Permanent
from detent.steps.http.client import ActionServices, GuardedHttp
from detent.steps.isolation import frames
from detent.steps.logs.attempt_log import LONGEST_LINE, current_log, hear_logging, level_name, share_of
from detent.steps.payloads.blobs import MISSING_BLOB, TenantBlobs
from detent.steps.results import outcome_of, outcome_of_error
from detent.tenants.limits import INSTALLATION
from detent.values.text import plain_text

_PIECE: Final = 64 * 1024
_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG


@cache
def find_function(module: str, path: str) -> tuple[Callable[..., Any], Signature]:
    """Return a function of a module and its signature. The zygote calls this too, so that its processes know it."""
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found, read_signature(found)


def confine(memory: int, parent: int, prctl: Callable[..., int] | None) -> None:
    """Give this process its own session and its limits. `memory` is what it may have beyond what is loaded."""
    os.setsid()
    if prctl is not None:
        prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # the zygote has died meanwhile, before this process asked for its death signal
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # macOS refuses to limit the address space
        limit = _loaded() + memory
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # the first to be killed if the machine has no memory


def _loaded() -> int:
    """Return how many bytes of address space this process has now."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def serve(channel: socket.socket, policy: EgressPolicy, *, reuse: bool) -> None:
    """Receive calls and send their results: one, or with `reuse` one after the other until the node closes."""
    hear_logging()
    while True:
        body = _receive(channel)
        if body is None:
            return
        call = msgspec.json.decode(body, type=frames.IsolatedCall)
        outcome = _perform(call, _Port(channel, call, policy))
        channel.sendall(frames.frame(frames.RESULT, frames.encode_result(outcome)))
        if not reuse:
            return


def _receive(channel: socket.socket) -> bytes | None:
    header = _exactly(channel, frames.HEADER.size)
    if header is None:
        return None
    _, length = frames.HEADER.unpack(header)
    return _exactly(channel, length)


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = channel.recv(min(_PIECE, size - len(data)))
        if not piece:
            return None
        data += piece
    return bytes(data)


def _perform(call: frames.IsolatedCall, port: _Port) -> Outcome:
    links = None
    token = current_log.set(_ProcessLog(call, port))
    try:
        function, signature = find_function(call.module, call.function)
        context = None if call.context is None else _context(call.context, port)
        links = None if context is None else context.links
        arguments = signature.binding()(msgspec.json.decode(call.given), context)
        if inspect.iscoroutinefunction(innermost(function)):
            return outcome_of(asyncio.run(port.awaited(lambda: function(**arguments))), links)
        return outcome_of(function(**arguments), links)
    except BaseException as error:  # noqa: BLE001 - whatever the action raises is its outcome
        return outcome_of_error(error, links)
    finally:
        current_log.reset(token)


def _context(facts: dict[str, Any], port: _Port) -> ActionContext:
    principal = msgspec.convert(facts.pop("principal"), Principal)
    return ActionContext(**facts, principal=principal, port=port)


class _ProcessLog:
    """The log of the attempt of this process: plain `logging` calls reach the node as lines of its context do."""

    is_replaying = False

    def __init__(self, call: frames.IsolatedCall, port: _Port) -> None:
        facts = call.context or {}
        self.run = parse(RUN, facts["run_id"]) if "run_id" in facts else bytes(16)
        self.step: str = facts.get("step", "")
        self.attempt: int = facts.get("attempt", 0)
        self._port = port

    def wants(self, level: int) -> bool:
        return True  # the node decides

    def write(self, level: int, logger: str, text: str, facts: dict[str, Any] | None = None) -> None:
        with suppress(OSError):  # the node has given the attempt up
            self._port.log(level_name(level), plain_text(text, LONGEST_LINE), {**(facts or {}), "logger": logger})

    def progress(self, fraction: float, text: str = "") -> None:
        self._port.progress(share_of(fraction), text)

    def clean_with(self, clean: Callable[[bytes], bytes]) -> None:
        return None  # the node cleans what this process sends


class _Port:
    """The port of the context of an isolated action: what it reports becomes frames."""

    def __init__(self, channel: socket.socket, call: frames.IsolatedCall, policy: EgressPolicy) -> None:
        self._channel = channel
        self._call = call
        self._services = ActionServices(policy.narrowed(call.egress, is_guest=call.is_guest))

    async def awaited(self, code: Callable[[], Any]) -> Any:
        """Await the action, then close the connections of its HTTP client."""
        try:
            return await code()
        finally:
            await self._services.close()

    def log(self, level: str, message: str, facts: dict[str, Any]) -> None:
        self._send(frames.LOG, [level, message, facts])

    def progress(self, fraction: float, text: str) -> None:
        self._send(frames.PROGRESS, [fraction, text])

    def beat(self, detail: bytes | None) -> None:
        self._channel.sendall(frames.frame(frames.BEAT, b"" if detail is None else detail))

    def is_cancelled(self) -> bool:
        return False  # a cancelled attempt is killed

    def connection(self, name: str) -> NamedConnection:
        parts = self._call.connections.get(name)
        if parts is None:
            known = " and ".join(map(repr, self._call.connections)) or "none"
            message = f"the connection {name[:80]!r} is not known in this process: it has only {known}"
            raise Permanent(message, code=MISSING)
        return NamedConnection(name, parts)

    def secret(self, name: str) -> str:
        message = f"an isolated action has no store; write {{{{secrets.{name[:100]}}}}} in a parameter of its step"
        raise Permanent(message, code="missing_secret")

    async def secret_async(self, name: str) -> str:
        return self.secret(name)

    def http(self) -> GuardedHttp:
        lent = self._call.lent
        binding = None if lent is None else HostBinding(lent.credential, lent.hosts, lent.values)
        return self._services.http(INSTALLATION, binding)  # its policy is that of the tenant

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._services.connect(INSTALLATION, host, port, timeout)

    def blobs(self) -> TenantBlobs:
        message = "an isolated action has no store of blobs; read the blob in an action that is not isolated"
        raise Permanent(message, code=MISSING_BLOB)

    def _send(self, kind: bytes, value: Any) -> None:
        self._channel.sendall(frames.frame(kind, msgspec.json.encode(value)))


def close_streams() -> None:
    """Connect the standard streams to nothing. What an action prints is not kept: it has a log."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.close(null)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
