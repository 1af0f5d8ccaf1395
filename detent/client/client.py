"""`detent.Client`: the face whose methods return when they are done. Any number of threads may share one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from threading import Event
from types import TracebackType
from typing import Self, TypeVar

from detent.client.calls import Answer, Asked, Effect, Give, Hear, Listen, Pause, Request, Send, Terms, Told, Turns
from detent.client.connections import Connections, Stream
from detent.client.errors import ClientClosed, NoConnection
from detent.client.faces import Blocking, ClientOperations, Run, Triggers, Workflows
from detent.client.spelling import server_url

T = TypeVar("T")


class Client(ClientOperations, Blocking):
    """A Detent at `url` (else at DETENT_URL, else at http://127.0.0.1:8080).

    `timeout` seconds are for one request. What may be sent again is sent again, while nothing answers or the server
    says "not now", for at most `patience` seconds. `headers` go with every request."""

    def __init__(
        self,
        url: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 30.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.url = server_url(url)
        self._line = BlockingLine(self.url, Terms(timeout, patience, dict(headers or {})))
        super().__init__(self._line)
        self.workflows, self.triggers = Workflows(self._line), Triggers(self._line)

    def run(self, id: str) -> Run:  # noqa: A002
        """The handle of a run. Asks nothing yet."""
        return Run(self._line, id)

    def close(self) -> None:
        """Close the connections, and let nobody wait for another try."""
        self._line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class BlockingLine:
    """Carries conversations out in the caller's thread."""

    def __init__(self, url: str, terms: Terms) -> None:
        self._connections, self._terms, self._closed = Connections(url), terms, Event()

    def ask(self, asked: Asked[T]) -> T:
        turns, hands = Turns(asked.talk(self._terms)), _Hands(self._connections, self._closed)
        effect = turns.take()
        while effect is not None:
            effect = turns.take(hands.do(effect))
        return turns.result

    def tell(self, told: Told[T]) -> Iterator[T]:
        turns = Turns(told.tell(self._terms))
        with closing(_Hands(self._connections, self._closed)) as hands:
            effect = turns.take()
            while effect is not None:
                if isinstance(effect, Give):
                    yield from effect.items
                    effect = turns.take()
                else:
                    effect = turns.take(hands.do(effect))

    def close(self) -> None:
        self._closed.set()
        self._connections.close()


class _Hands:
    """Does what one conversation wants, and holds the stream it listens to."""

    def __init__(self, connections: Connections, closed: Event) -> None:
        self._connections, self._closed = connections, closed
        self._stream: Stream | None = None

    def do(self, effect: Effect) -> object:
        """What came of it; an error of the connection is a result too."""
        if self._closed.is_set():
            raise ClientClosed
        try:
            match effect:
                case Send(request):
                    return self._connections.send(request)
                case Listen(request):
                    return self._listen(request)
                case Hear():
                    return self._stream.hear() if self._stream else b""
                case Pause(seconds):
                    return self._closed.wait(seconds)
        except NoConnection as error:
            return error

    def _listen(self, request: Request) -> Answer:
        self.close()
        answer, self._stream = self._connections.listen(request)
        return answer

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
