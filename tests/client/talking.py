"""Runs exchanges without any server: a transport that answers by a script, and a clock that waits move."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, TypeVar

from detent.client.calls import Answer, ManyAnswers, Request, RetryPolicy
from detent.client.drivers import Driver
from detent.client.errors import NoConnection

T = TypeVar("T")


def answered(status: int = 200, body: Any = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, named, json.dumps(body).encode())


@dataclass
class MockTransport:
    """`script` is what comes of each request (the last for ever) and of each read of a stream; `took` is how long a
    request takes."""

    script: list[Answer | NoConnection | bytes]
    took: float = 0.0
    has_streams: bool = True
    can_wait: bool = True
    now: float = 1000.0
    sent: list[Request] = field(default_factory=list)

    def send(self, request: Request) -> Answer:
        self.now += self.took
        return self._answer(request)

    def open_stream(self, request: Request) -> tuple[Answer, MockTransport] | None:
        return (self._answer(request), self) if self.has_streams else None

    def read(self) -> bytes:
        came = self._next()
        assert isinstance(came, bytes)
        return came

    def close(self) -> None:
        """Nothing is open."""

    def _answer(self, request: Request) -> Answer:
        self.sent.append(request)
        came = self._next()
        assert isinstance(came, Answer)
        return came

    def _next(self) -> Answer | bytes:
        came = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(came, NoConnection):
            raise came
        return came


class Stage(Driver):
    """A driver on a mock transport, whose waits move the clock."""

    def __init__(
        self,
        script: list[Answer | NoConnection | bytes],
        patience: float = 30.0,
        took: float = 0.0,
        *,
        streams: bool = True,
    ) -> None:
        self.mock = MockTransport(script, took, has_streams=streams)
        policy = RetryPolicy(timeout=10.0, patience=patience, now=lambda: self.mock.now, chance=lambda: 1.0)
        super().__init__(self.mock, policy)
        self.pauses: list[float] = []

    @property
    def now(self) -> float:
        return self.mock.now

    @property
    def sent(self) -> list[Request]:
        return self.mock.sent

    def wait(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.mock.now += seconds

    def all(self, told: ManyAnswers[T]) -> list[T]:
        return list(self.stream(told))

    def collect(self, told: ManyAnswers[T], found: list[T]) -> None:
        """Everything that is yielded goes into `found`, also if it ends with an error."""
        found.extend(self.stream(told))
