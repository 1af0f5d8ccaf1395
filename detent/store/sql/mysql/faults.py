"""What the errors of MariaDB, MySQL and their driver mean to us."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from asyncmy import errors

from detent.errors import CommitUnknown, StoreBusy, StoreError, StoreLocked
from detent.store.sql.mysql.address import Address


class Refusal(Exception):
    """The server refused a statement of a packet; those before it were carried out, those after it were not."""

    def __init__(self, code: int | None, reason: str, place: int) -> None:
        super().__init__(code, reason)
        self.code, self.reason, self.place = code, reason, place


#: The server said that it did not do it, and the same call may be made again.
_AGAIN: Final = frozenset(
    {
        1021,  # disk full
        1026,
        1037,  # out of memory
        1038,
        1040,  # too many connections
        1041,
        1114,  # no room for the table
        1135,
        1203,  # too many connections of this user
        1206,
        1213,  # deadlock
        1226,
        1290,  # read only: this was the primary
        1317,  # somebody stopped the statement
        1792,
        1836,  # read only
        1969,  # MariaDB: it took too long
        3024,  # MySQL: it took too long
        2003,  # cannot connect
        2006,  # gone before anything was sent
    }
)
#: The connection was lost, or the commit itself failed: nobody knows.
_UNKNOWN: Final = frozenset({1053, 1077, 1079, 1080, 1152, 1159, 1160, 1161, 1180, 1184, 1927, 2013, 2014, 2055, 3169})
#: After these the connection may not be what we think.
_DROP: Final = frozenset({1153, 1290, 1792, 1836, 2003, 2006, 3169}) | _UNKNOWN
_LOCK_TIMEOUT: Final = 1205
_DEADLOCK: Final = 1213
_NO_DATABASE: Final = 1049
_NOT_LET_IN: Final = frozenset({1044, 1045, 1698})
_DRIVER_ERRORS: Final = (Refusal, errors.MySQLError, OSError, TimeoutError)


def leaves_doubt(error: BaseException) -> bool:
    """Whether a connection must be thrown away after this error."""
    if isinstance(error, Refusal):
        return error.code is None or error.code == 0 or error.code in _DROP
    return not isinstance(error, StoreError)


def is_deadlock(error: StoreError) -> bool:
    """Whether the server has rolled the whole transaction back because two waited for each other."""
    return isinstance(error.__cause__, Refusal) and error.__cause__.code == _DEADLOCK


@contextmanager
def translated(*, writing: bool, address: Address) -> Iterator[None]:
    """Say every failure of the driver in our words. `writing`: something that was sent may have been applied."""
    told = times_told_to_stop()
    try:
        yield
    except _DRIVER_ERRORS as error:
        if times_told_to_stop() > told:
            # A caller that was cancelled meanwhile must hear of that, and not of what came of it.
            raise asyncio.CancelledError from error
        raise _said(error, writing=writing, address=address) from error
    except UnicodeError as error:
        raise StoreError(f"a text cannot be sent to the database: {error}") from error


def times_told_to_stop() -> int:
    """How often the caller was cancelled and has not heeded it."""
    this = asyncio.current_task()
    return this.cancelling() if this else 0


def _said(error: Exception, *, writing: bool, address: Address) -> StoreError:
    code: int | None = None
    reason = f"{type(error).__name__}: {error}".removesuffix(": ")
    if isinstance(error, (Refusal, errors.MySQLError)):
        code = error.args[0] if error.args and isinstance(error.args[0], int) else None
        reason = f"{error.args[-1]} ({code})" if error.args else repr(error)
    if code is None or code in _UNKNOWN:
        if writing:
            return CommitUnknown(f"the connection to {address} failed in the middle of a statement ({reason})")
        return StoreBusy(f"the database at {address} cannot be reached ({reason})")
    if code == _LOCK_TIMEOUT:
        return StoreLocked(f"the database at {address}: {reason}")
    if code == 0 or code in _AGAIN:
        return StoreBusy(f"the database at {address}: {reason}")
    if code == _NO_DATABASE:
        return StoreError(
            f"there is no database {address.database!r} at {address}: make it first, with `create database`"
        )
    if code in _NOT_LET_IN:
        return StoreError(f"{address} does not let the user {address.user!r} in: {reason}")
    return StoreError(f"the database at {address}: {reason}")
