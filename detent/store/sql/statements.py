"""The statements that are not hot: runs, journals, callbacks, triggers, firings, settings and nodes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    delete,
    func,
    literal_column,
    or_,
    select,
    text,
    union_all,
    update,
)

from detent.store.list_rows import RUN_STARTED
from detent.store.sql.compiler import Contains, InList, InsertIfAbsent, NameOrEmpty, Unindexed
from detent.store.sql.schema import (
    callback,
    firing,
    journal,
    kept,
    lease,
    node,
    run,
    seen,
    setting,
    tenant,
    trigger,
    workflow,
)

# The timeline: what happened in all runs of one hero, in the order of time.


_MINE: Final = (
    run.c.tenant == bindparam("tenant"),
    run.c.hero_type == bindparam("hero_type"),
    run.c.hero_id == bindparam("hero_id"),
)
_HAS_BEGUN: Final = and_(
    or_(run.c.status != literal_column("'pending'"), run.c.owner.is_not(None)),
    or_(run.c.ended_at.is_(None), run.c.ended_at >= run.c.started_at),
)
_ENTRIES: Final = (
    select(
        run.c.workflow, journal.c.tenant, journal.c.run, journal.c.seq, journal.c.at, journal.c.kind, journal.c.step,
        journal.c.attempt, journal.c.outcome, journal.c.data,
    )
    .select_from(run.join(journal, journal.c.run == run.c.id))
    .where(*_MINE)
)  # fmt: skip
_STARTS: Final = select(
    run.c.workflow, run.c.tenant, run.c.id.label("run"), literal_column("0").label("seq"), run.c.started_at.label("at"),
    literal_column(f"'{RUN_STARTED}'").label("kind"), literal_column("null").label("step"),
    literal_column("0").label("attempt"), literal_column("null").label("outcome"), literal_column("'{}'").label("data"),
).where(*_MINE, _HAS_BEGUN)  # fmt: skip


@lru_cache(maxsize=2)
def timeline(*, after: bool) -> Select[Any]:
    """Return the entries with the name of their workflow: `after` a position (at, run, seq), or from the beginning."""
    every = union_all(_ENTRIES, _STARTS).subquery("every")
    columns = [column for column in every.c if column.name != "workflow"]
    query = (
        select(NameOrEmpty(workflow.c.name), *columns)
        .select_from(every.outerjoin(workflow, workflow.c.id == every.c.workflow))
        .order_by(every.c.at, every.c.run, every.c.seq)
        .limit(bindparam("limit"))
    )
    return query.where(_behind(every)) if after else query


def _behind(every: Any) -> ColumnElement[bool]:
    at: ColumnElement[Any] = bindparam("at")
    run_id: ColumnElement[Any] = bindparam("run")
    seq: ColumnElement[Any] = bindparam("seq")
    return or_(
        every.c.at > at,
        and_(every.c.at == at, or_(every.c.run > run_id, and_(every.c.run == run_id, every.c.seq > seq))),
    )


# The statements about triggers and firings.


#: The exact conditions of the partial indexes. Written differently, the indexes are not used.
_SCHEDULED: Final = text('"trigger".next_at is not null and "trigger".enabled and "trigger".deleted_at is null')
_PENDING: Final = text("firing.state in ('due', 'starting', 'queued')")
_SETTLED: Final = text("firing.state not in ('due', 'starting', 'queued')")
_ONE: Final[ColumnElement[int]] = literal_column("1")

#: The tenants whose triggers do not fire.
_SUSPENDED: Final = select(tenant.c.id).where(tenant.c.status == text("'suspended'"))

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
#: Not ordered: an order would make SQLite scan every trigger of the tenant.
LISTENERS: Final = _OF_TENANT.where(
    trigger.c.kind == text("'event'"),
    text('"trigger".enabled'),
    trigger.c.key.is_not(None),
    InList(trigger.c.key, "keys", ids=False),
    workflow.c.deleted_at.is_(None),
    workflow.c.status == text("'active'"),
)
DUE_TRIGGERS: Final = (
    _TRIGGERS.where(
        _SCHEDULED,
        trigger.c.next_at <= bindparam("now"),
        workflow.c.status == text("'active'"),
        trigger.c.tenant.not_in(_SUSPENDED),
    )
    .order_by(trigger.c.next_at, trigger.c.id)
    .limit(bindparam("limit"))
)


@lru_cache(maxsize=64)
def triggers(given: frozenset[str]) -> Select[Any]:
    """Return the triggers of a tenant by id, narrowed by the given columns."""
    query = _OF_TENANT
    if "after" in given:
        query = query.where(trigger.c.id > bindparam("after"))
    for name in sorted(given & {"workflow", "kind", "enabled"}):
        query = query.where(trigger.c[name] == bindparam(name))
    return query.order_by(trigger.c.id).limit(bindparam("limit"))


FIND_TRIGGERS: Final = (
    _OF_TENANT.where(Contains(trigger.c.name, "text")).order_by(trigger.c.id).limit(bindparam("limit"))
)
ADD_TRIGGER: Final = InsertIfAbsent(
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
    .where(
        trigger.c.tenant == bindparam("tenant"),
        trigger.c.id == bindparam("id"),
        trigger.c.updated_at == bindparam("seen"),
        trigger.c.deleted_at.is_(None),
    )
    .values(_CHANGES)
    .returning(trigger.c.id)
)
OWNED_TRIGGER: Final = (
    select(
        trigger.c.id, trigger.c.kind, trigger.c.enabled, trigger.c.config, trigger.c.next_at, trigger.c.note,
        trigger.c.updated_at,
    )
    .where(
        Unindexed(trigger.c.tenant) == bindparam("tenant"), trigger.c.workflow == bindparam("workflow"),
        text('"trigger".owned'), trigger.c.deleted_at.is_(None),
    )
    .with_for_update()
)  # fmt: skip
DROP_TRIGGER: Final = (
    update(trigger)
    .where(trigger.c.id == bindparam("id"), trigger.c.tenant == bindparam("tenant"), trigger.c.deleted_at.is_(None))
    .values({trigger.c.deleted_at: bindparam("now")})
    .returning(trigger.c.id)
)
LOCK_TRIGGER: Final = (
    select(trigger.c.id)
    .where(trigger.c.tenant == bindparam("tenant"), trigger.c.id == bindparam("trigger"))
    .with_for_update()
)
MOVE_ON: Final = (
    update(trigger)
    .where(
        trigger.c.tenant == bindparam("tenant"), trigger.c.id == bindparam("id"),
        trigger.c.next_at == bindparam("seen"), text("enabled"), trigger.c.deleted_at.is_(None),
    )
    .values({trigger.c.next_at: bindparam("next")})
    .returning(trigger.c.id)
)  # fmt: skip

_FIRINGS: Final = select(
    firing.c.id, firing.c.tenant, firing.c.trigger, firing.c.workflow, firing.c.kind, firing.c.state, firing.c.due_at,
    firing.c.slot, firing.c.dedup, firing.c.request, firing.c.replay_of, firing.c.message, firing.c.at, firing.c.until,
    firing.c.run,
)  # fmt: skip
_THIS: Final = (firing.c.tenant == bindparam("tenant"), firing.c.id == bindparam("firing"))
FIRING: Final = _FIRINGS.where(*_THIS)
ADD_FIRING: Final = InsertIfAbsent(
    text(
        """insert into firing (id, tenant, "trigger", workflow, kind, state, due_at, slot, dedup, request, replay_of,
                               message, at)
           values (:id, :tenant, :trigger, :workflow, :kind, :state, :due_at, :slot, :dedup, :request, :replay_of,
                   :message, :now)"""
    )
)
SAME_FIRING: Final = (
    _FIRINGS.where(
        Unindexed(firing.c.tenant) == bindparam("tenant"),
        or_(
            firing.c.id == bindparam("id"),
            (firing.c.trigger == bindparam("trigger")) & (firing.c.slot == bindparam("slot")),
            (firing.c.trigger == bindparam("trigger")) & (firing.c.dedup == bindparam("dedup")),
        ),
    )
    .order_by(firing.c.at, firing.c.id)
    .limit(_ONE)
)
DUE_FIRINGS: Final = (
    _FIRINGS.where(
        _PENDING,
        firing.c.tenant.not_in(_SUSPENDED),
        firing.c.due_at <= bindparam("now"),
        firing.c.until.is_(None) | (firing.c.until <= bindparam("now")) | (firing.c.until > bindparam("farthest")),
    )
    .order_by(firing.c.due_at, firing.c.id)
    .limit(bindparam("limit"))
)


@lru_cache(maxsize=8)
def firings(*, before: bool, state: bool) -> Select[Any]:
    """Return the newest firings of a trigger."""
    query = _FIRINGS.where(firing.c.tenant == bindparam("tenant"), firing.c.trigger == bindparam("trigger"))
    if before:
        query = query.where(firing.c.id < bindparam("before"))
    if state:
        query = query.where(firing.c.state == bindparam("state"))
    return query.order_by(firing.c.id.desc()).limit(bindparam("limit"))


#: Locks an open firing, so that its state is current when it is begun.
LOCK_FIRING: Final = (
    select(firing.c.trigger, firing.c.state, firing.c.due_at, firing.c.until).where(*_THIS, _PENDING).with_for_update()
)
OF_FIRING: Final = select(firing.c.trigger).where(*_THIS)


def _others(state: str) -> Select[Any]:
    """Return the oldest other firings of a trigger in one state, in the order of the index `firing_open`."""
    return (
        select(firing.c.due_at, firing.c.id)
        .where(
            Unindexed(firing.c.tenant) == bindparam("tenant"),
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
    .where(
        Unindexed(run.c.tenant) == bindparam("tenant"),
        run.c.fired_by == bindparam("trigger"),
        run.c.ended_at.is_(None),
    )
    .order_by(run.c.id)
    .limit(bindparam("limit"))
)
SET_FIRING: Final = (
    update(firing)
    .where(*_THIS)
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
    .where(*_THIS, _PENDING)
    .values(
        {
            firing.c.state: bindparam("new_state"),
            firing.c.run: bindparam("new_run"),
            firing.c.message: bindparam("new_message"),
            firing.c.until: None,
        }
    )
    .returning(firing.c.id)
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
DELETE_FIRINGS: Final = delete(firing).where(InList(firing.c.id, "ids", ids=True)).returning(firing.c.id)


OPEN_RUNS_AMONG: Final = select(run.c.id).where(
    Unindexed(run.c.tenant) == bindparam("tenant"), InList(run.c.id, "runs", ids=True), run.c.ended_at.is_(None)
)
RUNS_AMONG: Final = select(run.c.id).where(InList(run.c.id, "runs", ids=True))
ACTIVE_RUN: Final = select(run.c.id).where(
    run.c.tenant == bindparam("tenant"), run.c.active_key == bindparam("key"), run.c.ended_at.is_(None)
)
KEPT: Final = select(kept.c.step, kept.c.result).where(
    kept.c.tenant == bindparam("tenant"), kept.c.run == bindparam("run")
)

ENTRIES: Final = (
    journal.c.tenant, journal.c.run, journal.c.seq, journal.c.at, journal.c.kind, journal.c.step, journal.c.attempt,
    journal.c.outcome, journal.c.data,
)  # fmt: skip
JOURNAL: Final = (
    select(*ENTRIES)
    .where(
        Unindexed(journal.c.tenant) == bindparam("tenant"),
        journal.c.run == bindparam("run"),
        journal.c.seq > bindparam("after"),
    )
    .order_by(journal.c.seq)
    .limit(bindparam("limit"))
)
JOURNALS: Final = (
    select(*ENTRIES)
    .where(Unindexed(journal.c.tenant) == bindparam("tenant"), InList(journal.c.run, "runs", ids=True))
    .order_by(journal.c.run, journal.c.seq)
)
STEP_ENDS: Final = (
    select(*ENTRIES)
    .where(
        Unindexed(journal.c.tenant) == bindparam("tenant"),
        InList(journal.c.run, "runs", ids=True),
        InList(journal.c.step, "steps", ids=False),
        or_(journal.c.kind == text("'ended'"), journal.c.kind == text("'checkpoint'")),
    )
    .order_by(journal.c.run, journal.c.seq)
)
CALLBACKS: Final = (
    select(
        *(callback.c.step, callback.c.state, callback.c.created_at, callback.c.until),
        *(callback.c.ask, callback.c.decisions),
    )
    .where(Unindexed(callback.c.tenant) == bindparam("tenant"), callback.c.run == bindparam("run"))
    .order_by(callback.c.created_at, callback.c.step)
)
CLOSED_WAITS: Final = select(callback.c.run, callback.c.step).where(
    InList(callback.c.run, "ids", ids=True), callback.c.state == text("'expired'")
)
CALLBACK: Final = select(
    *(callback.c.tenant, callback.c.state, callback.c.early, callback.c.until, callback.c.message_id),
    *(callback.c.answer, callback.c.ask, callback.c.decisions),
).where(callback.c.run == bindparam("run"), callback.c.step == bindparam("step"))

OWNED: Final = select(run.c.id, run.c.epoch).where(run.c.owner == bindparam("node"), run.c.ended_at.is_(None))

SETTING: Final = select(setting.c.value).where(setting.c.name == bindparam("name"))
CHANGE_SETTING: Final = (
    update(setting).where(setting.c.name == bindparam("name")).values({setting.c.value: bindparam("new_value")})
)
STORE_SETTING: Final = InsertIfAbsent(text("insert into setting (name, value) values (:name, :value)"), gives="name")

OFFERS: Final = select(node.c.id, node.c.offers, lease.c.until).join_from(node, lease, lease.c.node == node.c.id)
SAW: Final = text(
    """insert into seen (kind, name, at) values (:kind, :name, :now)
       on conflict (kind, name) do update set at = excluded.at"""
)
LAST_SEEN: Final = select(seen.c.at).where(seen.c.kind == bindparam("kind"), seen.c.name == bindparam("name"))
