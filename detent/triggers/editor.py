"""Making, changing and looking at triggers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from detent.errors import Conflict, InvalidDefinition, InvalidInput, NotFound, PreconditionFailed, Problem
from detent.forms.compiled import TriggerDefinition, TriggerType
from detent.forms.schedule import CRON_FIELDS, next_slots
from detent.forms.triggers import read_trigger_config
from detent.ids import TRIGGER, show
from detent.instant import Instant, iso
from detent.settings import DEFAULT_TENANT
from detent.store.trigger_rows import NewTrigger, TriggerRow
from detent.triggers.context import ATTEMPTS, TriggerContext, refuse_owned
from detent.triggers.view import unhide
from detent.values.fields import Fields, Problems

# What people send to make or change a trigger, read strictly; names of older clients are translated.


_LONGEST_NAME: Final = 200
_LONGEST_NOTE: Final = 1_000
_ALIASES: Final = {
    "workflowId": "workflow",
    "workflow_id": "workflow",
    "triggerType": "type",
    "trigger_type": "type",
    "isEnabled": "enabled",
    "is_enabled": "enabled",
    "configJson": "config",
    "config_json": "config",
    "activationCondition": "condition",
    "activation_condition": "condition",
}
_CONFIG: Final = (*CRON_FIELDS, "signature", "dedup_header", "event")
_SETTLED: Final = ("workflow", "type")
_OWN: Final = ("name", "enabled", "condition", "note", "config")
#: Stand in the document, and may be sent back with it.
_SHOWN: Final = ("id", "owned_by", "url", "next_at", "last_fired_at", "inserted_at", "updated_at")


class TriggerInput(NamedTuple):
    """A trigger as it is to be."""

    trigger: TriggerDefinition
    name: str | None
    enabled: bool
    note: str | None


class Before(NamedTuple):
    """A trigger as it is."""

    kind: str
    config: dict[str, Any]
    condition: str | None
    name: str | None
    enabled: bool
    note: str | None


def plain_fields(document: object) -> dict[str, Any]:
    """The fields of what was sent, under the names they have here."""
    if not isinstance(document, Mapping):
        raise InvalidInput("a trigger is sent as a JSON object")
    fields: dict[str, Any] = {}
    for name, value in document.items():
        own = _ALIASES.get(str(name), str(name))
        # A document has both the id and the name of its workflow; either will do.
        if own not in fields or name == own:
            fields[own] = value
    return fields


def read_new(fields: Mapping[str, Any]) -> TriggerInput:
    """A trigger to be made, or InvalidDefinition with everything that is wrong with it."""
    nothing = Before("", {}, None, None, True, None)
    if not isinstance(fields.get("workflow"), str):
        raise InvalidDefinition("trigger validation failed", [Problem("workflow", "is missing: its id or its name")])
    return _read(fields, nothing, fields.get("type"))


def read_change(fields: Mapping[str, Any], before: Before) -> TriggerInput:
    """A trigger as it is to be: what was sent, and for the rest what it was."""
    kind = fields.get("type")
    if kind is not None and (not isinstance(kind, str) or _word(kind) != before.kind):
        message = f"is {before.kind} and cannot be changed; make a new trigger"
        raise InvalidDefinition("trigger validation failed", [Problem("type", message)])
    return _read(fields, before, before.kind)


def _read(fields: Mapping[str, Any], before: Before, kind: object) -> TriggerInput:
    problems = Problems()
    own = Fields(fields, "", problems)
    own.refuse_unknown((*_OWN, *_CONFIG, *_SETTLED, *_SHOWN))
    config, path = _config(own, before)
    condition = fields.get("condition", before.condition)
    trigger = _trigger(kind, config, condition, path, problems)
    name = own.text("name", most=_LONGEST_NAME) if "name" in fields else before.name
    note = own.text("note", most=_LONGEST_NOTE, lines=True) if "note" in fields else before.note
    enabled = own.boolean("enabled", before.enabled)
    if problems.found:
        raise InvalidDefinition("trigger validation failed", problems.found)
    return TriggerInput(trigger, name, enabled, note)


def read_note(document: object) -> str | None:
    """The note of a pause."""
    if not isinstance(document, Mapping):
        raise InvalidInput("a pause is sent as a JSON object")
    problems = Problems()
    fields = Fields(document, "", problems)
    fields.refuse_unknown(("note",))
    note = fields.text("note", most=_LONGEST_NOTE, lines=True)
    if problems.found:
        raise InvalidInput("the note cannot be kept", problems.found)
    return note


def _config(own: Fields, before: Before) -> tuple[dict[str, Any], str]:
    """The config that was sent, as a block or beside the other fields; else the one there was."""
    block, flat = own.mapping("config"), own.written(_CONFIG)
    if block is not None and flat:
        own.problems.add(flat[0], "belongs inside config")
    if block is None and not flat:
        return unhide(before.config, before.config), "config"
    sent = block if block is not None else {name: own.get(name) for name in flat}
    return unhide(sent, before.config), "config" if block is not None else ""


def _trigger(
    kind: object, config: Mapping[str, Any], condition: object, path: str, problems: Problems
) -> TriggerDefinition:
    if "condition" in config:
        problems.add("config.condition", "belongs beside config")
        return TriggerDefinition()
    if isinstance(condition, str) and "\x00" in condition:
        problems.add("condition", "a NUL character is not text")
        return TriggerDefinition()
    try:
        trigger = read_trigger_config(kind, {**config, "condition": condition}, path)
    except InvalidDefinition as error:
        for problem in error.problems:
            beside = problem.field.startswith(("config.condition", "config.type"))
            problems.add(problem.field.removeprefix("config.") if beside else problem.field, problem.message)
        return TriggerDefinition()
    if trigger.type is TriggerType.API:
        problems.add("type", "every workflow can be started through the API; that needs no trigger")
    return trigger


def _word(kind: str) -> str:
    word = kind.lower()
    return "cron" if word == "schedule" else word


MOST_PREVIEWED: Final = 100

Change = Callable[[TriggerRow], NewTrigger]


class KeepingCommands(TriggerContext):
    """Nothing here fires anything."""

    async def create(self, document: object, *, tenant: int = DEFAULT_TENANT) -> TriggerRow:
        """A new trigger, from what was sent; InvalidDefinition with everything that is wrong with it."""
        fields = plain_fields(document)
        written = read_new(fields)
        workflow = await self._commands.workflow(fields["workflow"], tenant=tenant)
        new = NewTrigger(
            id=self._new_id(),
            tenant=tenant,
            workflow=workflow.id,
            kind=str(written.trigger.type),
            owned=False,
            **_columns(written, self._next(written.trigger) if written.enabled else None),
        )
        if not await self._store.add_trigger(new):
            raise NotFound(f"there is no workflow {workflow.name!r}")
        return await self.trigger(show(TRIGGER, new.id), tenant=tenant)

    async def triggers(
        self,
        *,
        limit: int,
        after: bytes | None = None,
        workflow: str | None = None,
        kind: str | None = None,
        enabled: bool | None = None,
        tenant: int = DEFAULT_TENANT,
    ) -> list[TriggerRow]:
        """Triggers in the order they were made, those after one."""
        of = None if workflow is None else (await self._commands.workflow(workflow, tenant=tenant)).id
        return await self._store.triggers(tenant, limit=limit, after=after, workflow=of, kind=kind, enabled=enabled)

    async def update(self, trigger: str, document: object, *, tenant: int = DEFAULT_TENANT) -> TriggerRow:
        """Change what was sent and keep the rest. With `updated_at` it must be the trigger that was read."""
        fields = plain_fields(document)
        workflow = fields.get("workflow")
        of = None if workflow is None else (await self._commands.workflow(str(workflow), tenant=tenant)).id

        def change(row: TriggerRow) -> NewTrigger:
            refuse_owned(row, "changed")
            if fields.get("updated_at") not in (None, iso(row.updated_at)):
                raise PreconditionFailed("the trigger was changed by somebody else; read it again")
            if of is not None and of != row.workflow:
                message = "cannot be changed; make a new trigger"
                raise InvalidDefinition("trigger validation failed", [Problem("workflow", message)])
            return self._changed(row, read_change(fields, _before(row)))

        return await self._change(trigger, change, tenant)

    async def pause(self, trigger: str, document: object, *, tenant: int = DEFAULT_TENANT) -> TriggerRow:
        """Let it fire no more until it is resumed. What has fired already goes on."""
        note = read_note(document)
        return await self._change(
            trigger, lambda row: _new(row)._replace(enabled=False, next_at=None, note=note), tenant
        )

    async def resume(self, trigger: str, *, tenant: int = DEFAULT_TENANT) -> TriggerRow:
        """Let it fire again, from now on: slots that passed meanwhile stay passed."""

        def change(row: TriggerRow) -> NewTrigger:
            if row.enabled:
                return _new(row)
            return _new(row)._replace(enabled=True, next_at=self._next(trigger_of(row)), note=None)

        return await self._change(trigger, change, tenant)

    async def delete(self, trigger: str, *, tenant: int = DEFAULT_TENANT) -> TriggerRow:
        """Put a trigger away; the runs it started go on. Gives what it was."""
        row = await self.trigger(trigger, tenant=tenant)
        refuse_owned(row, "deleted")
        if not await self._store.drop_trigger(tenant, row.id):
            raise NotFound(f"there is no trigger {trigger[:80]!r}")
        return row

    async def coming(self, trigger: str, count: int, *, tenant: int = DEFAULT_TENANT) -> list[Instant]:
        """The next slots of a cron trigger, whether or not it is paused."""
        row = await self.trigger(trigger, tenant=tenant)
        return next_slots(*schedule_of(row), self._now(), count)

    def preview(self, cron_expression: str | None, timezone: str | None, count: int) -> list[Instant]:
        """The next slots that a schedule would have."""
        config = {"cron_expression": cron_expression, "timezone": timezone}
        trigger = read_trigger_config(TriggerType.CRON.value, config)
        return next_slots(trigger.cron or "", trigger.timezone, self._now(), count)

    async def _change(self, trigger: str, change: Change, tenant: int) -> TriggerRow:
        for _ in range(ATTEMPTS):
            row = await self.trigger(trigger, tenant=tenant)
            changed = change(row)
            if changed == _new(row):
                return row
            if await self._store.change_trigger(changed, seen=row.updated_at):
                return await self.trigger(trigger, tenant=tenant)
        raise Conflict("the trigger is being changed by somebody else just now; try again")

    def _changed(self, row: TriggerRow, written: TriggerInput) -> NewTrigger:
        before = trigger_of(row)
        # A slot that is due and not taken yet is lost only by another schedule.
        stays = row.enabled and written.enabled and before.config == written.trigger.config
        next_at = row.next_at if stays else self._next(written.trigger) if written.enabled else None
        return _new(row)._replace(**_columns(written, next_at))

    def _next(self, trigger: TriggerDefinition) -> Instant | None:
        if trigger.cron is None:
            return None
        return next(iter(next_slots(trigger.cron, trigger.timezone, self._now())), None)


def trigger_of(row: TriggerRow) -> TriggerDefinition:
    """The trigger that a row holds."""
    return TriggerDefinition(TriggerType(row.kind), json.loads(row.config), row.condition)


def schedule_of(row: TriggerRow) -> tuple[str, str]:
    """Cron expression and time zone of a trigger; InvalidInput if it has none."""
    trigger = trigger_of(row)
    if trigger.cron is None:
        raise InvalidInput(f"only a cron trigger has a schedule, and this one is {row.kind}")
    return trigger.cron, trigger.timezone


def _columns(written: TriggerInput, next_at: Instant | None) -> Mapping[str, Any]:
    trigger = written.trigger
    return {
        "name": written.name,
        "enabled": written.enabled,
        "config": json.dumps(dict(trigger.config)),
        "condition": trigger.condition,
        "key": trigger.config.get("event"),
        "next_at": next_at,
        "note": written.note,
    }


def _new(row: TriggerRow) -> NewTrigger:
    return NewTrigger(*(getattr(row, name) for name in NewTrigger._fields))


def _before(row: TriggerRow) -> Before:
    return Before(row.kind, json.loads(row.config), row.condition, row.name, row.enabled, row.note)
