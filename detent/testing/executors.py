"""The executors of a test's node: the real executors, wrapped by the stage."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, cast

import msgspec

from detent.clock import Clock
from detent.graph.model import Ending, Step, StepKind
from detent.process import LOOPBACK
from detent.python.classes.executor import ClassExecutor
from detent.python.functions.executor import FunctionExecutor
from detent.python.transactions import Transactions, keeper
from detent.run.call import FunctionPort, StepCall
from detent.run.outcomes import EMPTY_RESULT, Outcome, StepError
from detent.run.start import StartRequest
from detent.run.state import Checkpoint
from detent.settings import Settings
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import registry
from detent.steps.alerts import AlertPort, with_alerts
from detent.steps.child_step import ChildExecutor
from detent.steps.egress import EgressPolicy
from detent.steps.http.client import ActionServices
from detent.steps.http.step import HttpExecutor, HttpSettings
from detent.steps.links import Reservations
from detent.steps.output import encode_output
from detent.steps.protocol import Needs, StepExecutor
from detent.steps.templates.action import TemplatePort, core_actions
from detent.steps.user_code import failure_of
from detent.testing.answers import Output, StepRequest, value_of
from detent.testing.ids import WISHED, id_of_child
from detent.testing.python_stage import StagedBodies, StagedRegistry
from detent.testing.stage import AnsweredChildren, Counted, SameThread, Stage, Staged, is_dead
from detent.testing.store import for_ever
from detent.vault.secrets import SecretOpener

# The children of durable functions: the id of a child is derived from its parent, and an answer can replace the child.


class WithChildren:
    """The executor of durable functions. A test can answer for their children."""

    kind: ClassVar[StepKind] = StepKind.FUNCTION

    def __init__(self, inner: FunctionExecutor, stage: Stage) -> None:
        self._inner, self._stage = inner, stage

    def needs(self, step: Step) -> Needs:
        return self._inner.needs(step)

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        view = call.view
        if view is not None and view.port is not None:
            port = _Port(view.port, call.run_id, self._stage)
            call = msgspec.structs.replace(call, view=msgspec.structs.replace(view, port=port))
        return self._inner.begin(call)

    async def close(self) -> None:
        await self._inner.close()


class _Port:
    """The port of a function. It does not start a child that has an answer."""

    def __init__(self, inner: FunctionPort, run: bytes, stage: Stage) -> None:
        self._inner, self._run, self._stage, self._answers = inner, run, stage, stage.answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def start_child(self, key: str, child: StartRequest) -> str:
        name = self._answers.name_for(key)
        if name is None:
            WISHED.set([id_of_child(self._run, key)])
            return await self._inner.start_child(key, child)
        await asyncio.sleep(self._stage.time_left(key))
        end = await self._end(key, StepRequest(name, 1, child.body))
        if is_dead():
            await for_ever()
        if end is not None:
            self._inner.end(end)
        return ""

    async def prepare_successor(self, request: StartRequest) -> str:
        WISHED.set([id_of_child(self._run, "@continue")])
        return await self._inner.prepare_successor(request)

    async def _end(self, key: str, asked: StepRequest) -> Checkpoint | None:
        """Return the end of a child that has an answer, or None if the child never ends."""
        now, given = self._inner.now(), None
        try:
            given = self._answers.of(asked)
            given = await given if inspect.isawaitable(given) else given
            result = encode_output(value_of(given))
        except Exception as error:  # noqa: BLE001 - an answer that raises is a child that fails
            ending = Ending.FAILED
            if self._answers.silence(key) is not None:
                if not str(error):
                    return None
                ending = Ending.TIMEOUT
            return Checkpoint(key, ending, EMPTY_RESULT, failure_of(error).error, now)
        if isinstance(given, Output) and given.then == "cancel":
            called_off = StepError("child", given.reason or "the test cancels it")
            return Checkpoint(key, Ending.CANCELLED, EMPTY_RESULT, called_off, now)
        return Checkpoint(key, Ending.SUCCESS, result, None, now)


# Transactional steps with Detent's tables in memory: the user's transactions are real, the stored results are not.
#
# A result is stored after its transaction was committed, as in the user's own database, and it survives a crash.


class MemoryKeeper(Transactions):
    """Stores results of transactional steps in memory. It uses the session factories of `detent.transactions`."""

    def __init__(self, kept: dict[tuple[bytes, str], bytes]) -> None:
        vars(self).update(vars(keeper))
        self._kept = kept

    def run_once(self, call: StepCall, generation: int, body: Callable[[object], bytes]) -> bytes:
        if self._blocking is None:
            return super().run_once(call, generation, body)  # raises an error that names the missing factory
        key = (call.run_id, call.step)
        if key not in self._kept:
            with self._blocking() as session, session.begin():
                result = body(session)
            self._kept[key] = result
        return self._kept[key]

    async def run_once_async(
        self, call: StepCall, generation: int, body: Callable[[object], Awaitable[bytes]]
    ) -> bytes:
        if self._awaited is None:
            return await super().run_once_async(call, generation, body)
        key = (call.run_id, call.step)
        if key not in self._kept:
            async with self._awaited() as session, session.begin():
                result = await body(session)
            self._kept[key] = result
        return self._kept[key]


def executors(
    stage: Stage,
    settings: Settings,
    clock: Clock,
    initial_state: Any,
    kept: dict[tuple[bytes, str], bytes],
    *,
    reservations: Reservations,
    secrets: SecretOpener,
    strict: bool = False,
) -> Mapping[StepKind, StepExecutor]:
    """Return an executor for each kind of step. Steps may call this machine.

    `kept` has the results of transactional steps. If `strict`, durable functions must do the same in every replay.
    """
    policy, pool = _policy(settings.egress_allow), SameThread()
    http = HttpSettings(ca_file=Path(settings.ca_file) if settings.ca_file else None)
    whole: list[StepExecutor] = [
        HttpExecutor(policy, http, wall=clock.wall),
        ActionExecutor(
            registry,
            pool=pool,
            core=with_alerts(core_actions(TemplatePort()), AlertPort()),
            reservations=reservations,
            services=ActionServices(secrets=secrets),
        ),
    ]
    staged, transactions = StagedRegistry(stage, initial_state), MemoryKeeper(kept)
    steps = StagedBodies(stage, pool, transactions, reservations, secrets)
    functions = FunctionExecutor(clock=clock, registry=staged, steps=steps, strict=strict)
    inside: list[StepExecutor] = [
        ClassExecutor(staged, pool=pool, now=clock.wall, transactions=transactions, secrets=secrets),
        WithChildren(functions, stage),
    ]
    made: dict[StepKind, Any] = {one.kind: Staged(one, stage) for one in whole}
    made |= {one.kind: Counted(one, stage) for one in inside}
    made[ChildExecutor.kind] = AnsweredChildren(ChildExecutor(), stage)
    return cast(Mapping[StepKind, StepExecutor], made)


@cache
def _policy(allowed: tuple[str, ...]) -> EgressPolicy:
    return EgressPolicy.from_texts((*allowed, *LOOPBACK), [])
