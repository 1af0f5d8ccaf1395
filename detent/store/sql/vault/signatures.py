"""The verbs of texts with signature secrets, the same on every SQL database."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sqlalchemy import Column, Select, Table, Update, and_, bindparam, literal, or_, select, update

from detent.store.sql.access import Script, SqlAccess
from detent.store.sql.schema import draft, trigger, workflow, workflow_version
from detent.store.vault.signatures import MARK, SignatureStore, SignedText, TextKind

#: Before the number of every version: those of stored drafts are negative.
_FIRST: Final = -(2**31)


class _Place(NamedTuple):
    """The statements for texts of one kind."""

    listed: Select[Any]
    locked: Select[Any]
    replaced: Update


def _place(table: Table, id_: Column[Any], text: Column[Any], number: Column[Any] | None = None) -> _Place:
    own = [table.c.tenant == bindparam("its_tenant"), id_ == bindparam("its_id")]
    later: Any = id_ > bindparam("after")
    order: list[Any] = [id_]
    if number is not None:
        own.append(number == bindparam("its_number"))
        later = or_(later, and_(id_ == bindparam("after"), number > bindparam("after_number")))
        order.append(number)
    listed = (
        select(table.c.tenant, id_, literal(0) if number is None else number, text)
        .where(text.like(f"%{MARK}%"), later)
        .order_by(*order)
        .limit(bindparam("limit"))
    )
    return _Place(
        listed, select(text).where(*own).with_for_update(), update(table).where(*own).values({text: bindparam("new")})
    )


_VERSION: Final = workflow_version.c.workflow, workflow_version.c.version
PLACES: Final = {
    TextKind.SOURCE: _place(workflow_version, _VERSION[0], workflow_version.c.source, _VERSION[1]),
    TextKind.FACTS: _place(workflow_version, _VERSION[0], workflow_version.c.facts, _VERSION[1]),
    TextKind.DRAFT: _place(draft, draft.c.workflow, draft.c.source),
    TextKind.WORKFLOW: _place(workflow, workflow.c.id, workflow.c.trigger),
    TextKind.TRIGGER: _place(trigger, trigger.c.id, trigger.c.config),
}
#: By name, for the test that looks at every statement.
LIST_SOURCES: Final = PLACES[TextKind.SOURCE].listed
LIST_FACTS: Final = PLACES[TextKind.FACTS].listed
LIST_DRAFTS: Final = PLACES[TextKind.DRAFT].listed
LIST_WORKFLOWS: Final = PLACES[TextKind.WORKFLOW].listed
LIST_TRIGGERS: Final = PLACES[TextKind.TRIGGER].listed
REPLACE_SOURCE: Final = PLACES[TextKind.SOURCE].replaced
REPLACE_TRIGGER: Final = PLACES[TextKind.TRIGGER].replaced


class SignatureVerbs(SignatureStore):
    """The verbs of texts with signature secrets."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def signed_texts(self, kind: TextKind, *, after: SignedText | None, limit: int) -> list[SignedText]:
        place, number = (bytes(16), _FIRST) if after is None else (after.id, after.number)
        values: dict[str, Any] = {"after": place, "limit": limit}
        if kind in (TextKind.SOURCE, TextKind.FACTS):
            values["after_number"] = number
        rows = await self._access.query(PLACES[kind].listed, values)
        return [SignedText(kind, tenant, bytes(id_), its_number, text) for tenant, id_, its_number, text in rows]

    async def replace_text(self, old: SignedText, text: str) -> bool:
        own: dict[str, Any] = {"its_tenant": old.tenant, "its_id": old.id}
        if old.kind in (TextKind.SOURCE, TextKind.FACTS):
            own["its_number"] = old.number
        place = PLACES[old.kind]

        def replace() -> Script[bool]:
            rows = yield place.locked, own
            if not rows or rows[0][0] != old.text:
                return False
            yield place.replaced, {**own, "new": text}
            return True

        return await self._access.run_script(replace)
