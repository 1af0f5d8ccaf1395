"""Create, change and read triggers. The documents of requests are read strictly, with names of older clients."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from detent.commands.vault.signatures import Signatures
from detent.errors import Conflict, InvalidDefinition, InvalidInput, NotFound, PreconditionFailed, Problem
from detent.forms.compiled import TriggerDefinition, TriggerType
from detent.forms.schedule import CRON_FIELDS, next_slots
from detent.forms.triggers import read_trigger_config
from detent.ids import TRIGGER, InvalidId, parse, show
from detent.instant import Instant, iso
from detent.store.audit import note_audit
from detent.store.rows import WorkflowRow
from detent.store.trigger_rows import NewTrigger, TriggerRow
from detent.triggers.context import TriggerPart
from detent.triggers.view import unhide
from detent.values.fields import Fields, Problems

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
_CONFIG: Final = (*CRON_FIELDS, "signature", "dedup_header", "respond", "wait", "event")
_SETTLED: Final = ("workflow", "type")
_OWN: Final = ("name", "enabled", "condition", "note", "config")
#: Read-only fields of the document, which a client may send back.
_SHOWN: Final = ("id", "owned_by", "url", "next_at", "last_fired_at", "inserted_at", "updated_at")


class TriggerInput(NamedTuple):
    """A trigger as requested."""

    trigger: TriggerDefinition
    name: str | None
    enabled: bool
    note: str | None


class Before(NamedTuple):
    """A trigger as stored."""

    kind: str
    config: dict[str, Any]
    condition: str | None
    name: str | None
    enabled: bool
    note: str | None


def plain_fields(document: object) -> dict[str, Any]:
    """Return the fields of a request under our names."""
    if not isinstance(document, Mapping):
        raise InvalidInput("a trigger is sent as a JSON object")
    fields: dict[str, Any] = {}
    for name, value in document.items():
        own = _ALIASES.get(str(name), str(name))
        # A document has both the id and the name of its workflow; either is enough.
        if own not in fields or name == own:
            fields[own] = value
    return fields


def read_new(fields: Mapping[str, Any]) -> TriggerInput:
    """Read a new trigger. Raise InvalidDefinition with every problem of it."""
    nothing = Before("", {}, None, None, True, None)
    if not isinstance(fields.get("workflow"), str):
        raise InvalidDefinition("trigger validation failed", [Problem("workflow", "is missing: its id or its name")])
    return _read(fields, nothing, fields.get("type"))


def read_change(fields: Mapping[str, Any], before: Before) -> TriggerInput:
    """Read a change: the fields that were sent, and the stored ones for the rest."""
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
    """Read the note of a pause."""
    if not isinstance(document, Mapping):
        raise InvalidInput("a pause is sent as a JSON object")
    problems = Problems()
    fields = Fields(document, "", problems)
    fields.refuse_unknown(("note",))
    note = fields.text("note", most=_LONGEST_NOTE, lines=True)
    if problems.found:
        raise InvalidInput("the note is invalid", problems.found)
    return note


def _config(own: Fields, before: Before) -> tuple[dict[str, Any], str]:
    """Return the config that was sent, as a block or beside the other fields; else the stored one."""
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
#: How often a change is tried again because another caller changed the trigger at the same moment.
_ATTEMPTS: Final = 5

#: How many triggers of a workflow are looked at for a name.
_MOST_OF_WORKFLOW: Final = 1_000
#: How often a trigger of one name can be deleted and applied again.
_MOST_GENERATIONS: Final = 100

Change = Callable[[TriggerRow], NewTrigger]


class TriggerChange(StrEnum):
    """What an apply did to a trigger."""

    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


class TriggerEditor(TriggerPart):
    """Creates, changes and reads triggers. Nothing here fires anything."""

    async def get(self, trigger: str) -> TriggerRow:
        """Return a trigger by its id, or raise NotFound."""
        try:
            row = await self._store.trigger(self._tenant, parse(TRIGGER, trigger))
        except InvalidId:
            row = None
        if row is None:
            raise NotFound(f"there is no trigger {trigger[:80]!r}")
        return row

    async def find(
        self,
        *,
        limit: int,
        after: bytes | None = None,
        workflow: str | None = None,
        kind: str | None = None,
        enabled: bool | None = None,
    ) -> list[TriggerRow]:
        """Return triggers in the order they were created, after the trigger `after`."""
        of = None if workflow is None else (await self._workflow(workflow)).id
        return await self._store.triggers(
            self._tenant, limit=limit, after=after, workflow=of, kind=kind, enabled=enabled
        )

    async def create(self, document: object) -> TriggerRow:
        """Create a trigger from a document. Raise InvalidDefinition with every problem of it."""
        fields = plain_fields(document)
        written = read_new(fields)
        workflow = await self._context.commands.for_caller(self._caller).workflows.get_or_adopt(fields["workflow"])
        new = await self._sealed(self._new_row(self._context.new_id(), workflow, written))
        note_audit(show(TRIGGER, new.id), workflow=workflow.name)
        if not await self._store.add_trigger(new):
            raise NotFound(f"there is no workflow {workflow.name!r}")
        return await self.get(show(TRIGGER, new.id))

    async def apply(self, document: object) -> tuple[TriggerChange, TriggerRow]:
        """Create the trigger that a document names, or change it to what the document says, and return what was done.

        A workflow has one trigger of a name. What the document leaves out has its default; only `enabled` and `note`
        stay as they are, because a person may have paused the trigger. Raise Conflict if several have that name, or if
        it is part of a definition."""
        fields = plain_fields(document)
        written = read_new(fields)
        if not written.name or not written.name.strip():
            raise InvalidDefinition("trigger validation failed", [Problem("name", "is missing: it names the trigger")])
        workflow = await self._context.commands.for_caller(self._caller).workflows.get_or_adopt(fields["workflow"])
        found = await self._named(workflow, written.name)
        if found is None:
            made = await self._add_named(workflow, written)
            if made is not None:
                return TriggerChange.CREATED, made
            found = await self._named(workflow, written.name)  # another caller was first
        if found is None:
            raise Conflict("other callers are changing the trigger; try again")
        _refuse_owned(found, "changed")
        if found.kind != written.trigger.type:
            message = f"the trigger {written.name!r} is {found.kind} and cannot become {written.trigger.type}"
            raise Conflict(f"{message}; delete {show(TRIGGER, found.id)} first, or give this one another name")

        def change(row: TriggerRow) -> NewTrigger:
            kept = {name: getattr(row, name) for name in ("enabled", "note") if name not in fields}
            config = {"config": {name: fields[name] for name in _CONFIG if name in fields}, **fields}
            whole = {key: value for key, value in config.items() if key not in _CONFIG}
            return self._changed(row, read_change({"condition": None, **whole, **kept}, _before(row)))

        changed = await self._change(show(TRIGGER, found.id), change)
        is_same = changed.updated_at == found.updated_at
        return TriggerChange.UNCHANGED if is_same else TriggerChange.CHANGED, changed

    async def _named(self, workflow: WorkflowRow, name: str) -> TriggerRow | None:
        """Return the trigger of a workflow by its name, or None. Raise Conflict if there are several."""
        rows = await self._store.triggers(self._tenant, limit=_MOST_OF_WORKFLOW, workflow=workflow.id)
        found = [row for row in rows if row.name == name]
        if len(found) > 1:
            ids = ", ".join(show(TRIGGER, row.id) for row in found[:5])
            message = f"workflow {workflow.name!r} has {len(found)} triggers named {name!r} ({ids})"
            raise Conflict(f"{message}; delete all but one")
        return found[0] if found else None

    async def _add_named(self, workflow: WorkflowRow, written: TriggerInput) -> TriggerRow | None:
        """Add a trigger under an id that follows from its name, so that of two callers one adds it. Return None if the
        other did. The id of a trigger that was deleted is not used again."""
        for number in range(_MOST_GENERATIONS):
            id_ = _id_of(self._tenant, workflow.id, written.name or "", number)
            new = await self._sealed(self._new_row(id_, workflow, written))
            if await self._store.trigger(self._tenant, id_) is not None:
                return None
            note_audit(show(TRIGGER, id_), workflow=workflow.name)
            if not await self._store.add_trigger(new):
                raise NotFound(f"there is no workflow {workflow.name!r}")
            row = await self._store.trigger(self._tenant, id_)
            if row is not None:
                return row if _new(row) == new else None
        raise Conflict(f"a trigger named {written.name!r} was deleted too often; give it another name")

    async def update(self, trigger: str, document: object) -> TriggerRow:
        """Change the fields in a document and leave the others.

        With `updated_at`, raise PreconditionFailed if it has changed."""
        fields = plain_fields(document)
        workflow = fields.get("workflow")
        of = None if workflow is None else (await self._workflow(str(workflow))).id

        def change(row: TriggerRow) -> NewTrigger:
            _refuse_owned(row, "changed")
            if fields.get("updated_at") not in (None, iso(row.updated_at)):
                raise PreconditionFailed("another caller has changed the trigger; read it again")
            if of is not None and of != row.workflow:
                message = "cannot be changed; make a new trigger"
                raise InvalidDefinition("trigger validation failed", [Problem("workflow", message)])
            return self._changed(row, read_change(fields, _before(row)))

        return await self._change(trigger, change)

    async def pause(self, trigger: str, document: object) -> TriggerRow:
        """Stop a trigger from firing until it is resumed. Existing firings continue."""
        note = read_note(document)
        return await self._change(trigger, lambda row: _new(row)._replace(enabled=False, next_at=None, note=note))

    async def resume(self, trigger: str) -> TriggerRow:
        """Let a trigger fire again, from now on. Slots that passed meanwhile do not fire."""

        def change(row: TriggerRow) -> NewTrigger:
            if row.enabled:
                return _new(row)
            return _new(row)._replace(enabled=True, next_at=self._next(trigger_of(row)), note=None)

        return await self._change(trigger, change)

    async def delete(self, trigger: str) -> TriggerRow:
        """Delete a trigger and return its last row. The runs it started continue."""
        row = await self.get(trigger)
        _refuse_owned(row, "deleted")
        if not await self._store.drop_trigger(self._tenant, row.id):
            raise NotFound(f"there is no trigger {trigger[:80]!r}")
        return row

    async def coming(self, trigger: str, count: int) -> list[Instant]:
        """Return the next slots of a cron trigger, paused or not."""
        row = await self.get(trigger)
        return next_slots(*schedule_of(row), self._now(), count)

    def preview(self, cron_expression: str | None, timezone: str | None, count: int) -> list[Instant]:
        """Return the next slots that a schedule would have."""
        config = {"cron_expression": cron_expression, "timezone": timezone}
        trigger = read_trigger_config(TriggerType.CRON.value, config)
        return next_slots(trigger.cron or "", trigger.timezone, self._now(), count)

    async def _workflow(self, key: str) -> WorkflowRow:
        return await self._context.commands.for_caller(self._caller).workflows.get(key)

    async def _change(self, trigger: str, change: Change) -> TriggerRow:
        for _ in range(_ATTEMPTS):
            row = await self.get(trigger)
            changed = await self._sealed(change(row))
            if changed == _new(row):
                return row
            if await self._store.change_trigger(changed, seen=row.updated_at):
                return await self.get(trigger)
        raise Conflict("other callers are changing the trigger; try again")

    def _new_row(self, id_: bytes, workflow: WorkflowRow, written: TriggerInput) -> NewTrigger:
        return NewTrigger(
            id=id_,
            tenant=self._tenant,
            workflow=workflow.id,
            kind=str(written.trigger.type),
            owned=False,
            **_columns(written, self._next(written.trigger) if written.enabled else None),
        )

    async def _sealed(self, new: NewTrigger) -> NewTrigger:
        """Return a trigger whose signature secrets are stored secrets."""
        signatures = Signatures(self._context.store, self._context.commands.secrets, self._caller)
        config = json.loads(new.config)
        sealed = await signatures.seal_config(config)
        return new if sealed == config else new._replace(config=json.dumps(sealed))

    def _changed(self, row: TriggerRow, written: TriggerInput) -> NewTrigger:
        before = trigger_of(row)
        # A slot that is due and not taken yet is lost only if the schedule changes.
        stays = row.enabled and written.enabled and before.config == written.trigger.config
        next_at = row.next_at if stays else self._next(written.trigger) if written.enabled else None
        return _new(row)._replace(**_columns(written, next_at))

    def _next(self, trigger: TriggerDefinition) -> Instant | None:
        if trigger.cron is None:
            return None
        return next(iter(next_slots(trigger.cron, trigger.timezone, self._now())), None)


def _refuse_owned(row: TriggerRow, wish: str) -> None:
    """Raise Conflict for a trigger of a definition, which changes with the definition."""
    if row.owned:
        raise Conflict(
            f"the trigger is part of the definition of {row.workflow_name!r} and cannot be {wish} here; edit the "
            "definition, or pause the trigger"
        )


def trigger_of(row: TriggerRow) -> TriggerDefinition:
    """Build the trigger that a row stores."""
    return TriggerDefinition(TriggerType(row.kind), json.loads(row.config), row.condition)


def schedule_of(row: TriggerRow) -> tuple[str, str]:
    """Return cron expression and time zone of a trigger. Raise InvalidInput if it has none."""
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


def _id_of(tenant: int, workflow: bytes, name: str, number: int) -> bytes:
    """Return the id of a named trigger. It begins like that of its workflow, so that lists stay in order."""
    digest = hashlib.sha256(b"%d\x00%b\x00%d\x00%b" % (tenant, workflow, number, name.encode())).digest()
    return workflow[:6] + digest[:10]


def _new(row: TriggerRow) -> NewTrigger:
    return NewTrigger(*(getattr(row, name) for name in NewTrigger._fields))


def _before(row: TriggerRow) -> Before:
    return Before(row.kind, json.loads(row.config), row.condition, row.name, row.enabled, row.note)
