"""The statements about triggers and firings."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, bindparam, delete, func, literal_column, or_, select, text, update

from detent.store.sql.compiling import Among, UnlessThere
from detent.store.sql.schema import firing, run, trigger, workflow

#: The words of the partial indexes: said otherwise, they are not used.
_SCHEDULED: Final = text('"trigger".next_at is not null and "trigger".enabled and "trigger".deleted_at is null')
_PENDING: Final = text("firing.state in ('due', 'starting', 'queued')")
_SETTLED: Final = text("firing.state not in ('due', 'starting', 'queued')")
_ONE: Final[ColumnElement[int]] = literal_column("1")

_latest: Final = (
    select(firing.c.at)
    .where(firing.c.tenant == trigger.c.tenant, firing.c.trigger == trigger.c.id)
    .order_by(firing.c.id.desc())
    .limit(_ONE)
    .scalar_subquery()
)
_TRIGGERS: Final = (
    select(
        trigger.c.id, trigger.c.tenant, trigger.c.workflow, workflow.c.name, workflow.c.enabled, trigger.c.kind,
        trigger.c.name, trigger.c.enabled, trigger.c.config, trigger.c.condition, trigger.c.key, trigger.c.next_at,
        trigger.c.owned, trigger.c.note, func.coalesce(_latest, trigger.c.last_at), trigger.c.created_at,
        trigger.c.updated_at,
    )
    .join_from(trigger, workflow, workflow.c.id == trigger.c.workflow)
    .where(trigger.c.deleted_at.is_(None))
)  # fmt: skip
_OF_TENANT: Final = _TRIGGERS.where(trigger.c.tenant == bindparam("tenant"))
TRIGGER: Final = _OF_TENANT.where(trigger.c.id == bindparam("trigger"))
#: Not in order: that would tempt SQLite to walk through every trigger of the tenant.
LISTENERS: Final = _OF_TENANT.where(
    trigger.c.kind == text("'event'"),
    text('"trigger".enabled'),
    trigger.c.key.is_not(None),
    Among(trigger.c.key, "keys", ids=False),
    workflow.c.deleted_at.is_(None),
)
DUE_TRIGGERS: Final = (
    _TRIGGERS.where(_SCHEDULED, trigger.c.next_at <= bindparam("now"))
    .order_by(trigger.c.next_at, trigger.c.id)
    .limit(bindparam("limit"))
)


@lru_cache(maxsize=64)
def triggers(given: frozenset[str]) -> Select[Any]:
    """The triggers of a tenant by id, narrowed by what is given."""
    query = _OF_TENANT
    if "after" in given:
        query = query.where(trigger.c.id > bindparam("after"))
    for name in sorted(given & {"workflow", "kind", "enabled"}):
        query = query.where(trigger.c[name] == bindparam(name))
    return query.order_by(trigger.c.id).limit(bindparam("limit"))


ADD_TRIGGER: Final = UnlessThere(
    text(
        """insert into "trigger" (id, tenant, workflow, kind, name, enabled, config, "condition", "key", next_at, owned,
                                  note, created_at, updated_at)
           values (:id, :tenant, :workflow, :kind, :name, :enabled, :config, :condition, :key, :next_at, :owned, :note,
                   :now, :now)"""
    )
)
_CHANGES: Final[dict[Any, Any]] = {
    trigger.c[name]: bindparam(name) for name in ("name", "enabled", "config", "condition", "key", "next_at", "note")
} | {trigger.c.updated_at: bindparam("now")}
CHANGE_TRIGGER: Final = (
    update(trigger)
    .where(trigger.c.id == bindparam("id"), trigger.c.updated_at == bindparam("seen"), trigger.c.deleted_at.is_(None))
    .values(_CHANGES)
    .returning(trigger.c.id)
)
OWNED_TRIGGER: Final = (
    select(
        trigger.c.id, trigger.c.kind, trigger.c.enabled, trigger.c.config, trigger.c.next_at, trigger.c.note,
        trigger.c.updated_at, trigger.c.tenant,
    )
    .where(trigger.c.workflow == bindparam("workflow"), text('"trigger".owned'), trigger.c.deleted_at.is_(None))
    .with_for_update()
)  # fmt: skip
DROP_TRIGGER: Final = (
    update(trigger)
    .where(trigger.c.id == bindparam("id"), trigger.c.tenant == bindparam("tenant"), trigger.c.deleted_at.is_(None))
    .values({trigger.c.deleted_at: bindparam("now")})
    .returning(trigger.c.id)
)
LOCK_TRIGGER: Final = select(trigger.c.id).where(trigger.c.id == bindparam("trigger")).with_for_update()
MOVE_ON: Final = (
    update(trigger)
    .where(
        trigger.c.id == bindparam("id"), trigger.c.next_at == bindparam("seen"), text("enabled"),
        trigger.c.deleted_at.is_(None),
    )
    .values({trigger.c.next_at: bindparam("next")})
    .returning(trigger.c.id)
)  # fmt: skip

_FIRINGS: Final = select(
    firing.c.id, firing.c.tenant, firing.c.trigger, firing.c.workflow, firing.c.kind, firing.c.state, firing.c.due_at,
    firing.c.slot, firing.c.dedup, firing.c.request, firing.c.replay_of, firing.c.message, firing.c.at, firing.c.until,
    firing.c.run,
)  # fmt: skip
FIRING: Final = _FIRINGS.where(firing.c.id == bindparam("firing"), firing.c.tenant == bindparam("tenant"))
ADD_FIRING: Final = UnlessThere(
    text(
        """insert into firing (id, tenant, "trigger", workflow, kind, state, due_at, slot, dedup, request, replay_of,
                               message, at)
           values (:id, :tenant, :trigger, :workflow, :kind, :state, :due_at, :slot, :dedup, :request, :replay_of,
                   :message, :now)"""
    )
)
SAME_FIRING: Final = (
    _FIRINGS.where(
        or_(
            firing.c.id == bindparam("id"),
            (firing.c.trigger == bindparam("trigger")) & (firing.c.slot == bindparam("slot")),
            (firing.c.trigger == bindparam("trigger")) & (firing.c.dedup == bindparam("dedup")),
        )
    )
    .order_by(firing.c.at, firing.c.id)
    .limit(_ONE)
)
DUE_FIRINGS: Final = (
    _FIRINGS.where(
        _PENDING,
        firing.c.due_at <= bindparam("now"),
        firing.c.until.is_(None) | (firing.c.until <= bindparam("now")) | (firing.c.until > bindparam("farthest")),
    )
    .order_by(firing.c.due_at, firing.c.id)
    .limit(bindparam("limit"))
)


@lru_cache(maxsize=8)
def firings(*, before: bool, state: bool) -> Select[Any]:
    """The newest firings of a trigger."""
    query = _FIRINGS.where(firing.c.tenant == bindparam("tenant"), firing.c.trigger == bindparam("trigger"))
    if before:
        query = query.where(firing.c.id < bindparam("before"))
    if state:
        query = query.where(firing.c.state == bindparam("state"))
    return query.order_by(firing.c.id.desc()).limit(bindparam("limit"))


#: A firing as whoever begins it must see it.
LOCK_FIRING: Final = (
    select(firing.c.trigger, firing.c.state, firing.c.due_at, firing.c.until)
    .where(firing.c.id == bindparam("firing"), _PENDING)
    .with_for_update()
)
OF_FIRING: Final = select(firing.c.trigger).where(firing.c.id == bindparam("firing"))


def _others(state: str) -> Select[Any]:
    """The oldest other firings of a trigger in one state, just as the index `firing_open` has them."""
    return (
        select(firing.c.due_at, firing.c.id)
        .where(
            firing.c.trigger == bindparam("trigger"),
            firing.c.state == text(f"'{state}'"),
            firing.c.id != bindparam("firing"),
            _PENDING,
        )
        .order_by(firing.c.due_at, firing.c.id)
        .limit(bindparam("limit"))
    )


OTHERS_DUE: Final = _others("due")
OTHERS_STARTING: Final = _others("starting")
OTHERS_QUEUED: Final = _others("queued")
OPEN_RUNS: Final = (
    select(run.c.id)
    .where(run.c.fired_by == bindparam("trigger"), run.c.ended_at.is_(None))
    .order_by(run.c.id)
    .limit(bindparam("limit"))
)
SET_FIRING: Final = (
    update(firing)
    .where(firing.c.id == bindparam("firing"))
    .values(
        {
            firing.c.state: bindparam("new_state"),
            firing.c.until: bindparam("new_until"),
            firing.c.message: bindparam("new_message"),
        }
    )
)
END_FIRING: Final = (
    update(firing)
    .where(firing.c.id == bindparam("firing"), _PENDING)
    .values(
        {
            firing.c.state: bindparam("new_state"),
            firing.c.run: bindparam("new_run"),
            firing.c.message: bindparam("new_message"),
            firing.c.until: None,
        }
    )
)

OLD_FIRINGS: Final = (
    select(firing.c.id, firing.c.trigger, firing.c.at)
    .where(_SETTLED, firing.c.at < bindparam("before"))
    .order_by(firing.c.at)
    .limit(bindparam("limit"))
)
REMEMBER: Final = (
    update(trigger)
    .where(
        trigger.c.id == bindparam("trigger"), trigger.c.last_at.is_(None) | (trigger.c.last_at < bindparam("latest"))
    )
    .values({trigger.c.last_at: bindparam("latest")})
)
DELETE_FIRINGS: Final = delete(firing).where(Among(firing.c.id, "ids", ids=True)).returning(firing.c.id)
