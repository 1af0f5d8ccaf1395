"""Renders document templates in child processes, which end if a template takes too much time or memory.

A child renders one document after the other (`program.py` beside this module). The fuel of the template engine bounds
loops but not bytes, so the limits of time and memory are those of a process. A child that broke a limit is gone, and
the next document gets another one. Children are started when there is something to render, and end with the app.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from detent.errors import Problem, RenderFailed, Unavailable
from detent.values.limits import BODY_LIMIT

#: How many documents are rendered at once. The others wait.
MOST_CHILDREN: Final = 2
#: How many documents a child renders before another one takes its place.
_MOST_DOCUMENTS: Final = 1_000
#: Seconds to start a child, and to wait for one that its own time limit did not end.
_PATIENCE: Final = 30.0
_LENGTH: Final = 4
_PROGRAM: Final = Path(__file__).with_name("program.py")
_FIELD: Final = "body"


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """What one document may use: seconds, bytes of memory with the interpreter in it, and bytes of text."""

    seconds: float = 2.0
    memory: int = 256 * 2**20
    size: int = BODY_LIMIT


_LIMITS: Final = RenderLimits()


class Renderer:
    """Owns the child processes. Nothing is started before the first document."""

    def __init__(self, limits: RenderLimits = _LIMITS, *, most: int = MOST_CHILDREN) -> None:
        self._limits = limits
        self._room = asyncio.Semaphore(most)
        self._idle: list[_Child] = []
        self._is_closed = False

    async def check(self, body: str, format_: str) -> None:
        """Raise RenderFailed if the text is not a valid template."""
        await self._ask({"body": body, "format": format_, "data": None})

    async def render(self, body: str, format_: str, data: Mapping[str, Any]) -> str:
        """Return the document. Raise RenderFailed if the template cannot be rendered with this data within its limits,
        and Unavailable if no process can be started."""
        return await self._ask({"body": body, "format": format_, "data": data})

    async def close(self) -> None:
        """End the children."""
        self._is_closed = True
        while self._idle:
            await self._idle.pop().end()

    async def _ask(self, request: Mapping[str, Any]) -> str:
        async with self._room:
            child = await self._take()
            try:
                answer = await child.ask(request)
            except BaseException:  # also a cancellation: an answer that comes later would be that of another document
                await child.end()
                raise
            if answer is None:
                raise _broken(await child.end(), self._limits)
            if self._is_closed or child.documents >= _MOST_DOCUMENTS:
                await child.end()
            else:
                self._idle.append(child)
        return _text_in(answer, self._limits)

    async def _take(self) -> _Child:
        """Return a child that lives: an idle one, or else a new one."""
        while self._idle:
            child = self._idle.pop()
            if child.is_alive:
                return child
            await child.end()  # something else has ended it, such as a system without memory
        return await _Child.start(self._limits)


class _Child:
    """A process that renders one document at a time. It reads and writes one socket."""

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: float
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._limit = limit
        self.documents = 0

    @classmethod
    async def start(cls, limits: RenderLimits) -> _Child:
        """Start a process and wait until it has given up its rights. Raise Unavailable if it does not start."""
        ours, its = socket.socketpair()
        with its:
            try:
                # Not in a thread: a cancellation would leave a process that no code knows.
                process = _start_process(its, limits)
            except OSError as error:
                ours.close()
                message = f"no process can be started to render documents: {error.strerror or error}"
                raise Unavailable(message) from None
        reader, writer = await asyncio.open_connection(sock=ours)
        child = cls(process, reader, writer, limits.seconds + _PATIENCE)
        try:
            if await child._receive() is None:
                raise Unavailable("the process that renders documents does not start")
        except BaseException:
            await child.end()
            raise
        return child

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the answer of the process, or `None` if it has ended instead."""
        self.documents += 1
        data = json.dumps(request).encode()
        self._writer.write(len(data).to_bytes(_LENGTH, "big") + data)
        return await self._receive()

    async def _receive(self) -> dict[str, Any] | None:
        try:
            async with asyncio.timeout(self._limit):
                length = int.from_bytes(await self._reader.readexactly(_LENGTH), "big")
                answer: dict[str, Any] = json.loads(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
            return None
        return answer

    async def end(self) -> int:
        """End the process if it has not ended, and return its exit code."""
        self._process.kill()
        self._writer.close()
        return await asyncio.to_thread(self._process.wait)


def _start_process(its: socket.socket, limits: RenderLimits) -> subprocess.Popen[bytes]:
    """Start the program. Its environment is only the path of modules: it gets no secret of this process."""
    given = json.dumps({"seconds": limits.seconds, "memory": limits.memory, "bytes": limits.size})
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    command = (sys.executable, "-S", "-s", "-P", "-B", str(_PROGRAM), given)
    return subprocess.Popen(
        command, stdin=its.fileno(), stdout=its.fileno(), stderr=subprocess.DEVNULL, cwd="/", env={"PYTHONPATH": path}
    )


def _text_in(answer: Mapping[str, Any], limits: RenderLimits) -> str:
    if "text" in answer:
        return str(answer["text"])
    if "size" in answer:
        raise _failed(f"makes a document of {answer['size']:,} bytes; at most {limits.size:,} are allowed")
    line = f"line {answer['line']}: " if answer.get("line") else ""
    raise _failed(f"{line}{answer['error']}")


def _broken(code: int, limits: RenderLimits) -> RenderFailed:
    """Return the error of a document that ended its process."""
    if code == -signal.SIGALRM:
        return _failed(f"takes longer than {limits.seconds:g} s; make it or the answers smaller")
    return _failed(f"takes more than {limits.memory // 2**20} MB of memory; make it or the answers smaller")


def _failed(message: str) -> RenderFailed:
    return RenderFailed("the document cannot be rendered", [Problem(_FIELD, message)])
