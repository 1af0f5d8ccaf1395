"""The verbs of resource links and reservations, the same on every SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, bindparam, delete, exists, func, or_, select, text, update

from detent.run.links import Reservation
from detent.store.links import MOST_ORIGINS, LinkKey, LinkPlace, LinkRow, LinkStore, NewLink
from detent.store.sql.access import Script, SqlAccess
from detent.store.sql.compiler import InList, InsertIfAbsent
from detent.store.sql.schema import link, reservation, run

_origin: Final = run.alias("origin")
_LINKS: Final = select(
    link.c.tenant, link.c.system, link.c.type, link.c.id, link.c.run, link.c.step, link.c.url, link.c.at
)
_OF_TYPE: Final = (
    link.c.tenant == bindparam("tenant"),
    link.c.system == bindparam("system"),
    link.c.type == bindparam("type"),
)
#: With each owner, the same id from the table of runs: `null` if the run does not exist.
OWNERS: Final = (
    select(link.c.id, link.c.run, run.c.id)
    .select_from(link.outerjoin(run, run.c.id == link.c.run))
    .where(*_OF_TYPE, InList(link.c.id, "ids", ids=False))
)
DROP_LOOSE: Final = delete(link).where(
    *_OF_TYPE,
    link.c.id == bindparam("id"),
    link.c.run == bindparam("owner"),
    ~exists().where(run.c.id == bindparam("owner")),
)
#: The run that a run repeats or continues, and when that ended.
ORIGIN: Final = (
    select(_origin.c.id, _origin.c.ended_at)
    .select_from(run.join(_origin, _origin.c.id == run.c.origin))
    .where(run.c.id == bindparam("run"))
)
OWNER: Final = select(link.c.run).where(*_OF_TYPE, link.c.id == bindparam("id"))
#: The owner is compared again: another run may have got the resource since it was read.
HAND_OVER: Final = (
    update(link)
    .where(*_OF_TYPE, link.c.id == bindparam("id"), link.c.run == bindparam("owner"))
    .values(
        {
            link.c.run: bindparam("new_run"),
            link.c.step: bindparam("new_step"),
            link.c.url: func.coalesce(bindparam("new_url"), link.c.url),
        }
    )
    .returning(link.c.id)
)
RUN_LINKS: Final = (
    _LINKS.where(link.c.tenant == bindparam("tenant"), link.c.run == bindparam("run"))
    .order_by(link.c.at, link.c.system, link.c.type, link.c.id)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)

RESERVE: Final = InsertIfAbsent(
    text(
        """insert into reservation (tenant, "system", type, id, run, step, at)
           values (:tenant, :system, :type, :id, :run, :step, :now)"""
    )
)
_RESERVED: Final = (
    reservation.c.tenant == bindparam("tenant"),
    reservation.c.system == bindparam("system"),
    reservation.c.type == bindparam("type"),
    reservation.c.id == bindparam("id"),
)
#: With the end of its run, and its id from the table of runs.
RESERVED: Final = (
    select(reservation.c.run, reservation.c.resource, reservation.c.url, run.c.id, run.c.ended_at)
    .select_from(reservation.outerjoin(run, run.c.id == reservation.c.run))
    .where(*_RESERVED)
)
TAKE_OVER: Final = (
    update(reservation)
    .where(*_RESERVED, reservation.c.run == bindparam("owner"), reservation.c.resource.is_(None))
    .values({reservation.c.run: bindparam("new_run"), reservation.c.step: bindparam("new_step")})
    .returning(reservation.c.id)
)
FULFIL: Final = (
    update(reservation)
    .where(*_RESERVED, reservation.c.run == bindparam("owner"), reservation.c.resource.is_(None))
    .values({reservation.c.resource: bindparam("new_resource"), reservation.c.url: bindparam("new_url")})
    .returning(reservation.c.id)
)


@lru_cache(maxsize=16)
def found(given: frozenset[str], *, after: bool) -> Select[Any]:
    """Return the links of a tenant by system, type and id, narrowed by the given columns."""
    query = _LINKS.where(
        link.c.tenant == bindparam("tenant"), *(link.c[name] == bindparam(name) for name in sorted(given))
    )
    if after:
        query = query.where(_behind())
    return query.order_by(link.c.system, link.c.type, link.c.id).limit(bindparam("limit"))


def _behind() -> ColumnElement[bool]:
    system: ColumnElement[Any] = bindparam("after_system")
    type_: ColumnElement[Any] = bindparam("after_type")
    id_: ColumnElement[Any] = bindparam("after_id")
    return or_(
        link.c.system > system,
        and_(link.c.system == system, or_(link.c.type > type_, and_(link.c.type == type_, link.c.id > id_))),
    )


class LinkVerbs(LinkStore):
    """The verbs of links and reservations."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def link_owners(self, keys: Sequence[LinkKey]) -> dict[LinkKey, bytes]:
        wanted: dict[tuple[int, str, str], list[str]] = {}
        for tenant, system, type_, id_ in keys:
            wanted.setdefault((tenant, system, type_), []).append(id_)
        owners: dict[LinkKey, bytes] = {}
        for (tenant, system, type_), ids in wanted.items():
            place = {"tenant": tenant, "system": system, "type": type_}
            for id_, owner, existing in await self._access.query(OWNERS, {**place, "ids": ids}):
                if existing is None:  # code that did not know links has deleted the run
                    await self._access.execute(DROP_LOOSE, {**place, "id": id_, "owner": owner})
                else:
                    owners[tenant, system, type_, id_] = owner
        return owners

    async def hand_over_links(self, run: bytes, claims: Sequence[NewLink]) -> dict[LinkKey, bytes]:
        def hand_over() -> Script[dict[LinkKey, bytes]]:
            ended, at = set(), run
            for _ in range(MOST_ORIGINS):
                rows = yield ORIGIN, {"run": at}
                if not rows:
                    break
                at, ended_at = rows[0]
                if ended_at is not None:
                    ended.add(at)
            owners: dict[LinkKey, bytes] = {}
            # In one order, as every claim: two runs that take the same resources could wait for each other.
            for claim in sorted(claims, key=lambda one: one.key):
                place = _place(claim.key)
                given = {"new_run": run, "new_step": claim.step, "new_url": claim.url}
                while rows := (yield OWNER, place):
                    owners[claim.key] = owner = rows[0][0]
                    if owner not in ended:
                        break
                    yield HAND_OVER, {**place, **given, "owner": owner}
            return owners

        return await self._access.run_script(hand_over)

    async def run_links(self, tenant: int, run: bytes, *, limit: int, offset: int = 0) -> list[LinkRow]:
        values = {"tenant": tenant, "run": run, "limit": limit, "offset": offset}
        return [LinkRow(*row) for row in await self._access.query(RUN_LINKS, values)]

    async def find_links(
        self,
        tenant: int,
        *,
        limit: int,
        system: str | None = None,
        type_: str | None = None,
        id_: str | None = None,
        after: LinkPlace | None = None,
    ) -> list[LinkRow]:
        narrowing = {"system": system, "type": type_, "id": id_}
        given = frozenset(name for name, value in narrowing.items() if value is not None)
        values: dict[str, Any] = {**narrowing, "tenant": tenant, "limit": limit}
        if after is not None:
            values |= dict(zip(("after_system", "after_type", "after_id"), after, strict=True))
        rows = await self._access.search(found(given, after=after is not None), values)
        return [LinkRow(*row) for row in rows]

    async def reserve(self, key: LinkKey, *, run: bytes, step: str) -> Reservation:
        now, place = await self._access.now(), _place(key)

        def reserve() -> Script[Reservation]:
            while True:
                yield RESERVE, {**place, "run": run, "step": step, "now": now}
                rows = yield RESERVED, place
                if not rows:
                    continue  # it was deleted since: try again
                owner, resource, url, existing, ended_at = rows[0]
                if owner == run or resource is not None or (existing is not None and ended_at is None):
                    return Reservation(owner, resource, url, owner == run)
                if (yield TAKE_OVER, {**place, "owner": owner, "new_run": run, "new_step": step}):
                    return Reservation(run, None, None, True)

        return await self._access.run_script(reserve)

    async def fulfil(self, key: LinkKey, *, run: bytes, resource: str, url: str | None) -> Reservation | None:
        place = _place(key)

        def fulfil() -> Script[Reservation | None]:
            yield FULFIL, {**place, "owner": run, "new_resource": resource, "new_url": url}
            rows = yield RESERVED, place
            return Reservation(rows[0][0], rows[0][1], rows[0][2], rows[0][0] == run) if rows else None

        return await self._access.run_script(fulfil)


def _place(key: LinkKey) -> dict[str, Any]:
    return dict(zip(("tenant", "system", "type", "id"), key, strict=True))
