"""The receiver of webhooks and events."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from detent.auth.caller import Caller
from detent.blobs.library import BlobUpload
from detent.commands.context import encoder
from detent.errors import Conflict, InvalidInput, NotFound, NotStartable, Problem, TooLarge, Unauthenticated
from detent.forms.triggers import event_type_problem
from detent.ids import EVENT, show
from detent.instant import Instant
from detent.store.trigger_rows import FiringRow, FiringState, TriggerRow
from detent.triggers import record
from detent.triggers.context import TriggerContext, TriggerPart
from detent.triggers.editor import TriggerEditor
from detent.triggers.firing import FiringIntake
from detent.triggers.record import Event, FiringPayload, FiringReason, reason
from detent.triggers.signatures import (
    WRONG,
    SignatureRefused,
    StreamedBody,
    request_id,
    signature_secrets,
    stored_secrets,
    verify,
)
from detent.values.blob import Blob
from detent.values.http_body import refuse_coding
from detent.values.limits import ID_LIMIT, INPUT_LIMIT
from detent.vault.secrets import SecretUnavailable

_WEBHOOK: Final = "webhook"
#: The headers that identify a request if its trigger names no header.
_USUAL_IDS: Final = ("webhook-id", "idempotency-key")
FORGED: Final = "bad_signature"


class Sent(NamedTuple):
    """An event that was accepted, and its firings, created now or before."""

    id: str
    type: str
    firings: list[FiringRow]


class ReceivedBlob:
    """A large body of a webhook, while it arrives: its upload, and the digests that its signature is checked with.

    `check` returns the id of the request, or why its signature is refused."""

    def __init__(
        self, upload: BlobUpload, body: StreamedBody, check: Callable[[], tuple[str | None, FiringReason | None]]
    ) -> None:
        self._upload, self._body, self._check = upload, body, check
        self.known_as: str | None = None

    async def write(self, data: bytes) -> None:
        self._body.update(data)
        await self._upload.write(data)

    async def finish(self) -> Blob:
        """Return the blob. Raise Unauthenticated if its signature is refused: then nothing stays stored."""
        self.known_as, refused = self._check()
        if refused is not None:
            raise Unauthenticated(refused.message)
        return await self._upload.finish()

    async def abort(self) -> None:
        await self._upload.abort()


class ReceiverCommands(TriggerPart):
    """Requests to webhooks, and events. A request that is answered with a firing is durable."""

    def __init__(self, context: TriggerContext, caller: Caller, editor: TriggerEditor, intake: FiringIntake) -> None:
        super().__init__(context, caller)
        self._editor = editor
        self._intake = intake

    async def webhook(self, trigger: str) -> TriggerRow:
        """Return the webhook trigger of that id, or raise NotFound."""
        row = await self._editor.get(trigger)
        if row.kind != _WEBHOOK:
            raise NotFound(f"there is no webhook {trigger[:80]!r}")
        return row

    async def webhook_of(self, workflow: str) -> TriggerRow | None:
        """Return the webhook trigger of a workflow: that of its definition, else the oldest one, else `None`."""
        row = await self._context.commands.for_caller(self._caller).workflows.get(workflow)
        found = await self._store.triggers(self._tenant, limit=100, workflow=row.id, kind=_WEBHOOK)
        return min(found, key=lambda one: (not one.owned, one.created_at, one.id), default=None)

    async def receive_webhook(
        self,
        trigger: TriggerRow,
        request: FiringPayload,
        *,
        count_forged: Callable[[], None] = lambda: None,
        blob: ReceivedBlob | None = None,
    ) -> FiringRow:
        """Receive a request to a webhook. For a repeated request, return its first firing.

        A request with an invalid signature is stored as refused. `count_forged` is called first and may raise. A
        refused request does not use up its id, so the same request may be accepted later. `blob` is its body if that
        became one; its signature was checked."""
        if blob is None:
            config = json.loads(trigger.config)
            known_as, refused = self._verified(
                config, request, request.raw or b"", await self._stored(config), self._now()
            )
        else:
            known_as, refused = blob.known_as, None
        if refused is not None:
            count_forged()
            return await self._refuse(trigger, record.forged(request), refused)
        if not trigger.enabled:
            return await self._refuse(trigger, request, reason(NotStartable.code, "the trigger is paused"))
        if not trigger.workflow_enabled:
            message = f"Workflow is disabled: {trigger.workflow_name}"
            return await self._refuse(trigger, request, reason(NotStartable.code, message))
        new = self._intake.new(trigger, _WEBHOOK, request)._replace(dedup=known_as)
        [firing] = await self._intake.store([new])
        return await self._intake.settle(firing)

    async def begin_blob(self, trigger: TriggerRow, request: FiringPayload) -> ReceivedBlob:
        """Begin to receive a body that is too large for the journal. Raise Conflict if the trigger takes no requests
        now, and Unauthenticated if the headers have no valid signature, before anything is stored."""
        if not trigger.enabled or not trigger.workflow_enabled:
            raise Conflict("the trigger is paused, or its workflow is disabled; it takes no large body now")
        refuse_coding(request.headers)
        config, body, now = json.loads(trigger.config), StreamedBody(), self._now()
        stored = await self._stored(config)

        def check() -> tuple[str | None, FiringReason | None]:
            return self._verified(config, request, body, stored, now)

        refused = check()[1]
        if refused is not None and refused.message != WRONG:
            raise Unauthenticated(refused.message)
        upload = await self._context.commands.blobs.begin(trigger.tenant, request.headers.get("content-type"))
        return ReceivedBlob(upload, body, check)

    async def send_event(self, type_: str, data: Any, id_: str | None = None) -> Sent:
        """Fire every event trigger that listens to that type. A repeated id fires none of them again."""
        _check_event(type_, data, id_)
        known_as = show(EVENT, self._context.new_id()) if id_ is None else id_
        listeners = await self._store.listeners(self._tenant, listened(type_))
        request = FiringPayload(body=data, event=Event(known_as, type_))
        new = [self._intake.new(trigger, "event", request)._replace(dedup=known_as) for trigger in listeners]
        firings = await self._intake.store(new) if new else []
        return Sent(known_as, type_, await self._intake.settle_all(firings))

    async def _stored(self, config: dict[str, Any]) -> dict[str, str]:
        """Return the stored secrets that a signature is checked with. One that cannot be opened is left out."""
        names = stored_secrets(config["signature"]) if "signature" in config else ()
        found: dict[str, str] = {}
        for name in names:
            with suppress(SecretUnavailable):
                found[name] = (await self._context.commands.secrets.open(self._tenant, [name]))[name].value
        return found

    def _verified(
        self,
        config: dict[str, Any],
        request: FiringPayload,
        body: bytes | StreamedBody,
        stored: Mapping[str, str],
        now: Instant,
    ) -> tuple[str | None, FiringReason | None]:
        """Return the id of a request, or why its signature is refused."""
        known_as = request_id(request.headers, config.get("dedup_header"))
        if "signature" in config:
            secrets = signature_secrets(config["signature"], os.environ, stored)
            answer = verify(config["signature"], secrets, request.headers, body, now)
            if isinstance(answer, SignatureRefused):
                return None, reason(FORGED, answer.reason)
            known_as = known_as or answer.request_id
        if config.get("dedup_header") is None:
            known_as = known_as or next(filter(None, (request_id(request.headers, name) for name in _USUAL_IDS)), None)
        return known_as, None

    async def _refuse(self, trigger: TriggerRow, request: FiringPayload, why: FiringReason) -> FiringRow:
        new = self._intake.new(trigger, _WEBHOOK, request)
        refused = new._replace(state=FiringState.REFUSED, message=record.encode_reason(why))
        [firing] = await self._intake.store([refused])
        return firing


def _check_event(type_: str, data: Any, id_: str | None) -> None:
    problems = []
    if wrong := event_type_problem(type_):
        problems.append(Problem("type", wrong))
    if id_ is not None and not (0 < len(id_) <= ID_LIMIT and id_.isprintable()):
        problems.append(Problem("id", f"must have 1 to {ID_LIMIT} printable characters"))
    if problems:
        raise InvalidInput("the event cannot be sent", problems)
    if len(encoder.encode(data)) > INPUT_LIMIT:
        raise TooLarge(f"the data of an event may have {INPUT_LIMIT} bytes")


def listened(event_type: str) -> list[str]:
    """Return every key with which a trigger receives this event: its type, its prefixes, and `*`."""
    parts = event_type.split(".")
    prefixes = [".".join(parts[:count]) + ".*" for count in range(len(parts) - 1, 0, -1)]
    return [event_type, *prefixes, "*"]
