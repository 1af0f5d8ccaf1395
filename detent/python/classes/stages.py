"""The stages of one attempt in their order: hero, cancel_if, skip_if, before_step_starts, body.

The stages are a generator. It yields each awaitable with the number of the stage that follows, and is resumed with the
result. The driver decides whether to resume it in a thread or on the loop. The generator never raises: an error is the
step's exception, and the step's policy turns it into an outcome.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, Protocol

import msgspec

from detent.python.classes.attempt import ClassAttempt
from detent.python.flow import FinishAsked, RunAsked, outcome_of
from detent.python.hero_adapters import SqlAlchemyModel, UnreadableHero, owner_of
from detent.python.heroes import HeroRef, Loader
from detent.run.call import StepCall
from detent.run.links import Linked, collected
from detent.run.outcomes import Cancel, Done, Finish, Outcome, Pause, Skip, StepError
from detent.steps.errors import code_of
from detent.steps.links import without_links
from detent.steps.user_code import TimeLimit, describe, exception_detail

Awaited = tuple[Awaitable[Any], int]
Sequence = Generator[Awaited, Any, Outcome]


class StepTransactions(Protocol):
    """Runs the body of a transactional step inside the user's own database transaction and stores its result there.

    If an earlier attempt stored a result, that result is returned and the body does not run.
    """

    def run_once(self, call: StepCall, generation: int, body: Callable[[Any], bytes]) -> bytes:
        """Run a plain function. `body` takes the session."""

    async def run_once_async(self, call: StepCall, generation: int, body: Callable[[Any], Awaitable[bytes]]) -> bytes:
        """Run a coroutine. `body` takes the session."""


def sequence(attempt: ClassAttempt, load: Loader | None, transactions: StepTransactions | None) -> Sequence:
    """Run all stages of one attempt and return its outcome."""
    try:
        outcome = yield from _stages(attempt, load, transactions)
    except BaseException as error:  # noqa: BLE001 - nothing that a step does may end the node
        # A request of the step counts, whatever it raises after it.
        outcome = failed(attempt, _raised(error)) if attempt.asked is None else None
    if outcome is None:
        outcome = _asked(attempt)
    attempt.is_over = True
    return outcome


def _stages(
    attempt: ClassAttempt, load: Loader | None, transactions: StepTransactions | None
) -> Generator[Awaited, Any, Outcome | None]:
    """Return the outcome, or None if the step asked for one itself."""
    compiled, step = attempt.compiled, attempt.step
    workflow = compiled.target()
    workflow._attempt = attempt  # noqa: SLF001 - they belong together
    if attempt.view.facts.hero is not None:
        yield from _find_hero(attempt, attempt.view.facts.hero, load)
        if attempt.hero is None and not compiled.may_proceed_without_hero:
            return Cancel("its hero is gone")
    if step.is_checked:
        found = yield from _checks(attempt, workflow)
        if found is not None or attempt.asked is not None:
            return found
    number = len(step.cancel_if) + (step.skip_if is not None)
    if step.before is not None:
        number += 1
        waited = step.before.call(workflow, step.name)
        if is_awaitable(waited):
            yield waited, number
        if attempt.asked is not None:
            return None
    if step.is_transactional:
        return (yield from _transactional(attempt, workflow, transactions, number + 1, owner_of(load)))
    output = step.body.call(workflow)
    if is_awaitable(output):
        output = yield output, number + 1
    if attempt.asked is not None:
        return None
    if type(output) is Linked:
        return Done(attempt.result(output.output), collected(output.links))
    return Done(attempt.result(output))


def _find_hero(attempt: ClassAttempt, known: tuple[str, str], load: Loader | None) -> Generator[Awaited, Any, None]:
    if load is None:
        attempt.hero = HeroRef(*known)
        return
    hero = load(known[1])
    attempt.hero = (yield hero, 0) if is_awaitable(hero) else hero


def _checks(attempt: ClassAttempt, workflow: Any) -> Generator[Awaited, Any, Outcome | None]:
    """Return the outcome of the first condition that holds. Return None if none holds, or if one made a request."""
    step, number = attempt.step, 0
    for stage in step.cancel_if:
        number += 1
        holds = stage.call(workflow)
        if is_awaitable(holds):
            holds = yield holds, number
        if attempt.asked is not None:
            return None
        if holds:
            return Cancel(f"cancel_if {stage.name!r}")
    if step.always_skipped:
        return _skipped(attempt)
    if step.skip_if is not None:
        holds = step.skip_if.call(workflow)
        if is_awaitable(holds):
            holds = yield holds, number + 1
        if holds and attempt.asked is None:
            return _skipped(attempt)
    return None


def _transactional(
    attempt: ClassAttempt,
    workflow: Any,
    transactions: StepTransactions | None,
    number: int,
    model: SqlAlchemyModel | None,
) -> Generator[Awaited, Any, Outcome | None]:
    """Run the body and store its result in one transaction of the user's. A request of the body rolls it back.

    A hero from the same database is loaded again in this session, so that the step's changes to it are committed too.
    """
    if transactions is None:
        raise RuntimeError("a transactional step needs a database: call detent.transactions(sessionmaker) first")
    step, guard, generation = attempt.step, attempt.guard, attempt.view.generation
    body, call = step.body, msgspec.structs.replace(attempt.call, timeout=step.timeout)

    def run(session: Any) -> bytes:
        attempt.session = session
        if model is not None and attempt.hero is not None and model.is_at_home(session):
            _take(attempt, model.load_in(session, attempt.hero))
        output = body.call(workflow)
        _stop_if_asked(attempt)
        if guard is not None:
            guard.check()
        return attempt.clean(attempt.result(without_links(output)))

    async def run_async(session: Any) -> bytes:
        attempt.session = session
        if model is not None and attempt.hero is not None and model.is_at_home(session):
            _take(attempt, await model.load_in(session, attempt.hero))
        output = await body.call(workflow)
        _stop_if_asked(attempt)
        return attempt.clean(attempt.result(without_links(output)))

    if body.is_async:
        kept = yield transactions.run_once_async(call, generation, run_async), number
        return Done(kept)
    run_once = partial(transactions.run_once, call, generation, run)
    return Done(run_once() if guard is None else guard.hold(run_once))


def _take(attempt: ClassAttempt, hero: Any) -> None:
    """Use the hero as the transaction sees it. It may have been deleted since it was first loaded."""
    attempt.hero = hero
    if hero is None and not attempt.compiled.may_proceed_without_hero:
        attempt.asked = RunAsked(Cancel("its hero is gone"))
        raise attempt.asked


def _stop_if_asked(attempt: ClassAttempt) -> None:
    if attempt.asked is not None:
        raise attempt.asked


def _skipped(attempt: ClassAttempt) -> Skip:
    return Skip(result=attempt.result(None)) if attempt.touched_state else Skip()


def _asked(attempt: ClassAttempt) -> Outcome:
    """Return the outcome that the step asked for, with its state."""
    asked = attempt.asked
    if isinstance(asked, RunAsked):
        return asked.outcome
    try:
        if isinstance(asked, FinishAsked) and type(asked.result) is Linked:
            return Finish(attempt.result(asked.result.output), collected(asked.result.links))
        if isinstance(asked, FinishAsked):
            return Finish(attempt.result(asked.result))
        return _skipped(attempt)
    except BaseException as error:  # noqa: BLE001 - a result or state that cannot be stored
        return failed(attempt, error)


def _raised(error: BaseException) -> BaseException:
    """Return what the user's code raised. Python turns a StopIteration that leaves a generator or coroutine into a
    RuntimeError: undo that if the generator is ours, or the coroutine the step itself."""
    cause, trace = error.__cause__, error.__traceback__
    if type(error) is not RuntimeError or not isinstance(cause, StopIteration):
        return error
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    is_ours = trace is not None and trace.tb_frame.f_globals.get("__package__") == __package__
    return cause if is_ours else error


def failed(attempt: ClassAttempt, error: BaseException) -> Outcome:
    """Return the outcome of a step that raised this error, by its policies."""
    if issubclass(type(error), UnreadableHero):
        # No policy decides here: `cancel` would treat a hero as gone although only its id was unreadable.
        return Pause(str(error), error_of(error))
    if type(error) is TimeLimit:
        error = TimeoutError(*error.args)  # policies and people know this class
    where = f"step {attempt.step.name!r}"
    return outcome_of(attempt.step.policies, error, error_of(error), attempt=attempt.call.attempt, where=where)


def error_of(error: BaseException) -> StepError:
    """Return an exception as it is recorded."""
    return StepError(code_of(error), describe(error), exception_detail(error))


def is_awaitable(value: Any) -> bool:
    """Return whether a value is awaitable. A plain function may return a coroutine too."""
    return hasattr(type(value), "__await__")
