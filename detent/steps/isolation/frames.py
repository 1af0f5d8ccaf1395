"""The frames between a node and the process of an attempt: a letter, a length, and JSON.

The node does not trust what it receives: each kind of frame has a limit, and every value is checked again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from detent.run.links import Link, collected
from detent.run.outcomes import Done, Fail, Outcome, Skip, StepError
from detent.steps.action_context import LARGEST_DETAIL, LONGEST_LINE, MOST_FACTS
from detent.steps.errors import LONGEST_WAIT
from detent.steps.output import encode_output
from detent.steps.user_code import failure_of
from detent.values.limits import BODY_LIMIT

REQUEST: Final = b"Q"
RESULT: Final = b"R"
LOG: Final = b"L"
PROGRESS: Final = b"P"
BEAT: Final = b"B"
HEADER: Final = struct.Struct("!cI")
_ROOM: Final = 64 * 1024
_LARGEST: Final = {
    RESULT: BODY_LIMIT + _ROOM,
    LOG: (MOST_FACTS + 1) * LONGEST_LINE * 4 + _ROOM,
    PROGRESS: LONGEST_LINE * 4 + _ROOM,
    BEAT: LARGEST_DETAIL,
}
#: How many bytes the process of an attempt may send in all.
MOST_BYTES: Final = 64 * 1024 * 1024
#: A `detail` of an error that is larger is left out.
LARGEST_ERROR_DETAIL: Final = 32 * 1024
_FRAME: Final = len(b'{"output":')

#: How many processes an attempt may have at once.
MOST_PROCESSES: Final = 64


class BadFrame(ValueError):
    """What was received is not a frame, or is larger than one may be."""


class LentHosts(msgspec.Struct):
    """The name of a stored credential, its hosts, and its values."""

    credential: str
    hosts: tuple[str, ...]
    values: tuple[str, ...]


class IsolatedCall(msgspec.Struct):
    """What a process is asked to do: call a function of a module with the `with` of a step.

    `context` has the facts of the attempt, if the function takes them. `connections` has the parts of the connection
    of its connector, and of the one that the step names: the process knows no others. `egress` is what the tenant may
    reach, `None` for all that the installation allows, and a guest is another tenant than the first. `lent` names the
    stored credential whose values one of the connections has, and where they may be sent.
    """

    module: str
    function: str
    given: msgspec.Raw
    connections: dict[str, dict[str, str]]
    context: dict[str, Any] | None = None
    egress: tuple[str, ...] | None = None
    is_guest: bool = False
    lent: LentHosts | None = None


class IsolatedResult(msgspec.Struct, omit_defaults=True):
    """How an attempt ended, as its process says."""

    status: Literal["done", "failed", "skipped"]
    output: msgspec.Raw = msgspec.Raw(b"null")
    code: str = ""
    message: str = ""
    detail: Any = None
    retry: bool = True
    retry_after: float | None = None
    links: list[Link] = []


def frame(kind: bytes, body: bytes) -> bytes:
    """Return a frame as bytes."""
    return HEADER.pack(kind, len(body)) + body


class FrameReader:
    """Cuts received bytes into frames. It stores no more than one frame and what was received at once."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._received = 0

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield (kind, body) of each frame that is complete now. Raise BadFrame."""
        self._received += len(data)
        if self._received > MOST_BYTES:
            raise BadFrame(f"it sent more than {MOST_BYTES // 1024**2} MB")
        self._buffer += data
        while len(self._buffer) >= HEADER.size:
            kind, length = HEADER.unpack_from(self._buffer)
            if kind not in _LARGEST:
                raise BadFrame("it sent something that is not a result")
            if length > _LARGEST[kind]:
                raise BadFrame(f"it sent {length:,} bytes at once")
            whole = HEADER.size + length
            if len(self._buffer) < whole:
                return
            body = bytes(self._buffer[HEADER.size : whole])
            del self._buffer[:whole]
            yield kind, body


def encode_result(outcome: Outcome) -> bytes:
    """Return the result of an attempt as the body of a frame."""
    match outcome:
        case Done(result, links):
            found = IsolatedResult("done", msgspec.Raw(result[_FRAME:-1]), links=list(links))
        case Skip(error):
            found = IsolatedResult("skipped", message="" if error is None else error.message)
        case Fail(error):
            found = IsolatedResult(
                "failed",
                code=error.code,
                message=error.message,
                detail=error.detail,
                retry=outcome.retry,
                retry_after=outcome.retry_after,
            )
        case _:
            raise TypeError(f"an action does not end as {type(outcome).__name__}")
    return msgspec.json.encode(found)


def decode_result(body: bytes) -> Outcome:
    """Return the outcome that a process sent. Its output is checked like that of any action. Raise BadFrame."""
    try:
        found = msgspec.json.decode(body, type=IsolatedResult)
        output = msgspec.json.decode(found.output) if found.status == "done" else None
        detail = found.detail if len(msgspec.json.encode(found.detail)) <= LARGEST_ERROR_DETAIL else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise BadFrame("it sent something that is not a result") from None
    if found.status == "skipped":
        return Skip(StepError("skipped", found.message) if found.message else None)
    if found.status == "failed":
        wait = found.retry_after
        bounded = None if wait is None else min(max(0.0, wait), LONGEST_WAIT)
        return Fail(StepError(found.code, found.message, detail), retry=found.retry, retry_after=bounded)
    try:
        return Done(encode_output(output), collected(found.links))
    except ValueError as error:
        return failure_of(error)
