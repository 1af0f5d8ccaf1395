"""Callbacks: the answers that wait steps receive from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from detent.auth.caller import Caller
from detent.blobs.library import BlobUpload
from detent.commands.approvals.answers import AskAnswers, CallbackAnswer
from detent.commands.context import CommandContext, CommandPart, encoder
from detent.commands.runs import RunCommands
from detent.errors import NotFound, TooLarge
from detent.graph.ask import WaitAsk, read_decisions
from detent.ids import RUN, show
from detent.observe.failpoints import reach
from detent.run.call import Op
from detent.store.rows import CallbackState, Delivery, Receipt
from detent.store.tenants import Owned
from detent.values.blob import MARK, named_blobs
from detent.values.http_body import SECRET_HEADERS
from detent.values.limits import INPUT_LIMIT
from detent.values.nearest import nearest

#: A stored callback has its body, as base64 if it is not text, and its headers.
LARGEST_MESSAGE: Final = INPUT_LIMIT * 4 // 3 + 48 * 1024


class CallbackView(NamedTuple):
    """A callback as its page shows it. `state`: pending, active, received or expired. `ask` is `None` if it accepts
    any body. `decisions`: how many people have approved already."""

    run: str
    workflow: str
    step: str
    state: str
    until: int | None
    ask: WaitAsk | None = None
    decisions: int = 0


class DeliveryResult(NamedTuple):
    """The result of a delivery. `is_repeated`: the same message was received before. `step` is empty for a token that
    this instance did not make."""

    receipt: Receipt
    is_repeated: bool
    step: str


_OVER: Final = {CallbackState.RECEIVED: Receipt.USED, CallbackState.EXPIRED: Receipt.EXPIRED}


class CallbackCommands(CommandPart):
    """Commands for callbacks. An accepted callback is durable and is consumed exactly once. Its token is the
    permission, or the caller is."""

    def __init__(self, context: CommandContext, caller: Caller, runs: RunCommands) -> None:
        super().__init__(context, caller)
        self._runs = runs

    async def deliver(
        self,
        token: str,
        *,
        body: Any,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        message_id: str | None,
        encoding: str | None = None,
    ) -> DeliveryResult:
        """Receive a callback. `encoding` is the encoding of a body that is neither JSON nor text."""
        key = self._engine.tokens.read(token)
        if key is None:
            return DeliveryResult(Receipt.NOT_FOUND, False, "")
        return await self._deliver(CallbackAnswer(*key, body, message_id, None, headers, query, encoding))

    async def begin_blob(self, token: str, type_: str | None, message_id: str | None) -> BlobUpload | DeliveryResult:
        """Begin to receive the large body of a callback. Return the result if the callback cannot be accepted, so
        that only a sender that has an open callback can store anything. A repeated message is received again: only
        `deliver` knows whether it is one. Raise TooLarge if the wait compares its answer with a schema: a blob is not
        read."""
        key = self._engine.tokens.read(token)
        view = None if key is None else await self.view(token)
        if key is None or view is None:
            return DeliveryResult(Receipt.NOT_FOUND, False, "")
        receipt = _OVER.get(CallbackState(view.state))
        if receipt is not None and message_id is None:
            return DeliveryResult(receipt, False, key[1])
        if view.ask is not None and (view.ask.is_approval or view.ask.schema is not None):
            raise TooLarge(
                f"this wait checks its answer, which may have {INPUT_LIMIT} bytes; send a smaller one, the wait goes on"
            )
        tenant = await self._context.store.tenant_of(Owned.RUN, key[0])
        if tenant is None:
            return DeliveryResult(Receipt.NOT_FOUND, False, "")
        return await self._context.blobs.begin(tenant, type_)

    async def answer(
        self,
        run: str,
        step: str,
        *,
        body: Any,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        message_id: str | None,
        encoding: str | None = None,
    ) -> DeliveryResult:
        """Receive the callback of a wait by its run and step, as `deliver` does by its token. `step` may be the name of
        a wait of a durable function. Raise NotFound if the run has no such wait."""
        row = await self._runs.row(run)
        known = {callback.step for callback in await self._store.callbacks(self._tenant, row.id)}
        names = [name for name in (step, f"{Op.WAIT}:{step}") if name in known]
        if not names:
            near = nearest(step, sorted(known))
            hint = f"; did you mean {near!r}?" if near else ""
            raise NotFound(f"the run has no wait {step[:80]!r}{hint}")
        answer = CallbackAnswer(row.id, names[0], body, message_id, self._caller, headers, query, encoding)
        return await self._deliver(answer)

    async def _deliver(self, answer: CallbackAnswer) -> DeliveryResult:
        run, step, body, message_id = answer[:4]
        data = _message(body, answer.headers, answer.query, answer.encoding)
        if MARK in data and (named := named_blobs(data)):
            tenant = await self._context.store.tenant_of(Owned.RUN, run)
            if tenant is not None:
                await self._context.store.use_blobs(tenant, [(run, one) for one in named])
        redactors = self._engine.secrets.redactors
        if redactors and (tenant := await self._context.store.tenant_of_run(run)) in redactors:
            data = redactors[tenant].json(data)
        receipt, is_repeated = await self._context.deliveries.deliver(Delivery(run, step, data, message_id))
        if receipt is Receipt.ASKS:
            receipt, is_repeated = await AskAnswers(self._context).answer(answer, _message)
        reach("after_delivery")
        self._context.nudge()
        return DeliveryResult(receipt, is_repeated, step)

    async def view(self, token: str) -> CallbackView | None:
        """Return what the page of a callback shows; `None` for a token that this instance did not make."""
        key = self._engine.tokens.read(token)
        if key is None:
            return None
        run, step = key
        # The token is the permission, and its run finds the tenant.
        tenant = await self._context.store.tenant_of(Owned.RUN, run)
        if tenant is None:
            return None
        store = self._context.store.for_tenant(tenant)
        callback = next((row for row in await store.callbacks(tenant, run) if row.step == step), None)
        row = None if callback is None else await store.run(tenant, run)
        if callback is None or row is None:
            return None
        ask = None
        if callback.ask is not None and (facts := await store.callback(run, step)) is not None:
            ask = await AskAnswers(self._context).ask_of(run, step, facts)
        decisions = len(read_decisions(callback.decisions))
        until = callback.until
        return CallbackView(show(RUN, run), row.workflow_name, step, callback.state, until, ask, decisions)


def _message(body: Any, headers: Mapping[str, str], query: Mapping[str, str], encoding: str | None) -> bytes:
    """Encode a callback as it is stored, without credentials. Raise TooLarge."""
    kept = {name.lower(): value for name, value in headers.items() if name.lower() not in SECRET_HEADERS}
    facts = {"body": body, "headers": kept, "query": dict(query)}
    data = encoder.encode(facts | {"encoding": encoding} if encoding else facts)
    if len(data) > LARGEST_MESSAGE:
        raise TooLarge(f"a callback may have {INPUT_LIMIT} bytes; this one takes {len(data)} bytes to store")
    return data
