"""Which revision of the tables this code works on."""

from __future__ import annotations

from detent.errors import SchemaMismatch
from detent.store.sql.schema import HEAD


def require_head(found: str | None) -> None:
    """Refuse to work on tables of another shape."""
    if found == HEAD:
        return
    if found is not None and found > HEAD:
        raise SchemaMismatch(
            f"the tables of this database are at revision {found}, made by a newer Detent than this one (it knows "
            f"{HEAD}); install that version"
        )
    state = "has no tables of Detent yet" if found is None else f"is at revision {found}, and this Detent needs {HEAD}"
    raise SchemaMismatch(f"the database {state}: run `detent migrate`")
