"""The verbs of dead letters, the same on every SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Select, bindparam, delete, func, select, text, update

from detent.store.letters import EVERY_LETTER, LetterCriteria, LetterRow, LetterState, LetterStore, NewLetter
from detent.store.sql.access import Rows, Script, SqlAccess
from detent.store.sql.compiler import InList, InsertIfAbsent, NameOrEmpty, Values
from detent.store.sql.schema import dead_letter, workflow

_LETTERS: Final = select(
    *(dead_letter.c[name] for name in LetterRow._fields[:-1]), NameOrEmpty(workflow.c.name)
).select_from(dead_letter.outerjoin(workflow, workflow.c.id == dead_letter.c.workflow))
_OF_TENANT: Final = dead_letter.c.tenant == bindparam("tenant")
_ONE: Final = (_OF_TENANT, dead_letter.c.id == bindparam("letter"))
LETTER: Final = _LETTERS.where(*_ONE)
LOCK: Final = select(dead_letter.c.state, dead_letter.c.settled_at, dead_letter.c.result).where(*_ONE).with_for_update()
SETTLE: Final = (
    update(dead_letter)
    .where(*_ONE)
    .values(
        {
            dead_letter.c.state: bindparam("new_state"),
            dead_letter.c.settled_at: bindparam("new_settled_at"),
            dead_letter.c.settled_by: bindparam("new_settled_by"),
            dead_letter.c.result: bindparam("new_result"),
        }
    )
)
RESULT: Final = (
    update(dead_letter)
    .where(*_ONE, dead_letter.c.state == text("'requeued'"))
    .values({dead_letter.c.result: bindparam("new_result")})
)
DROP: Final = (
    delete(dead_letter).where(_OF_TENANT, InList(dead_letter.c.id, "ids", ids=True)).returning(dead_letter.c.id)
)
OLD: Final = (
    select(dead_letter.c.id)
    .where(dead_letter.c.at < bindparam("before"))
    .order_by(dead_letter.c.at)
    .limit(bindparam("limit"))
)
DROP_OLD: Final = delete(dead_letter).where(InList(dead_letter.c.id, "ids", ids=True)).returning(dead_letter.c.id)
ADD_LETTER: Final = InsertIfAbsent(
    text(
        """insert into dead_letter (id, tenant, kind, workflow, run, step, source, "trigger", reason, message, payload,
                                    attempts, last_error, at, state)
           values (:id, :tenant, :kind, :workflow, :run, :step, :source, :trigger, :reason, :message, :payload,
                   :attempts, :last_error, :now, 'open')"""
    )
)


def letter_values(letter: NewLetter, now: int) -> Values:
    """Return the values of `ADD_LETTER`."""
    payload = None if letter.payload is None else letter.payload.decode()
    return {**letter._asdict(), "payload": payload, "now": now}


@lru_cache(maxsize=256)
def _found(given: frozenset[str], *, cursor: bool, oldest_first: bool) -> Select[Any]:
    query = _narrowed(_LETTERS, given)
    column = dead_letter.c.id
    if cursor:
        query = query.where(column > bindparam("cursor") if oldest_first else column < bindparam("cursor"))
    return query.order_by(column if oldest_first else column.desc()).limit(bindparam("limit"))


@lru_cache(maxsize=64)
def _counted(given: frozenset[str]) -> Select[Any]:
    inner = _narrowed(select(dead_letter.c.id), given).limit(bindparam("limit")).subquery("found")
    return select(func.count()).select_from(inner)


def _narrowed(query: Select[Any], given: frozenset[str]) -> Select[Any]:
    query = query.where(_OF_TENANT)
    for name in sorted(given - {"before"}):
        query = query.where(dead_letter.c[name] == bindparam(name))
    return query.where(dead_letter.c.at < bindparam("before")) if "before" in given else query


class LetterVerbs(LetterStore):
    """The verbs of dead letters."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def letters(
        self,
        tenant: int,
        *,
        limit: int,
        where: LetterCriteria = EVERY_LETTER,
        cursor: bytes | None = None,
        oldest_first: bool = False,
    ) -> list[LetterRow]:
        given = where.given()
        clause = _found(frozenset(given), cursor=cursor is not None, oldest_first=oldest_first)
        values = {**given, "tenant": tenant, "limit": limit, "cursor": cursor}
        return [_row(row) for row in await self._access.search(clause, values)]

    async def letter(self, tenant: int, letter: bytes) -> LetterRow | None:
        rows = await self._access.query(LETTER, {"tenant": tenant, "letter": letter})
        return _row(rows[0]) if rows else None

    async def count_letters(self, tenant: int, *, where: LetterCriteria, limit: int) -> int:
        given = where.given()
        [row] = await self._access.search(_counted(frozenset(given)), {**given, "tenant": tenant, "limit": limit})
        return int(row[0])

    async def take_letter(self, tenant: int, letter: bytes, *, by: str, stale: int) -> LetterRow | None:
        now, place = await self._access.now(), {"tenant": tenant, "letter": letter}

        def take() -> Script[Rows]:
            found = yield LOCK, place
            if not found:
                return ()
            state, settled_at, result = found[0]
            if state != LetterState.OPEN and (result is not None or settled_at > now - stale):
                return ()
            rows = yield LETTER, place
            taken = {"new_state": str(LetterState.REQUEUED), "new_settled_at": now, "new_settled_by": by}
            yield SETTLE, {**place, **taken, "new_result": None}
            return rows

        rows = await self._access.run_script(take)
        return _row(rows[0]) if rows else None

    async def settle_letter(self, tenant: int, letter: bytes, *, result: str | None) -> None:
        place = {"tenant": tenant, "letter": letter}
        if result is not None:
            await self._access.execute(RESULT, {**place, "new_result": result})
            return
        opened = {"new_state": str(LetterState.OPEN), "new_settled_at": None, "new_settled_by": None}
        await self._access.execute(SETTLE, {**place, **opened, "new_result": None})

    async def drop_letters(self, tenant: int, letters: Sequence[bytes]) -> int:
        if not letters:
            return 0
        return len(await self._access.execute(DROP, {"tenant": tenant, "ids": list(letters)}))

    async def prune_letters(self, *, before: int, limit: int) -> int:
        rows = await self._access.query(OLD, {"before": before, "limit": limit})
        if not rows:
            return 0
        return len(await self._access.execute(DROP_OLD, {"ids": [row[0] for row in rows]}))


def _row(row: Sequence[Any]) -> LetterRow:
    made = LetterRow(*row)
    return made if made.payload is None else made._replace(payload=row[10].encode())
