"""Carries a conversation out without any server: answers that are written down, and a clock that pauses move."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, TypeVar

from detent.client.calls import (
    Answer,
    ExchangeDriver,
    ManyAnswers,
    OneAnswer,
    ReadStream,
    Request,
    RetryPolicy,
    Send,
    Wait,
    Yield,
)
from detent.client.errors import NoConnection

T = TypeVar("T")


def answered(status: int = 200, body: Any = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, named, json.dumps(body).encode())


@dataclass
class Stage:
    """`script` is what comes of each request (the last for ever) and of each piece that is listened for; `took` is how
    long a request takes."""

    script: list[Answer | NoConnection | bytes]
    patience: float = 30.0
    took: float = 0.0
    now: float = 1000.0
    sent: list[Request] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def terms(self) -> RetryPolicy:
        return RetryPolicy(timeout=10.0, patience=self.patience, now=lambda: self.now, chance=lambda: 1.0)

    def ask(self, asked: OneAnswer[T]) -> T:
        turns = ExchangeDriver(asked.talk(self.terms()))
        effect = turns.take()
        while effect is not None:
            effect = turns.take(self._do(effect))
        return turns.result

    def tell(self, told: ManyAnswers[T]) -> list[T]:
        found: list[T] = []
        self.collect(told, found)
        return found

    def collect(self, told: ManyAnswers[T], found: list[T]) -> None:
        """Everything that is told goes into `found`, also if it ends with an error."""
        turns = ExchangeDriver(told.tell(self.terms()))
        effect = turns.take()
        while effect is not None:
            if isinstance(effect, Yield):
                found += effect.items
                effect = turns.take()
            else:
                effect = turns.take(self._do(effect))

    def _do(self, effect: object) -> object:
        match effect:
            case Wait(seconds):
                self.pauses.append(seconds)
                self.now += seconds
                return None
            case ReadStream():
                return self._next()
            case Send(request):
                self.sent.append(request)
                self.now += self.took
                return self._next()
            case _:
                request = getattr(effect, "request")  # noqa: B009
                self.sent.append(request)
                return self._next()

    def _next(self) -> object:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]
