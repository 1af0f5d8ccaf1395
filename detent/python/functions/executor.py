"""The executor of durable functions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, ClassVar, Final

import msgspec

from detent.clock import Clock
from detent.errors import DetentError, InvalidInput, StoreError, Unavailable
from detent.forms.names import read_name
from detent.graph.model import Step, StepKind
from detent.observe import emit
from detent.python.flow import FinishAsked, RunAsked, outcome_of
from detent.python.functions.arguments import kept
from detent.python.functions.driver import FunctionDriver
from detent.python.functions.errors import ChildFailed, ContinueAsNew
from detent.python.functions.loop import FunctionTask
from detent.python.functions.operations import Pending
from detent.python.functions.run import Bind, Run
from detent.python.functions.runner import CHILD_AGAIN
from detent.python.functions.step_runner import StepRunner
from detent.python.functions.workflow import FunctionWorkflow
from detent.python.heroes import Heroes
from detent.python.heroes import heroes as all_heroes
from detent.python.registry import PythonRegistry, code_name
from detent.python.registry import registry as all_workflows
from detent.python.settings import DriftPolicy
from detent.run.call import FunctionPort, RunView, StepCall
from detent.run.outcomes import Continued, Done, Fail, Outcome, Pause, Skip, StepError, Suspend
from detent.run.start import StartRequest
from detent.steps.errors import InvalidParameters, Permanent
from detent.steps.links import done_with
from detent.steps.logs.attempt_log import AttemptLog, current_log
from detent.steps.output import encode_output
from detent.steps.protocol import Needs
from detent.steps.user_code import error_message, exception_detail, failure_of
from detent.tenants.limits import INSTALLATION
from detent.tenants.registry import NOT_ALLOWED, UNCONFINED, TenantRegistry
from detent.values.fields import Fields, Problems

# A durable function starts another run, or itself again, with the name of a workflow and its arguments.
#
# Both are checked at the call in the function, with the rules of every other start.


def binder(own: FunctionWorkflow) -> Bind:
    """Return the function that binds arguments to a workflow; None means `own`. It raises InvalidInput."""

    def bind(workflow: Any, *args: Any, **kwargs: Any) -> tuple[str, Any]:
        workflow = own if workflow is None else workflow
        if isinstance(workflow, FunctionWorkflow):
            return workflow.name, workflow.body_of(*args, **kwargs)
        if len(args) > 1 or (args and kwargs):
            raise InvalidInput("a workflow that is not a durable function takes one input")
        name = _name(workflow)
        return name, kept(args[0] if args else kwargs or None, f"the input of {name!r}")

    return bind


def _name(workflow: Any) -> str:
    name = workflow if isinstance(workflow, str) else getattr(workflow, "name", None)
    if not isinstance(name, str):
        raise InvalidInput(f"run.child takes a workflow or its name, not {type(workflow).__name__}")
    problems = Problems()
    read_name(Fields({"name": name}, "", problems))
    if problems.found:
        rule = "1 to 200 visible characters, no slash, no blank at its ends"
        raise InvalidInput(f"run.child: {name[:80]!r} cannot be the name of a workflow: {rule}", problems.found)
    return name


_decode: Final = msgspec.json.Decoder().decode
_NEEDS: Final = Needs.VIEW | Needs.PORT


class FunctionExecutor:
    """Runs durable functions of a registry. If `strict`, all of them run with drift="strict"."""

    kind: ClassVar[StepKind] = StepKind.FUNCTION

    def __init__(
        self,
        *,
        clock: Clock,
        registry: PythonRegistry = all_workflows,
        heroes: Heroes = all_heroes,
        steps: StepRunner | None = None,
        strict: bool = False,
        tenants: TenantRegistry = UNCONFINED,
    ) -> None:
        self._tenants = tenants
        self._clock, self._registry, self._heroes = clock, registry, heroes
        self._steps = steps or StepRunner()
        self._is_strict = strict

    def needs(self, step: Step) -> Needs:
        return _NEEDS

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        name = call.parameters["workflow"]
        if (call.tenant != INSTALLATION or self._tenants.confines_default) and (
            refused := self._tenants.refusal(call.tenant, code_name(name))
        ):
            return Fail(StepError(NOT_ALLOWED, refused), retry=False)
        found = self._registry.find(name)
        if found is None or call.view is None:
            return Pause(f"this node has no durable function {name!r}")
        if not isinstance(found.target, FunctionWorkflow):
            return Pause(f"{name!r} is a class now, and this run is of a durable function")
        try:
            body = _decode(call.view.facts.input).get("body")
            arguments = found.target.arguments.of_body(body)
        except InvalidParameters as error:
            return _misfit(call, call.view, found.fingerprint, StepError("invalid_parameters", str(error)))
        return self._run(call, call.view, found.target, body, arguments)

    async def close(self) -> None:
        """End the threads."""
        self._steps.close()

    async def _run(
        self, call: StepCall, view: RunView, function: FunctionWorkflow, body: Any, arguments: Mapping[str, Any]
    ) -> Outcome:
        assert view.port is not None
        attempt = _Attempt(call, function)
        log = current_log.get()
        driver = FunctionDriver(
            view.port,
            view.facts,
            self._steps,
            attempt.outcome,
            monotonic=self._clock.monotonic,
            strict=self._is_strict or call.parameters.get("drift") == DriftPolicy.STRICT,
            generation=view.generation,
            log=log if isinstance(log, AttemptLog) else None,
        )
        attempt.run = Run(driver, call, body, self._heroes.ref)
        attempt.run.bind = binder(function)
        driver.start(attempt.program(driver, arguments))
        try:
            outcome = await driver.outcome
            await driver.unlocked()
            if attempt.continues_as is not None and isinstance(outcome, Done):
                return await attempt.continued(driver, view.port, attempt.continues_as)
            return outcome
        finally:
            driver.close()
            del attempt.run  # a reference cycle, which only the garbage collector would free


class _Attempt:
    """One attempt of a function, and the outcome it ends with."""

    run: Run

    def __init__(self, call: StepCall, function: FunctionWorkflow) -> None:
        self._call, self._function = call, function
        self.continues_as: StartRequest | None = None  # the successor of this run

    async def program(self, driver: FunctionDriver, arguments: Mapping[str, Any]) -> Any:
        """Run the function. If it asked to continue as new, that counts, even if it then caught the exception."""
        run = self.run
        try:
            given = await self._function.function(run, **arguments)
        except ContinueAsNew:
            given = None
        if isinstance(given, Pending):
            raise TypeError(f"the function returns {given.call} and not its value: `return await {given.call}`")
        if run.unwanted:
            emit("function.not_awaited", run=driver.facts.id, operations=[one.call for one in run.unwanted.values()])
        if run.continued is None or run.asked is not None:
            return given
        self.continues_as = StartRequest(self._function.name, run.continued.body, driver.facts.hero)
        return None

    async def continued(self, driver: FunctionDriver, port: FunctionPort, child: StartRequest) -> Outcome:
        """Prepare the successor. This is not journalled: after a crash it is done again."""
        while not port.must_stop():
            try:
                successor = await port.prepare_successor(child)
            except (Unavailable, StoreError):
                await asyncio.sleep(CHILD_AGAIN)
            except DetentError as error:
                return self._failed(ChildFailed("continue_as_new", StepError(error.code, error.message)))
            else:
                return Continued(encode_output({"continued_as": successor}), taken=driver.log.signals_taken())
        return Suspend(port.now(), len(driver.log.records))

    def outcome(self, ended: FunctionTask) -> Outcome:
        """Return the outcome for the end of the function. A request counts, even if the function went on after it."""
        asked = self.run.asked
        if isinstance(asked, RunAsked):
            return asked.outcome
        if isinstance(asked, FinishAsked):
            return self._given(asked.result)
        if asked is not None:
            return Skip()
        error = None if ended.cancelled() else ended.exception()
        if ended.cancelled():
            return self._failed(RuntimeError("the function cancelled itself"))
        return self._given(ended.result()) if error is None else self._failed(error)

    def _given(self, value: Any) -> Outcome:
        try:
            return done_with(value)
        except Exception as error:  # noqa: BLE001 - encoding runs code of the user's value, which may raise anything
            return self._failed(error)

    def _failed(self, error: BaseException) -> Outcome:
        if issubclass(type(error), TimeoutError) and not error_message(error):
            error = TimeoutError("an asyncio.timeout of the function ran out").with_traceback(error.__traceback__)
        fail = failure_of(error)
        if self._function.fails or issubclass(type(error), Permanent):
            return Fail(fail.error, retry=False)
        kept = fail.error
        if kept.detail is None:
            kept = StepError(kept.code, kept.message, exception_detail(error))
        where = f"function {self._function.name!r}"
        return outcome_of(
            self._function.settings.policies, error, kept, attempt=self._call.attempt, where=where
        )  # fmt: skip


def _misfit(call: StepCall, view: RunView, fingerprint: str, error: StepError) -> Outcome:
    """Return the outcome of a run whose body does not fit its function.

    If the code has changed since the start, or the run has records, fixed code can continue it: pause. Otherwise the
    body never fitted: fail.
    """
    assert view.port is not None
    was_changed = call.parameters.get("fingerprint") != fingerprint
    if was_changed or view.port.history() or view.port.operations():
        return Pause("its function takes other arguments now", error)
    return Fail(error, retry=False)
