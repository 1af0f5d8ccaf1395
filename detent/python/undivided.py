"""A transaction that the code inside it cannot end: neither by its session nor by the connection under it.

Whoever opened it commits it, with what belongs to it. A savepoint is part of it, and stays allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from sqlalchemy import event

_ENDS: Final = ("commit", "rollback", "close", "reset", "invalidate")


@contextmanager
def undivided(session: Any, connection: Any) -> Iterator[None]:
    """While this lasts, what would end the transaction raises RuntimeError. Both are those that are not awaited."""
    for verb in _ENDS:
        setattr(session, verb, _refusal(f"session.{verb}()"))  # the session stays as it was
    refusal = _refusal("a commit")  # of the connection, or of the session's transaction
    event.listen(connection, "commit", refusal)
    try:
        yield
    finally:
        event.remove(connection, "commit", refusal)
        for verb in _ENDS:
            delattr(session, verb)


def _refusal(what: str) -> Callable[..., NoReturn]:
    def refuse(*given: object, **more: object) -> NoReturn:
        raise RuntimeError(
            f"{what} would end the transaction of a transactional step, which is committed with the step's result: "
            "return to commit it, raise to roll it back, use session.begin_nested() for a part that may fail"
        )

    return refuse
