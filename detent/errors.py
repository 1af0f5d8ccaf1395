"""Every error of Detent, in one tree.

    DetentError
    |- InvalidInput            what was sent cannot be accepted; `problems` says where and why
    |  |- InvalidDefinition    a workflow definition, with all its problems at once
    |  |- NotConvertible       a workflow that another form cannot hold, with every reason
    |  |- TooLarge             an input beyond its limit
    |  `- RenderFailed         a document template that cannot be rendered with these answers
    |- Unauthenticated         the request has no valid key, token or session
    |- Forbidden               this caller may not do this
    |- NotFound                no such workflow, run or callback
    |  `- TemplateNotFound     no such document template, or it is disabled
    |- Conflict                the current state does not allow it
    |  |- NameTaken            another workflow has that name
    |  |- NotStartable         the workflow is disabled or not active
    |  |- ManagedByFiles       a folder of files manages the workflow; `folder` says which
    |  |- TooDeep              child runs nest too deep
    |  |- Recursion            a workflow would be its own parent
    |  |- AlreadyActive        the hero has an open run of that workflow; `run` says which
    |  |- NoEncryptionKey      this process has no key to seal secrets with
    |  |- CannotOpen           a sealed value cannot be opened with the keys of this process
    |  `- RequestIdReused      the same request id was used with another body
    |- LimitExceeded           this caller has sent too many requests; `retry_after` says when to try again
    |- Unavailable             the node is full, draining or without its database; try again
    |  |- StartBlocked         another open transaction starts the same run
    |  `- UnknownGraph         a graph that only a newer version of Detent can read
    |- StoreError              the database refused or failed
    |  |- CommitUnknown        it is unknown whether the last statement was applied
    |  |- StoreBusy            a lock or a conflict; nothing was applied and the call may be retried
    |  |  |- StoreLocked       another transaction locks what the call needs
    |  |  `- StoreFull         there is no room on its disk
    |  |- SchemaMismatch       the tables are older or newer than this code
    |  `- StoreInUse           another process uses the database file; `pid` and `url` identify it
    `- EngineError             a rule inside the engine was broken: always a bug
       |- IllegalMove
       `- UnknownEntry         a journal entry this code does not know

The docstring is the message when none is given. `code` is stable and public.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input: the field, and what to do about it."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class DetentError(Exception):
    """Something went wrong."""

    code: str = "detent_error"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())

    @property
    def message(self) -> str:
        return str(self.args[0])


class InvalidInput(DetentError):
    """The input cannot be accepted."""

    code = "invalid_argument"

    def __init__(self, message: str | None = None, problems: Iterable[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class InvalidDefinition(InvalidInput):
    """workflow validation failed"""

    code = "invalid_definition"


class NotConvertible(InvalidInput):
    """The workflow cannot be written in that form."""

    code = "not_convertible"


class TooLarge(InvalidInput):
    """The input is larger than its limit."""

    code = "too_large"


class RenderFailed(InvalidInput):
    """The document cannot be rendered."""

    code = "render_failed"


class Unauthenticated(DetentError):
    """This request needs a key, a token or a session."""

    code = "unauthenticated"


class Forbidden(DetentError):
    """This caller is not allowed to do this."""

    code = "permission_denied"


class NotAllowed(Forbidden):
    """The tenant of the caller may not use this code or action."""

    code = "action_not_allowed"


class NotFound(DetentError):
    """Not found."""

    code = "not_found"


class TemplateNotFound(NotFound):
    """There is no such document template."""

    code = "template_not_found"


class Conflict(DetentError):
    """The current state does not allow this."""

    code = "conflict"


class TooDeep(Conflict):
    """Child runs nest too deep."""

    code = "nesting_depth"


class Recursion(Conflict):
    """A run of a workflow would start a run of the same workflow below it."""

    code = "recursion"


class NameTaken(Conflict):
    """This name is already in use."""

    code = "name_taken"


class NotStartable(Conflict):
    """The workflow cannot be started."""

    code = "not_startable"


class ManagedByFiles(Conflict):
    """A folder of files manages the workflow. `folder` is its id."""

    code = "managed_by_files"

    def __init__(self, message: str | None = None, *, folder: str = "") -> None:
        super().__init__(message)
        self.folder = folder


class NoEncryptionKey(Conflict):
    """This process has no encryption key."""

    code = "no_encryption_key"


class CannotOpen(Conflict):
    """A sealed value cannot be opened with the keys of this process."""

    code = "cannot_open"


class AlreadyActive(Conflict):
    """There is an active run of that workflow for that hero. `run` is its id."""

    code = "already_active"

    def __init__(self, message: str | None = None, *, run: str = "") -> None:
        super().__init__(message)
        self.run = run


class RehearsalFailed(Conflict):
    """In this draft runs would fail, or runs in flight could not be moved to it. `rehearsal` says which."""

    code = "rehearsal_failed"

    def __init__(self, message: str | None = None, *, rehearsal: Any = None) -> None:
        super().__init__(message)
        self.rehearsal = rehearsal


class RequestIdReused(Conflict):
    """The same request id was already used with another body."""

    code = "request_id_reused"


class RequestIdTaken(Conflict):
    """The same request id started another workflow."""

    code = "request_id_taken"


class PreconditionFailed(DetentError):
    """It has changed since it was read; read it again."""

    code = "precondition_failed"


class LimitExceeded(DetentError):
    """Too many requests; try again later."""

    code = "limit_exceeded"

    def __init__(self, message: str | None = None, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(DetentError):
    """Not now; try again in a moment."""

    code = "unavailable"

    def __init__(self, message: str | None = None, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StartBlocked(Unavailable):
    """another open transaction starts the same run; try again"""


class UnknownGraph(Unavailable):
    """this version of Detent cannot read the workflow's graph; it was written by a newer one"""

    code = "unknown_graph"


