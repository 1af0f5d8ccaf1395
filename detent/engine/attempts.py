"""Attempts in flight: a limited number at once, each within its time limit.

The same code runs every kind of step: the executor declares what its step needs (`Needs`), and the engine provides it.
Every attempt ends as an outcome, also if its executor raises.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from types import CoroutineType
from typing import Any, Final

import msgspec

from detent.blobs.contents import parts_of
from detent.clock import Clock
from detent.engine.children.family import Children, StepChild
from detent.engine.children.maps import MapWork
from detent.engine.context import Executors
from detent.engine.owned_run import OwnedRun
from detent.engine.records.logs import StepLogs
from detent.errors import CannotOpen, NoEncryptionKey, StoreError, TooLarge
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.planner.calls import build_view, make_call
from detent.run.call import FunctionPort, RunView, StepCall
from detent.run.outcomes import Done, Fail, Finish, Outcome, Skip, StepError
from detent.run.plan import StartAttempt
from detent.steps.logs.attempt_log import AttemptLog, current_log
from detent.steps.protocol import Needs, StepExecutor
from detent.steps.secret_calls import fetched_texts, redacted, run_with_secrets, sealed_outcome, without_fetched
from detent.steps.user_code import describe, failure_of, run_on_loop
from detent.values.blob import MARK
from detent.vault.redaction import Redactor

Work = Coroutine[Any, Any, Outcome]
_OUTPUT: Final = b'{"output":'
_encode: Final = msgspec.json.Encoder().encode
#: Seconds between two attempts to read a blob while its place does not answer.
_PAUSE: Final = 0.5
_SENSITIVE_BLOB: Final = (
    "a sensitive step cannot return a blob: its result is sealed, and the blob is not; return a smaller result"
)


class Attempts:
    """The attempts of one node: those in flight, and those that wait for a free slot.

    `ended` is called with the outcome of each attempt.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        slots: int,
        executors: Executors,
        may_begin: Callable[[OwnedRun, StartAttempt], bool],
        has_room: Callable[[], bool],
        ended: Callable[[OwnedRun, int, int, Outcome, float], None],
        port_of: Callable[[OwnedRun], FunctionPort],
        unlock: Callable[[OwnedRun], None],
        children: Children,
        logs: StepLogs,
    ) -> None:
        self._clock, self._slots, self._executors = clock, slots, executors.kinds
        self._secrets, self._redactors = executors.secrets, executors.secrets.redactors
        self._contents = executors.contents
        self._may_begin, self._has_room, self._ended = may_begin, has_room, ended
        self._port_of, self._unlock, self._children = port_of, unlock, children
        self._maps = MapWork(children, self._contents, self._redactors)
        self._logs = logs
        self._waiting: dict[OwnedRun, deque[StartAttempt]] = {}
        self.in_flight = 0

    def admit(self, run: OwnedRun, start: StartAttempt) -> None:
        """Start an attempt if a slot is free, otherwise queue it. The caller has checked that it may start."""
        if self._is_free():
            self._begin(run, start)
        else:
            self._waiting.setdefault(run, deque()).append(start)

    def begin_alone(self, run: OwnedRun, start: StartAttempt, over: Callable[[], None]) -> None:
        """Begin the attempt of a suspect run, even if no slot is free: its start is journalled, so it must not wait.

        Call `over` when the attempt is no longer in flight and its outcome has been handled.
        """
        self._begin(run, start, over)
        if start.step not in run.attempts:
            over()

    def let_waiting_in(self) -> None:
        """Start waiting attempts while slots are free. Take one step of each run in turn, so that a wide run leaves
        slots for the others."""
        while self._waiting and self._is_free():
            run = next(iter(self._waiting))
            starts = self._waiting.pop(run)
            start = starts.popleft()
            if run.gone:
                continue
            if starts:
                self._waiting[run] = starts
            if self._may_begin(run, start):
                self._begin(run, start)

    def forget_waiting(self) -> None:
        """Drop all waiting attempts."""
        self._waiting.clear()

    def stop(self, run: OwnedRun) -> None:
        """Cancel the attempts of a run that are in flight. Their outcomes are ignored."""
        for attempt in list(run.attempts.values()):
            attempt.cancel()

    def stop_one(self, run: OwnedRun, step: int) -> None:
        """Cancel the attempt of one step."""
        attempt = run.attempts.pop(step, None)
        if attempt is not None:
            attempt.cancel()

    def _is_free(self) -> bool:
        return self.in_flight < self._slots and self._has_room()

    def _begin(self, run: OwnedRun, start: StartAttempt, over: Callable[[], None] | None = None) -> None:
        step, number, begun = start.step, start.attempt, self._clock.monotonic()
        prepared, state = run.prepared, run.state
        if prepared.steps[step].items is not None:
            self._launch(run, step, number, self._maps.attempt(run, step), None, begun, over=over)
            return
        called = prepared.graph.steps[step]
        if state.probes and step in state.probes:
            called = prepared.steps[step].asks or called
        try:
            executor = self._executors[prepared.steps[step].kind]
            needs = executor.needs(called)
        except Exception as error:  # noqa: BLE001 - a missing or raising executor fails the attempt
            self._report(run, step, number, failure_of(error), begun)
            return
        view = self._view(run, step, needs) if needs.has_view else None
        call = make_call(prepared, state, step, view, number)
        if isinstance(call, Fail):
            self._report(run, step, number, call, begun)
            return
        reach("before_effect")
        names = prepared.steps[step].secrets
        log = token = None
        if not needs.has_silence:
            log = AttemptLog(self._logs, run.id, call.tenant, call.step, number)
            if prepared.is_sensitive:
                self._shield(log, run, step)
            token = current_log.set(log)
        try:
            work = run_with_secrets(self._secrets, executor, call, names) if names else _ask(executor, call)
            # Check for a coroutine first: it is the common case and the cheap check. `Outcome` is a union of classes.
            if isinstance(work, CoroutineType) or not isinstance(work, Outcome):
                timeout = None if needs.has_own_limit else call.timeout
                self._launch(run, step, number, work, timeout, begun, is_locking=needs.has_row_lock, over=over, log=log)
                return
        finally:
            if token is not None:
                current_log.reset(token)
        if log is not None:
            log.end()
        if _has_blobs(work):
            self._launch(run, step, number, self._settle_blobs(run, work), None, begun, over=over, is_read=True)
        else:
            self._report(run, step, number, work, begun)

    def _shield(self, log: AttemptLog, run: OwnedRun, step: int) -> None:
        """Keep the results of sensitive steps out of a log. The step itself logs nothing that is stored."""
        log.is_muted = run.prepared.steps[step].sensitive
        log.texts = lambda: Redactor(fetched_texts(_fetched(run, None))).json

    def _launch(
        self,
        run: OwnedRun,
        step: int,
        number: int,
        work: Work,
        timeout: float | None,
        begun: float,
        *,
        is_locking: bool = False,
        over: Callable[[], None] | None,
        log: AttemptLog | None = None,
        is_read: bool = False,
    ) -> None:
        self.in_flight += 1
        if is_locking:
            run.locks += 1
        attempt = asyncio.get_running_loop().create_task(run_attempt(work, timeout))
        run.attempts[step] = attempt
        attempt.add_done_callback(
            lambda done: self._done(done, run, step, number, work, begun, is_locking, over, log, is_read=is_read)
        )

    def _view(self, run: OwnedRun, step: int, needs: Needs) -> RunView:
        if needs.has_port or needs.has_child:
            port = self._port_of(run) if needs.has_port else None
            child = StepChild(self._children, run, step) if needs.has_child else None
            return build_view(run.prepared, run.state, run.generation, port, child)
        if run.view is None:
            run.view = build_view(run.prepared, run.state, run.generation)
        return run.view

    def _done(
        self,
        attempt: asyncio.Task[Outcome],
        run: OwnedRun,
        step: int,
        number: int,
        work: Work,
        begun: float,
        is_locking: bool,
        over: Callable[[], None] | None,
        log: AttemptLog | None,
        *,
        is_read: bool,
    ) -> None:
        # This is not in the task itself: a task that is cancelled before it begins never runs any of its code.
        self.in_flight -= 1
        if log is not None:
            log.end()
        if run.moved_as is not None:
            run, step = run.current(step)
        is_wanted = run.attempts.get(step) is attempt
        if is_wanted:
            del run.attempts[step]
        if attempt.cancelled():
            work.close()
        elif is_wanted:
            outcome = attempt.result()
            if not is_read and _has_blobs(outcome):
                if is_locking:
                    self._unlock(run)
                work = self._settle_blobs(run, outcome)
                self._launch(run, step, number, work, None, begun, over=over, is_read=True)
                return
            self._report(run, step, number, outcome, begun)
        if is_locking:
            self._unlock(run)
        if over is not None:
            over()
        self.let_waiting_in()

    async def _settle_blobs(self, run: OwnedRun, outcome: Outcome) -> Outcome:
        """Make a blob of a large output, and read the blobs that the outcome names."""
        if isinstance(outcome, Fail) and outcome.large is not None:
            outcome = await self._store_large(run, outcome, outcome.large)
        return await self._read_blobs(run, outcome) if MARK in outcome.result else outcome  # type: ignore[union-attr]

    async def _store_large(self, run: OwnedRun, fail: Fail, large: Done) -> Done | Fail:
        """Return the outcome of an action whose output is a blob now, or its failure if that cannot be."""
        tenant = run.state.facts.tenant
        if run.prepared.is_sensitive:
            return fail
        redactor = self._redactors.get(tenant)
        clean = redacted(large, redactor) if redactor is not None else large
        while True:
            try:
                blob = await self._contents.save(tenant, run.id, parts_of(clean.result[len(_OUTPUT) : -1]))  # type: ignore[union-attr]
            except TooLarge as error:
                return Fail(StepError(fail.error.code, error.message), retry=False)
            except StoreError:
                await asyncio.sleep(_PAUSE)
            except Exception as error:  # noqa: BLE001 - the effect has happened: it must not be tried again
                emit("engine.error", where="content of blobs", run=run.id, error=describe(error))
                return fail
            else:
                return msgspec.structs.replace(large, result=_OUTPUT + _encode(blob.document()) + b"}")

    async def _read_blobs(self, run: OwnedRun, outcome: Outcome) -> Outcome:
        """Read the blobs that an outcome names, as far as later expressions may read inside. Return the outcome."""
        assert isinstance(outcome, Done | Fail)
        while True:
            try:
                await self._contents.add(run.reader(), run.state, [outcome.result])
            except StoreError:
                await asyncio.sleep(_PAUSE)
            except Exception as error:  # noqa: BLE001 - the effect has happened: it must not count as failed
                emit("engine.error", where="content of blobs", run=run.id, error=describe(error))
                return outcome
            else:
                if run.moved_as is None:
                    return outcome
                run = run.moved_as[0]  # it was moved meanwhile, and has another state

    def _report(self, run: OwnedRun, step: int, number: int, outcome: Outcome, begun: float) -> None:
        reach("after_effect")
        if self._redactors and (redactor := self._redactors.get(run.state.facts.tenant)) is not None:
            outcome = redacted(outcome, redactor)
        if run.prepared.is_sensitive:
            outcome = without_fetched(outcome, _fetched(run, outcome if run.prepared.steps[step].sensitive else None))
        if run.prepared.steps[step].sensitive:
            if isinstance(outcome, Done | Finish) and MARK in outcome.result:
                outcome = Fail(StepError("sensitive_blob", _SENSITIVE_BLOB), retry=False)
            outcome = sealed_outcome(self._secrets, run.state.facts.tenant, outcome)
        self._ended(run, step, number, outcome, round((self._clock.monotonic() - begun) * 1000, 2))


