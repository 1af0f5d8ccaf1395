"""The executor of action steps: calls a registered function and returns its outcome."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, ClassVar, Final, Protocol

from detent.catalog.connections import connection_of
from detent.catalog.parameters import schema_problems
from detent.graph.model import Step, StepKind
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.steps.actions import CORE, PROCESSES, Action, Registry
from detent.steps.actions import registry as default_registry
from detent.steps.arguments import did_you_mean
from detent.steps.credentials.action_connections import ActionCredentials
from detent.steps.credentials.keeper import NO_CREDENTIALS
from detent.steps.errors import InvalidParameters, Succeeded
from detent.steps.http.client import ActionServices
from detent.steps.isolation.processes import Processes
from detent.steps.links import Links, Reservations
from detent.steps.live_attempt import LiveAttempt
from detent.steps.output import encode_output
from detent.steps.protocol import Needs
from detent.steps.results import outcome_of, outcome_of_error
from detent.steps.user_code import ThreadPool, failure_of, run_on_loop
from detent.tenants.limits import INSTALLATION
from detent.tenants.registry import NOT_ALLOWED, UNCONFINED, TenantRegistry

_NOTHING: Final = Needs.NOTHING
_SILENCE: Final = Needs.SILENCE
MISFIT: Final = "invalid_parameters"
#: How long the process of an action may run if neither its step nor itself has a time limit.
PROCESS_SECONDS: Final = 600.0


class DataActions(Protocol):
    """Runs the actions of the catalog that are data."""

    def begin(self, call: StepCall) -> Coroutine[Any, Any, Outcome]:
        """Run one attempt. Every failure is a Fail."""


class ActionExecutor:
    """Calls the actions of a registry, the core ones, and with `data` those of the catalog that are data.

    Plain functions run in the threads of `pool`.

    A plain function cannot be stopped: after its time limit the attempt has timed out, its late result is ignored, and
    its thread is in use until it returns. Without `processes`, as in tests, isolated actions run as the others do.
    """

    kind: ClassVar[StepKind] = StepKind.ACTION

    def __init__(
        self,
        registry: Registry = default_registry,
        *,
        pool: ThreadPool | None = None,
        data: DataActions | None = None,
        core: Registry = CORE,
        reservations: Reservations | None = None,
        services: ActionServices | None = None,
        processes: Processes | None = None,
        tenants: TenantRegistry = UNCONFINED,
        credentials: ActionCredentials | None = None,
    ) -> None:
        self._registry = registry
        self._data = data
        self._core = core
        self._find_core = core.find
        self._find = registry.find
        self._pool = pool or ThreadPool()
        self._reservations = reservations
        self._services = services or ActionServices()
        self._processes = processes
        self._tenants = tenants
        self._credentials = credentials

    def needs(self, step: Step) -> Needs:
        config = step.config
        action = self._find_core(config["action"])
        if action is not None:
            return _SILENCE if action.needs is _NOTHING else action.needs
        if "version" in config:
            return Needs.VIEW
        action = self._find(config["action"])
        return _NOTHING if action is None else action.needs

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        parameters = call.parameters
        try:
            name = parameters["action"]
            action = self._find_core(name)
            if action is None:
                if "version" in parameters and self._data is not None:
                    return self._data.begin(call)
                action = self._find(name)
                if action is None:
                    return self._unknown(name)
                if (call.tenant != INSTALLATION or self._tenants.confines_default) and (
                    refused := self._tenants.refusal(call.tenant, action.name)
                ):
                    return Fail(StepError(NOT_ALLOWED, refused), retry=False)
            if action.needs is not _NOTHING:
                return self._begin_live(action, parameters.get("with"), call)
            arguments = action.bind(parameters.get("with"), None)
            if action.is_inline:
                value = action.function(**arguments)
                return Done(encode_output(value)) if type(value) is dict else outcome_of(value)
        except BaseException as error:  # noqa: BLE001 - nothing that an action raises may end the node
            return self._failure(parameters, error)
        if action.is_async:
            return run_on_loop(lambda: _await(action, arguments), outcome_of_error)
        return self._in_thread(action, arguments)

    async def close(self) -> None:
        """End the threads and close connections. A function that still runs ends with its thread."""
        self._pool.close()
        await self._services.close()
        if self._processes is not None:
            await self._processes.close()

    def _begin_live(self, action: Action, given: Any, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        """Begin an attempt that has a context or limits of its own."""
        usual = PROCESS_SECONDS if action.isolation in PROCESSES else None
        live = LiveAttempt(
            call,
            self._services,
            connector=action.described.connector,
            limit=_shortest(call.timeout, action.timeout) or usual,
            silence=action.heartbeat_timeout,
            has_context=bool(action.signature.context),
            reservations=self._reservations,
            is_waiting=self._processes is not None and action.isolation in PROCESSES,
        )
        if "credential" in call.parameters:
            return self._begin_authorized(action, given, live, call)
        if action.is_inline:
            try:
                return outcome_of(action.function(**action.bind(given, live.context)), live.links)
            except Succeeded as success:
                return outcome_of_error(success, live.links)
        return live.run(lambda: self._perform(action, given, live))

    async def _begin_authorized(self, action: Action, given: Any, live: LiveAttempt, call: StepCall) -> Outcome:
        """Run an attempt whose step names a stored credential. Nothing of it is in the outcome."""
        credentials = self._credentials
        if credentials is None:
            return Fail(StepError("missing_credential", NO_CREDENTIALS), retry=False)

        async def perform() -> Outcome:
            try:
                if action.is_inline:
                    return outcome_of(action.function(**action.bind(given, live.context)), live.links)
                return await self._perform(action, given, live)
            except Exception as error:  # noqa: BLE001 - nothing that an action raises may end the node
                return outcome_of_error(error, live.links)

        async def authorized() -> Outcome:
            name = connection_of(action.described.connector, given) or action.described.connector
            return await credentials.run(call, live.connection(name), live.lend, perform)

        return live.scrub(await live.run(authorized))

    async def _perform(self, action: Action, given: Any, live: LiveAttempt) -> Outcome:
        if self._processes is not None and action.isolation in PROCESSES:
            outcome = await self._processes.run(action, given, live, self._connections(action, given, live))
            is_misfit = isinstance(outcome, Fail) and outcome.error.code == MISFIT
            return with_problems(outcome, action, given) if is_misfit and isinstance(outcome, Fail) else outcome
        try:
            arguments = action.bind(given, live.context)
        except BaseException as error:  # noqa: BLE001 - as above
            return _failure(action, given, error)
        if action.is_async:
            return await _await(action, arguments, live.links)
        return await self._in_thread(action, arguments, live.links)

    def _connections(self, action: Action, given: Any, live: LiveAttempt) -> dict[str, dict[str, str]]:
        """Return the connections that the process of an action may know. Raise Permanent if the tenant may not use
        the one that its step names."""
        names = {action.described.connector}
        if "connection" in action.signature.named:
            names |= {name} if (name := connection_of(action.described.connector, given)) else set()
        return {name: dict(live.connection(name).parts) for name in names}

    async def _in_thread(self, action: Action, arguments: Mapping[str, Any], links: Links | None = None) -> Outcome:
        return await self._pool.submit(
            lambda: outcome_of(action.function(**arguments), links), lambda error: outcome_of_error(error, links)
        )

    def _failure(self, parameters: Any, error: BaseException) -> Outcome:
        """Return the outcome of an attempt that raised before it began, or inline."""
        if not isinstance(error, InvalidParameters):
            return outcome_of_error(error)
        name, given = parameters["action"], parameters.get("with")
        return _failure(self._find_core(name) or self._find(name), given, error)

    def _unknown(self, name: object) -> Fail:
        known = (*self._registry.names(), *self._core.names())
        hint = did_you_mean(name, known) if isinstance(name, str) else ""
        return Fail(StepError("unknown_action", f"there is no action {str(name)[:160]!r}{hint}"), retry=False)


def _shortest(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)


async def _await(action: Action, arguments: Mapping[str, Any], links: Links | None = None) -> Outcome:
    return outcome_of(await action.function(**arguments), links)


def _failure(action: Action | None, given: Any, error: BaseException) -> Outcome:
    """Return the outcome of an attempt that raised. Parameters that do not fit are listed with all their paths."""
    outcome = outcome_of_error(error)
    if action is not None and isinstance(outcome, Fail) and isinstance(error, InvalidParameters):
        return with_problems(outcome, action, given)
    return outcome


def with_problems(fail: Fail, action: Action, given: Any) -> Fail:
    """Return the failure of a `with` that does not fit, with every problem and its path."""
    try:
        found = schema_problems(action.facts, action.unwrapped({} if given is None else given), "with")
    except Exception as error:  # noqa: BLE001 - a description that cannot be built must not hide the failure
        return Fail(
            StepError(fail.error.code, f"{fail.error.message} ({failure_of(error).error.message})"), retry=False
        )
    if not found:
        return fail
    problems = [{"field": one.field, "message": one.message} for one in found]
    return Fail(StepError(fail.error.code, fail.error.message, {"problems": problems}), retry=False)