class StoreError(DetentError):
    """The database refused or failed."""

    code = "store_error"
    #: What is wrong with the database, for a caller that must not see its address.
    outage: ClassVar[str] = "the database fails"


class CommitUnknown(StoreError):
    """The connection was lost while a statement was sent: it may or may not have been applied."""

    code = "commit_unknown"
    outage = "the database does not answer"


class BlobMissing(StoreError):
    """The bytes of a blob are not in their place, although its row exists."""

    code = "blob_missing"


class BlobsUnavailable(StoreError):
    """The directory or the object store of blobs cannot be used now."""

    code = "blobs_unavailable"
    outage = "the place of large payloads cannot be used now"


class StoreBusy(StoreError):
    """The database was busy (a lock, a deadlock, a conflict); nothing was applied, the call may be retried."""

    code = "store_busy"
    outage = "the database cannot be used now"


class StoreLocked(StoreBusy):
    """Another transaction locked a row or a key for too long; nothing was applied, the call may be retried."""

    outage = "another transaction blocks the database"


class StoreFull(StoreBusy):
    """The disk of the database is full; nothing was applied, the call may be retried."""

    outage = "the disk of the database is full"


class SchemaMismatch(StoreError):
    """The tables of this database are older or newer than this version of Detent."""

    code = "schema_mismatch"


class StoreInUse(StoreError):
    """Another process uses the database file."""

    code = "store_in_use"

    def __init__(
        self, message: str | None = None, *, pid: int | None = None, url: str | None = None, key: str | None = None
    ) -> None:
        super().__init__(message)
        self.pid, self.url, self.key = pid, url, key


class EngineError(DetentError):
    """A rule inside the engine was broken. This is a bug in Detent."""

    code = "engine_error"


class IllegalMove(EngineError):
    """A run cannot change from its status to the requested one."""

    code = "illegal_move"


class UnknownEntry(EngineError):
    """The journal has an entry that this version of Detent does not know; it was written by a newer one."""

    code = "unknown_entry"