def _fetched(run: OwnedRun, own: Outcome | None) -> Iterator[bytes]:
    """Yield the results of the sensitive steps of a run, and that of a sensitive step that ends now."""
    state, unseal = run.state, run.state.facts.unseal
    if unseal is not None:
        for index, one in enumerate(run.prepared.steps):
            if one.sensitive and index in state.results:
                with suppress(CannotOpen, NoEncryptionKey):  # then no step could read it either
                    yield unseal(state.results[index])
    if isinstance(own, Done | Fail | Skip | Finish):
        yield own.result


def _has_blobs(outcome: Outcome) -> bool:
    """Return whether an outcome names blobs that later steps may read, or has an output that becomes one."""
    if type(outcome) is Done:
        return outcome.result.find(MARK) >= 0
    return type(outcome) is Fail and (outcome.large is not None or MARK in outcome.result)


def run_attempt(work: Work, timeout: float | None) -> Work:
    """Await the work of an executor within its time limit and return its outcome. An exception becomes a `Fail`."""
    return run_on_loop(lambda: work, _failed, limit=timeout)


def _ask(executor: StepExecutor, call: StepCall) -> Outcome | Work:
    try:
        return executor.begin(call)
    except BaseException as error:  # noqa: BLE001 - an executor must not raise; if it does, the attempt has failed
        return _failed(error)


def _failed(error: BaseException) -> Outcome:
    if isinstance(error, KeyboardInterrupt):
        raise error
    return failure_of(error)
