"""What comes from outside: requests to webhooks, and events."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from detent.commands.context import encoder
from detent.errors import InvalidInput, NotFound, NotStartable, Problem, TooLarge
from detent.forms.triggers import event_type_problem
from detent.ids import EVENT, show
from detent.settings import DEFAULT_TENANT
from detent.store.trigger_rows import FiringRow, FiringState, TriggerRow
from detent.triggers import record
from detent.triggers.firing import FiringCommands
from detent.triggers.record import Event, FiringPayload, FiringReason, reason
from detent.triggers.signatures import SignatureRefused, request_id, signature_secrets, verify
from detent.values.limits import INPUT_LIMIT

_LONGEST_ID: Final = 255
_WEBHOOK: Final = "webhook"
#: What a sender that follows no other rule may name a request by.
_USUAL_IDS: Final = ("webhook-id", "idempotency-key")
FORGED: Final = "bad_signature"


class Sent(NamedTuple):
    """An event that was taken, and the firings it made, or made before."""

    id: str
    type: str
    firings: list[FiringRow]


class ReceivingCommands(FiringCommands):
    """What is answered with a firing is durable."""

    async def webhook(self, trigger: str, *, tenant: int = DEFAULT_TENANT) -> TriggerRow:
        """The webhook trigger of that id, or NotFound."""
        row = await self.trigger(trigger, tenant=tenant)
        if row.kind != _WEBHOOK:
            raise NotFound(f"there is no webhook {trigger[:80]!r}")
        return row

    async def webhook_of(self, workflow: str, *, tenant: int = DEFAULT_TENANT) -> TriggerRow | None:
        """The webhook trigger of a workflow: that of its definition, else the oldest one; null if it has none."""
        row = await self._commands.workflow(workflow, tenant=tenant)
        found = await self._store.triggers(tenant, limit=100, workflow=row.id, kind=_WEBHOOK)
        return min(found, key=lambda one: (not one.owned, one.id), default=None)

    async def receive_webhook(
        self, trigger: TriggerRow, request: FiringPayload, *, may_keep_forged: Callable[[], bool] = lambda: True
    ) -> FiringRow:
        """Take a request to a webhook. The same request again gives the firing it made first.

        One whose signature is not good is kept as refused, if it may be: the caller counts them. Nothing that is
        refused here uses up the request's id, so the same request may be accepted later."""
        config = json.loads(trigger.config)
        known_as, refused = self._verified(config, request)
        if refused is not None:
            if not may_keep_forged():
                return self._unkept(trigger, request, refused)
            return await self._refuse(trigger, record.forged(request), refused)
        if not trigger.enabled:
            return await self._refuse(trigger, request, reason(NotStartable.code, "the trigger is paused"))
        if not trigger.workflow_enabled:
            message = f"Workflow is disabled: {trigger.workflow_name}"
            return await self._refuse(trigger, request, reason(NotStartable.code, message))
        new = self._new(trigger, _WEBHOOK, request)._replace(dedup=known_as)
        [firing] = await self._keep([new])
        return await self._settle(firing)

    async def send_event(self, type_: str, data: Any, id_: str | None = None, *, tenant: int = DEFAULT_TENANT) -> Sent:
        """Fire every event trigger that listens to that type. The same id again fires none of them again."""
        self._check_event(type_, data, id_)
        known_as = show(EVENT, self._new_id()) if id_ is None else id_
        listeners = await self._store.listeners(tenant, listened(type_))
        request = FiringPayload(body=data, event=Event(known_as, type_))
        new = [self._new(trigger, "event", request)._replace(dedup=known_as) for trigger in listeners]
        firings = await self._keep(new) if new else []
        return Sent(known_as, type_, await self._settle_all(firings))

    def _verified(self, config: dict[str, Any], request: FiringPayload) -> tuple[str | None, FiringReason | None]:
        """What the request is known by, or why it is not to be believed."""
        known_as = request_id(request.headers, config.get("dedup_header"))
        if "signature" in config:
            secrets = signature_secrets(config["signature"], os.environ)
            answer = verify(config["signature"], secrets, request.headers, request.raw or b"", self._now())
            if isinstance(answer, SignatureRefused):
                return None, reason(FORGED, answer.reason)
            known_as = known_as or answer.request_id
        if config.get("dedup_header") is None:
            known_as = known_as or next(filter(None, (request_id(request.headers, name) for name in _USUAL_IDS)), None)
        return known_as, None

    async def _refuse(self, trigger: TriggerRow, request: FiringPayload, why: FiringReason) -> FiringRow:
        new = self._new(trigger, _WEBHOOK, request)
        [firing] = await self._keep([new._replace(state=FiringState.REFUSED, message=record.encode_reason(why))])
        return firing

    def _unkept(self, trigger: TriggerRow, request: FiringPayload, why: FiringReason) -> FiringRow:
        """What would have been kept."""
        new = self._new(trigger, _WEBHOOK, request)._replace(
            state=FiringState.REFUSED, message=record.encode_reason(why)
        )
        return FiringRow(**new._asdict(), at=self._now(), until=None, run=None)

    def _check_event(self, type_: str, data: Any, id_: str | None) -> None:
        problems = []
        if wrong := event_type_problem(type_):
            problems.append(Problem("type", wrong))
        if id_ is not None and not (0 < len(id_) <= _LONGEST_ID and id_.isprintable()):
            problems.append(Problem("id", f"has 1 to {_LONGEST_ID} characters that can be seen"))
        if problems:
            raise InvalidInput("the event cannot be sent", problems)
        if len(encoder.encode(data)) > INPUT_LIMIT:
            raise TooLarge(f"the data of an event may have {INPUT_LIMIT} bytes")


def listened(event_type: str) -> list[str]:
    """Everything a trigger may name to hear of an event: its type, its prefixes, and all."""
    parts = event_type.split(".")
    prefixes = [".".join(parts[:count]) + ".*" for count in range(len(parts) - 1, 0, -1)]
    return [event_type, *prefixes, "*"]
