"""One attempt of an action while it runs: its time limits, its heartbeats, and what it reports.

An attempt ends at its time limit, or when no heartbeat came for too long. Heartbeats are in the memory of the node
only. The last detail is stored with the error of the attempt, so the next attempt can go on from there.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import msgspec

from detent.catalog.connections import NamedConnection
from detent.observe import emit
from detent.run.call import StepCall
from detent.run.outcomes import Fail, Outcome, StepError
from detent.steps.action_context import HEARTBEAT, ActionContext, context_of
from detent.steps.credentials.action_connections import HostBinding, LentConnection
from detent.steps.http.client import ActionServices, GuardedHttp
from detent.steps.links import Links, Reservations
from detent.steps.logs.attempt_log import LEVELS, current_log
from detent.steps.payloads.blobs import TenantBlobs
from detent.steps.results import outcome_of_error
from detent.steps.secret_calls import CodeSecrets, redacted
from detent.steps.user_code import TimeLimit, failure_of, is_cancelled
from detent.vault.redaction import Redactor

#: The name of what actions log, as other lines have the name of their logger.
_LOGGER: Final = "detent.action"
_OFF_LOOP: Final = "context.http is for `async def` actions; a plain function uses context.connect"


class LiveAttempt:
    """An attempt with its limits in seconds; `None` means no limit. It is the port of its own context.

    The context may be used in another thread. What it reports then reaches the loop in its order. With `is_waiting`,
    its time begins when `begins` is called, because it waits for a process first.
    """

    def __init__(
        self,
        call: StepCall,
        services: ActionServices,
        *,
        connector: str = "",
        limit: float | None = None,
        silence: float | None = None,
        has_context: bool = False,
        reservations: Reservations | None = None,
        is_waiting: bool = False,
    ) -> None:
        self.tenant = call.tenant
        self._run = call.run_id
        self._is_sensitive = call.is_sensitive
        self._where = {"run": call.run_id, "step": call.step, "attempt": call.attempt}
        self._services = services
        self._connector = connector
        self._secrets = CodeSecrets(services.secrets, call.tenant)
        self._limit = limit
        self._silence = silence
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._deadline: asyncio.Timeout | None = None
        self._ends_at: float | None = None
        self._beat_at = self._loop.time()
        self._detail: bytes | None = None
        self._is_over = False
        self._lent: tuple[LentConnection, ...] = ()
        self._is_waiting = is_waiting
        self._log = current_log.get()
        self.context: ActionContext | None = context_of(call, self, reservations) if has_context else None

    @property
    def links(self) -> Links | None:
        """Return the resources that the attempt has named."""
        return None if self.context is None else self.context.links

    async def run(self, code: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Await user code and return its outcome, or that of its exception or limit. A cancellation passes through."""
        deadline = self._deadline = asyncio.timeout_at(None)
        outcome: Outcome | None = None
        try:
            async with deadline:
                if not self._is_waiting:
                    self.begins()
                outcome = await code()
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and is_cancelled():
                raise
            if not deadline.expired():
                outcome = outcome_of_error(error, self.links)
        finally:
            self._is_over = True
            self._deadline = None
        if outcome is None or deadline.expired():
            outcome = self._timed_out()
        return self._with_detail(outcome)

    def lend(self, lent: LentConnection) -> None:
        """Give the attempt a connection with a stored credential. An earlier one is still redacted."""
        self._lent = (lent, *self._lent)
        if self._log is not None:
            self._log.clean_with(lent.redactor.json)

    @property
    def binding(self) -> HostBinding | None:
        """Return where the values of the stored credential may be sent, or `None` if the attempt has none."""
        return self._lent[0].binding if self._lent else None

    def scrub(self, outcome: Outcome) -> Outcome:
        """Return an outcome without the values of the stored credential. Tokens are redacted by no one else."""
        for lent in self._lent:
            outcome = redacted(outcome, lent.redactor)
        return outcome

    def begins(self) -> None:
        """Begin to count the time of the attempt."""
        self._is_waiting = False
        self._beat_at = self._loop.time()
        self._ends_at = None if self._limit is None else self._beat_at + self._limit
        if self._deadline is not None:
            self._deadline.reschedule(self._next_limit())

    def _next_limit(self) -> float | None:
        silent = None if self._silence is None else self._beat_at + self._silence
        return min((when for when in (self._ends_at, silent) if when is not None), default=None)

    def _timed_out(self) -> Fail:
        if self._limit is not None and self._ends_at is not None and self._ends_at <= self._loop.time():
            return failure_of(TimeLimit(self._limit))
        message = f"the step sent no heartbeat within {self._silence:g} s"
        return Fail(StepError("heartbeat_timeout", message), timed_out=True)

    def _with_detail(self, outcome: Outcome) -> Outcome:
        """Return a failure with the last detail of the attempt, or of the one before it."""
        if not isinstance(outcome, Fail):
            return outcome
        detail = None if self.context is None else self.context.heartbeat_detail
        if self._detail is not None:
            detail = msgspec.json.decode(self._detail)
        if detail is None:
            return outcome
        error = outcome.error
        known = error.detail if isinstance(error.detail, dict) else {}
        whole = StepError(error.code, error.message, {**known, HEARTBEAT: detail})
        return msgspec.structs.replace(outcome, error=whole)

    # -- the port of its context

    def log(self, level: str, message: str, facts: dict[str, Any]) -> None:
        for redactor in self._redactors():
            message, facts = redactor.text(message), redactor.value(facts)
        if self._log is not None:
            self._log.write(LEVELS[level], _LOGGER, message, facts)
        said = {**self._where, "level": level, "message": message, "facts": facts}
        self._on_loop(lambda: emit("action.logged", **said))

    def progress(self, fraction: float, text: str) -> None:
        for redactor in self._redactors():
            text = redactor.text(text)
        if self._log is not None:
            self._log.progress(fraction, text)
        said = {**self._where, "fraction": fraction, "text": text}
        self._on_loop(lambda: emit("step.progress", **said))

    def beat(self, detail: bytes | None) -> None:
        self._on_loop(lambda: self._beaten(detail))

    def is_cancelled(self) -> bool:
        return self._is_over

    def connection(self, name: str) -> NamedConnection:
        if self._lent and self._lent[0].connection.name == name:
            return self._lent[0].connection
        return self._services.connection(name, tenant=self.tenant, connector=self._connector)

    def secret(self, name: str) -> str:
        return self._secrets.read(name)

    async def secret_async(self, name: str) -> str:
        return await self._secrets.read_async(name)

    def _redactors(self) -> list[Redactor]:
        secrets = self._services.secrets
        known = None if secrets is None else secrets.redactors.get(self.tenant)
        return [*([] if known is None else [known]), *(lent.redactor for lent in self._lent)]

    def http(self) -> GuardedHttp:
        if threading.get_ident() != self._thread:
            raise RuntimeError(_OFF_LOOP)
        return self._services.http(self.tenant, self.binding)

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._services.connect(self.tenant, host, port, timeout)

    def blobs(self) -> TenantBlobs:
        run = None if self._is_sensitive else self._run
        return TenantBlobs(self._services.blobs.use(), self.tenant, run, self._loop, self._thread)

    def _beaten(self, detail: bytes | None) -> None:
        if detail is not None:
            self._detail = detail
        self._beat_at = self._loop.time()
        if self._silence is not None and self._deadline is not None:
            with suppress(RuntimeError):  # it has expired
                self._deadline.reschedule(self._next_limit())

    def _on_loop(self, report: Callable[[], None]) -> None:
        """Report on the loop, where listeners and limits are. Do nothing when the attempt is over."""
        if self._is_over:
            return
        if threading.get_ident() == self._thread:
            report()
        else:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(report)
