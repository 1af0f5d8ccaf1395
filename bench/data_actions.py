"""What an action that is data costs beside an http step with the same request: `python -m bench.profile manifest`.

Both run in this process on the executors of a node, up to the socket: the answer is there at once. So the difference
is what the manifest costs: its parameters, its request, its output and its links. Batches of both sides alternate. The
fastest batch of a side counts, as CPU time of this process: everything else on the machine only adds to it.
"""

import asyncio
import gc
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from multidict import CIMultiDict, CIMultiDictProxy
from rich.console import Console
from rich.table import Table

from detent.catalog.connections import EnvironmentConnections
from detent.catalog.shipped import load_shipped
from detent.graph.model import Graph, StepKind
from detent.run.call import RunView, StepCall
from detent.run.outcomes import Outcome
from detent.run.state import RunFacts
from detent.steps.action_step import ActionExecutor
from detent.steps.data_action import CatalogActions, StoredDefinition
from detent.steps.http.request import HttpRequest
from detent.steps.http.step import GuardedSession, HopAuth, HttpExecutor

BATCHES = 150
CALLS = 40
#: What a manifest may cost, in microseconds.
ALLOWED = 15.0

Attempt = Callable[[], Awaitable[Any]]

_RUN = bytes(range(16))
_INPUT = {"body": {"order": 7}, "principal": {"userId": "U7", "displayName": "Ada", "email": "ada@example.com"}}
_TOKEN = "token-of-a-profile"
_HEADERS = {
    "Date": "Tue, 17 Nov 2026 12:00:00 GMT",
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": "300",
    "Connection": "keep-alive",
    "Server": "Apache",
    "Request-Id": "req_8f2Yq1",
}
_MESSAGE = {
    "ok": True,
    "channel": "C0123456789",
    "ts": "1763380800.000100",
    "message": {"type": "message", "user": "U024BE7LH", "text": "Order 7 is on its way", "ts": "1763380800.000100"},
}
_INTENT = {
    "id": "pi_3MtwBwLkdIwHu7ix28a3tqPa",
    "object": "payment_intent",
    "amount": 2000,
    "currency": "eur",
    "status": "requires_payment_method",
    "client_secret": None,
    "metadata": {"order": "7"},
}
_ISSUE = {
    "id": 2817364509,
    "number": 1347,
    "title": "Order 7 is late",
    "state": "open",
    "html_url": "https://github.com/octocat/orders/issues/1347",
    "user": {"login": "octocat", "id": 1},
    "body": None,
    "comments": 0,
}
#: Actions with their parameters and the answer of their service.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "slack.post-message": ({"channelId": "C0123456789", "message": "Order 7 is on its way"}, _MESSAGE),
    "stripe.create-payment-intent": ({"amount": 2000, "currency": "eur", "description": "Order 7"}, _INTENT),
    "github.create-issue": ({"owner": "octocat", "repo": "orders", "title": "Order 7 is late"}, _ISSUE),
}


class _Content:
    """The body of an answer, in one piece."""

    def __init__(self, body: bytes) -> None:
        self._pieces = [b"", body]

    async def readany(self) -> bytes:
        return self._pieces.pop()


class _Response:
    """An answer of a service, as the client of steps reads it."""

    status = 200

    def __init__(self, headers: CIMultiDictProxy[str], body: bytes) -> None:
        self.headers = headers
        self.content = _Content(body)

    def release(self) -> None:
        """Do nothing: there is no connection."""


class _Answering(HttpExecutor):
    """Answers every request at once and notes the last one."""

    last: HttpRequest | None = None

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__()
        self._headers = CIMultiDictProxy(CIMultiDict(_HEADERS))
        self._body = json.dumps(answer).encode()

    async def _send(self, session: GuardedSession, request: HttpRequest, auth: HopAuth | None, tenant: int) -> Any:
        self.last = request
        return _Response(self._headers, self._body)


async def _prepare(name: str, given: dict[str, Any], answer: dict[str, Any]) -> tuple[_Answering, Attempt, Attempt]:
    """Return what runs an action, and what runs an http step with the same request."""
    http = _Answering(answer)
    id_, _, action = name.partition(".")
    connector = next(one for one in load_shipped() if one.id == id_)
    definition = connector.definition(next(one for one in connector.actions if one.id == action))
    raw = msgspec.json.encode(definition)

    async def load(tenant: int, name: str, version: str) -> StoredDefinition:
        return StoredDefinition(raw, is_own=False)

    environment = EnvironmentConnections({f"CONNECTOR_{id_.upper()}_TOKEN": _TOKEN})
    actions = ActionExecutor(data=CatalogActions(http, load, environment))
    facts = RunFacts(_RUN, 1, "w", json.dumps(_INPUT).encode(), 0, None, str)
    view = RunView(facts, Graph(()), 1, lambda name: None, lambda name: None)
    parameters = {"action": name, "version": definition.action.version, "with": given}
    called = StepCall(_RUN, 1, "send", StepKind.ACTION, 1, parameters, 30.0, view)

    async def act() -> Any:
        outcome = actions.begin(called)
        return outcome if isinstance(outcome, Outcome) else await outcome

    await act()
    sent = http.last
    assert sent is not None
    body = sent.body or b""
    assert isinstance(body, bytes)
    is_json = sent.headers["Content-Type"] == "application/json"
    request = {
        "url": str(sent.target.url),
        "method": sent.method,
        "headers": {
            "Authorization": sent.headers["Authorization"],
            **definition.action.request.headers,
            **({} if is_json else {"Content-Type": sent.headers["Content-Type"]}),
        },
        "body": json.loads(body) if is_json else body.decode(),
    }
    seen = view if definition.acting_user_headers else None
    plain = StepCall(_RUN, 1, "send", StepKind.HTTP, 1, request, 30.0, seen)

    async def ask() -> Any:
        return await http.begin(plain)

    await ask()
    same = http.last
    assert same is not None
    assert (same.target, same.body) == (sent.target, sent.body)
    assert dict(same.headers) == dict(sent.headers), (same.headers, sent.headers)
    return http, act, ask


async def _measure(act: Attempt, ask: Attempt) -> tuple[float, float]:
    """Return the microseconds of both, of the fastest batch of each."""
    best = [float("inf"), float("inf")]
    gc.collect()
    gc.freeze()
    for _ in range(BATCHES):
        for side, one in enumerate((act, ask)):
            begun = time.process_time_ns()
            for _ in range(CALLS):
                await one()
            best[side] = min(best[side], (time.process_time_ns() - begun) / CALLS / 1e3)
    return best[0], best[1]


async def _compare(console: Console) -> None:
    table = Table(title="CPU per step, up to the socket", title_justify="left", border_style="dim")
    table.add_column("action")
    for column in ("http step", "action", "more", f"of {ALLOWED:.0f} us"):
        table.add_column(column, justify="right")
    for name, (given, answer) in CASES.items():
        http, act, ask = await _prepare(name, given, answer)
        acted, asked = await _measure(act, ask)
        more = acted - asked
        table.add_row(name, f"{asked:.1f} us", f"{acted:.1f} us", f"{more:+.1f} us", f"{more / ALLOWED:.0%}")
        await http.close()
    console.print(table)


def compare(console: Console) -> None:
    """Print what both sides cost, for each of the actions."""
    asyncio.run(_compare(console))
