"""The node's side of isolated actions: starts the zygote, sends calls and reads results.

Everything that comes from a process is bounded: the bytes of a frame, the bytes in all, the time. An attempt is over
when its process is killed and buried, so the next one never runs beside it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final, NamedTuple

import msgspec

from detent.run.outcomes import Fail, Outcome, StepError
from detent.steps.action_context import ActionContext, encode_detail
from detent.steps.actions import Action, Isolation
from detent.steps.egress import EgressPolicy
from detent.steps.isolation import frames
from detent.steps.live_attempt import LiveAttempt
from detent.tenants.limits import INSTALLATION
from detent.tenants.registry import UNCONFINED, TenantRegistry

#: How many processes of attempts a node has at once.
MOST_ATTEMPTS: Final = 16
#: How often a process of the pool is used before another one takes its place.
MOST_USES: Final = 1_000
#: How many lines of its log an attempt may write.
MOST_LINES: Final = 1_000
START_SECONDS: Final = 120.0
_KILL_SECONDS: Final = 10.0
_PIECE: Final = 64 * 1024
_PROGRAM: Final = "detent.steps.isolation.zygote"
#: Variables that the zygote does not get: settings of the node, and credentials of other actions.
_SECRET: Final = ("DETENT_", "CONNECTOR_")
Connections = dict[str, dict[str, str]]
_LEVELS: Final = frozenset({"debug", "info", "warning", "error"})


class Death(NamedTuple):
    """How the process of an attempt ended, as `waitpid` says it; `None` if the zygote died."""

    status: int | None
    crowded: bool = False

    def describe(self) -> str:
        if self.status is None:
            return "the process that starts isolated actions has died"
        if self.crowded:
            return f"its process was killed: it had more than {frames.MOST_PROCESSES} processes"
        if not os.WIFSIGNALED(self.status):
            return f"its process ended without a result, with exit code {os.waitstatus_to_exitcode(self.status)}"
        number = os.WTERMSIG(self.status)
        name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
        hint = "; the machine may have no memory left" if number == signal.SIGKILL else ""
        return f"its process was ended by {name}{hint}"


class _Process:
    """The process of one attempt, or one of the pool. Only actions of the same connector with the same limit of memory
    use it again."""

    def __init__(self, number: int, sock: socket.socket, action: Action) -> None:
        self.number = number
        self.sock = sock
        self.use = use_of(action)
        self.uses = 0
        self.pid: int | None = None
        self.death: asyncio.Future[Death] = asyncio.get_running_loop().create_future()

    def died(self, death: Death) -> None:
        """Take note of its death. What it sent before can still be read; then the stream has an end, although
        another process may have the socket open."""
        if not self.death.done():
            self.death.set_result(death)
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RD)


class _Zygote:
    """A running zygote: its process, the socket to it, and the processes it forked."""

    def __init__(self, modules: Iterable[str], policy: EgressPolicy) -> None:
        self._loop = asyncio.get_running_loop()
        self._control, theirs = socket.socketpair()
        self._processes: dict[int, _Process] = {}
        self._buffer = b""
        self._last = 0
        self.is_dead = False
        self.ready: asyncio.Future[None] = self._loop.create_future()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_SECRET)}
        with theirs:
            self._program = subprocess.Popen(
                [sys.executable, "-m", _PROGRAM, *modules],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env=kept,
                start_new_session=True,
            )
        setup = {"path": sys.path, "policy": base64.b64encode(pickle.dumps(policy)).decode()}
        self._control.sendall(json.dumps(setup).encode() + b"\n")
        self._control.setblocking(False)
        self._loop.add_reader(self._control.fileno(), self._receive)

    @property
    def pid(self) -> int:
        return self._program.pid

    async def fork(self, action: Action) -> _Process:
        """Fork a process for an action. Raise OSError if the zygote cannot be reached."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self._last += 1
        process = self._processes[self._last] = _Process(self._last, ours, action)
        order = {
            "fork": process.number,
            "module": action.function.__module__,
            "function": action.function.__qualname__,
            "memory": action.memory,
            "reuse": action.isolation is Isolation.POOL,
        }
        with theirs:
            try:
                await self._send(order, [theirs.fileno()])
            except BaseException:
                del self._processes[process.number]
                ours.close()
                raise
        return process

    async def kill(self, process: _Process) -> None:
        """Kill a process and its group. Wait until it is buried, but not for ever."""
        if not process.death.done():
            with suppress(OSError):
                await self._send({"kill": process.number}, [])
            await asyncio.wait([process.death], timeout=_KILL_SECONDS)

    async def close(self) -> None:
        """End the zygote and everything below it."""
        self._lose()
        try:
            await asyncio.to_thread(self._program.wait, _KILL_SECONDS)
        except subprocess.TimeoutExpired:
            self._program.kill()
            await asyncio.to_thread(self._program.wait)

    async def _send(self, order: dict[str, Any], files: list[int]) -> None:
        line = json.dumps(order).encode() + b"\n"
        while True:
            if self.is_dead:
                raise ConnectionError("the zygote has died")
            try:
                socket.send_fds(self._control, [line], files)
            except BlockingIOError:
                await asyncio.sleep(0.01)
            else:
                return

    def _receive(self) -> None:
        try:
            data = self._control.recv(_PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self._heard(json.loads(line))

    def _heard(self, fact: dict[str, Any]) -> None:
        if "began" in fact:
            if fact["began"] in self._processes:
                self._processes[fact["began"]].pid = fact["pid"]
        elif "ended" in fact:
            process = self._processes.pop(fact["ended"], None)
            if process is not None:
                process.died(Death(fact["status"], fact["crowded"]))
        elif self.ready.done():
            return
        elif "failed" in fact:
            self.ready.set_exception(ImportError(fact["failed"]))
            self._lose()
        else:
            self.ready.set_result(None)

    def _lose(self) -> None:
        if self.is_dead:
            return
        self.is_dead = True
        self._loop.remove_reader(self._control.fileno())
        self._control.close()
        if not self.ready.done():
            self.ready.set_exception(ConnectionError("the process that starts isolated actions has died"))
        self.ready.exception()  # it need not be awaited
        for process in self._processes.values():
            if process.pid is not None:
                with suppress(OSError):  # a zygote that was killed could not end what its processes have started
                    os.killpg(process.pid, signal.SIGKILL)
            process.died(Death(None))
        self._processes.clear()


class Processes:
    """Runs isolated actions. It owns the zygote, which is started when it is first needed, and the idle processes of
    the pool. `modules` returns the modules that the zygote loads."""

    def __init__(
        self,
        modules: Callable[[], Iterable[str]],
        policy: EgressPolicy | None = None,
        tenants: TenantRegistry = UNCONFINED,
    ) -> None:
        self._modules = modules
        self._policy = policy or EgressPolicy()
        self._tenants = tenants
        self._places = asyncio.Semaphore(MOST_ATTEMPTS)
        self._starting = asyncio.Lock()
        self._zygote: _Zygote | None = None
        self._idle: list[_Process] = []

    @property
    def pid(self) -> int | None:
        """Return the id of the zygote's process, or `None` if none runs."""
        return None if self._zygote is None or self._zygote.is_dead else self._zygote.pid

    async def run(self, action: Action, given: Any, live: LiveAttempt, connections: Connections) -> Outcome:
        """Run one attempt and return its outcome. Whatever happens to its process is a failure of this attempt.

        `connections` has the parts of each connection that the process may know."""
        async with self._places:
            try:
                zygote = await self._started()
                process = self._take(action) or await zygote.fork(action)
            except (OSError, ImportError, TimeoutError) as error:
                return Fail(StepError("process_died", f"no process could be started for the action: {error}"))
            is_reusable = False
            try:
                live.begins()
                egress = self._tenants.limits(live.tenant).egress
                outcome = await self._exchange(process, _encode(action, given, live, connections, egress), live)
                is_reusable = action.isolation is Isolation.POOL and not process.death.done()
            except frames.BadFrame as error:
                return Fail(StepError("process_died", f"the process of the action was killed: {error}"))
            else:
                if outcome is not None:
                    return outcome
                await zygote.kill(process)
                death = process.death.result() if process.death.done() else Death(None)
                return Fail(StepError("process_died", f"the action did not end by itself: {death.describe()}"))
            finally:
                await self._leave(zygote, process, is_reusable=is_reusable)

    async def close(self) -> None:
        """End the zygote and all processes."""
        zygote, self._zygote = self._zygote, None
        for process in self._idle:
            process.sock.close()
        self._idle.clear()
        if zygote is not None:
            await zygote.close()

    async def _started(self) -> _Zygote:
        async with self._starting:
            if self._zygote is not None and self._zygote.is_dead:
                await self.close()
            if self._zygote is None:
                self._zygote = _Zygote(sorted(set(self._modules())), self._policy)
            zygote = self._zygote
            async with asyncio.timeout(START_SECONDS):
                await asyncio.shield(zygote.ready)
            return zygote

    def _take(self, action: Action) -> _Process | None:
        """Return an idle process of the pool for this action."""
        for process in [one for one in self._idle if one.death.done()]:
            self._idle.remove(process)
            process.sock.close()
        for process in self._idle if action.isolation is Isolation.POOL else ():
            if process.use == use_of(action):
                self._idle.remove(process)
                return process
        return None

    async def _leave(self, zygote: _Zygote, process: _Process, *, is_reusable: bool) -> None:
        process.uses += 1
        if is_reusable and process.uses < MOST_USES and not zygote.is_dead:
            self._idle.append(process)
            return
        try:
            await zygote.kill(process)
        finally:
            process.sock.close()

    async def _exchange(self, process: _Process, call: bytes, live: LiveAttempt) -> Outcome | None:
        """Send a call and read frames up to its result. Return `None` if the process ended before. Raise BadFrame."""
        loop, reader, lines = asyncio.get_running_loop(), frames.FrameReader(), 0
        try:
            await loop.sock_sendall(process.sock, frames.frame(frames.REQUEST, call))
            while data := await loop.sock_recv(process.sock, _PIECE):
                for kind, body in reader.feed(data):
                    if kind == frames.RESULT:
                        return frames.decode_result(body)
                    lines += kind == frames.LOG
                    if kind != frames.LOG or lines <= MOST_LINES:
                        _report(live, kind, body)
        except ConnectionError:
            pass
        return None


def use_of(action: Action) -> tuple[str, int]:
    """Return which processes of the pool an action may use again: those of its connector, with its limit."""
    return action.described.connector, action.memory


def _encode(
    action: Action, given: Any, live: LiveAttempt, connections: Connections, egress: tuple[str, ...] | None
) -> bytes:
    facts, context, binding = None, live.context, live.binding
    if context is not None:
        facts = {
            "run_id": context.run_id,
            "step": context.step,
            "attempt": context.attempt,
            "idempotency_key": context.idempotency_key,
            "tenant": context.tenant,
            "principal": context.principal,
            "correlation_id": context.correlation_id,
            "heartbeat_detail": context.heartbeat_detail,
        }
    function = action.function
    call = frames.IsolatedCall(
        function.__module__,
        function.__qualname__,
        msgspec.Raw(msgspec.json.encode(given)),
        connections,
        facts,
        egress,
        live.tenant != INSTALLATION,
        None if binding is None else frames.LentHosts(binding.credential, binding.hosts.rules, binding.values),
    )
    return msgspec.json.encode(call)


def _report(live: LiveAttempt, kind: bytes, body: bytes) -> None:
    """Pass on what a process reports. Every value is checked again: the process may not be what it was."""
    try:
        if kind == frames.BEAT:
            live.beat(encode_detail(msgspec.json.decode(body)) if body else None)
        elif kind == frames.PROGRESS:
            fraction, text = msgspec.json.decode(body, type=tuple[float, str])
            ActionContext("", "", 1, "", 0, port=live).progress(fraction, text)
        else:
            level, message, facts = msgspec.json.decode(body, type=tuple[str, str, dict[str, Any]])
            log = ActionContext("", "", 1, "", 0, port=live).log
            if level in _LEVELS:
                getattr(log, level)(message, **facts)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        raise frames.BadFrame("it sent something that is not a report") from None
