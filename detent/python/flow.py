"""Flow control from inside a step.

Each verb raises, so that the code after it does not run. It raises a `BaseException`, which `except Exception` does not
catch. The attempt stores the request before that, so that even `except BaseException` does not undo it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from detent.errors import InvalidInput
from detent.run.outcomes import LONGEST_REASON, Cancel, Pause, Reattempt, Skip, StepError
from detent.steps.errors import Permanent, RetryLater, wait_of
from detent.values.durations import Duration, in_seconds
from detent.values.nearest import nearest
from detent.values.text import plain_text

# `on_exception` decides what happens to a run when the code of a step raises.
#
#     on_exception="pause"                                     # the default: a person checks it and resumes
#     on_exception=reattempt(max=5, wait="10s", then="cancel")
#     on_exception={RateLimited: reattempt(wait="1m"), ValueError: "skip", Exception: "pause"}
#
# In a mapping the entry of the nearest class counts: the error's own class, else the first base class in its MRO that
# the mapping has.


PAUSE, CANCEL, SKIP, REATTEMPT = "pause", "cancel", "skip", "reattempt"
ENDS: Final = (PAUSE, CANCEL, SKIP)
ACTIONS: Final = (*ENDS, REATTEMPT)
#: `factor` does not make a wait longer than this.
LONGEST_WAIT: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Policy:
    """What happens after an exception.

    The other fields belong to `reattempt`. The step is retried after `wait`, `factor` times as long each time. After
    `max` attempts (None: no limit) `then` happens.
    """

    action: str
    max: int | None = None
    wait: Duration = 2.0
    factor: float = 2.0
    then: str = PAUSE

    def as_json(self) -> Any:
        """Return the policy as JSON, for documents and fingerprints."""
        if self.action != REATTEMPT:
            return self.action
        return {REATTEMPT: {"max": self.max, "wait": self.wait, "factor": self.factor, "then": self.then}}


def pause() -> Policy:
    """Pause the run until a person resumes it. Then the step is retried."""
    return Policy(PAUSE)


def cancel() -> Policy:
    """Cancel the run."""
    return Policy(CANCEL)


def skip() -> Policy:
    """Skip the step. The run continues with the next one."""
    return Policy(SKIP)


def reattempt(
    max: int | None = None,  # noqa: A002 - the word people use for it
    wait: Duration = 2.0,
    factor: float = 2.0,
    then: str | Callable[[], Policy] = PAUSE,
) -> Policy:
    """Retry the step after `wait`, `factor` times as long each time.

    `factor` does not make a wait longer than an hour. `max` counts all attempts of the step. When they are used up
    `then` happens: "pause", "cancel" or "skip".
    """
    return Policy(REATTEMPT, max, wait, factor, then if isinstance(then, str) else then().action)


_WRITERS: Final[Mapping[Any, Policy]] = {writer: writer() for writer in (pause, cancel, skip, reattempt)}


@dataclass(frozen=True, slots=True)
class Policies:
    """The policy of each exception class, and the `default` for all others."""

    default: Policy = Policy(PAUSE)
    by_class: tuple[tuple[type[BaseException], Policy], ...] = ()

    def of(self, error: BaseException) -> Policy:
        """Return the policy of the nearest class in the error's MRO."""
        if self.by_class:
            for kind in type(error).__mro__:
                for known, policy in self.by_class:
                    if kind is known:
                        return policy
        return self.default

    def as_json(self) -> Any:
        """Return the policies as JSON, for documents and fingerprints."""
        if not self.by_class:
            return self.default.as_json()
        return {kind.__qualname__: policy.as_json() for kind, policy in self.by_class}


def read_policies(given: object) -> Policies:
    """Return the policies of an `on_exception`. Raise InvalidInput if it is not valid."""
    if not isinstance(given, Mapping):
        return Policies(_read_policy(given))
    found = []
    for kind, policy in given.items():
        if not isinstance(kind, type) or not issubclass(kind, BaseException):
            raise InvalidInput(f"on_exception: {_shown(kind)} is not a class of exceptions")
        found.append((kind, _read_policy(policy)))
    return Policies(by_class=tuple(found))


def _read_policy(given: object) -> Policy:
    policy = _WRITERS.get(given) if callable(given) else given
    if isinstance(given, str):
        # Other libraries spell these words with an exclamation mark.
        policy = Policy(given.removesuffix("!"))
    if not isinstance(policy, Policy):
        raise InvalidInput(f"on_exception: {_shown(given)} is not a valid policy; {_choices(ACTIONS)}")
    if policy.action not in ACTIONS:
        raise InvalidInput(f"on_exception: {policy.action!r} is not a valid policy{_hint(policy.action, ACTIONS)}")
    if policy.then not in ENDS:
        raise InvalidInput(f"reattempt: `then` cannot be {policy.then!r}{_hint(policy.then, ENDS)}")
    if policy.max is not None and not _is_number(policy.max, int, 1, 1_000_000):
        raise InvalidInput(f"reattempt: `max` must be 1 or more, not {_shown(policy.max)}")
    if not _is_number(policy.factor, int | float, 1, 100):
        raise InvalidInput(f"reattempt: `factor` must be between 1 and 100, not {_shown(policy.factor)}")
    try:
        return replace(policy, wait=in_seconds(policy.wait), factor=float(policy.factor))
    except InvalidInput as error:
        raise InvalidInput(f"reattempt: `wait`: {error.message}") from None


def outcome_of(
    policies: Policies, error: BaseException, kept: StepError, *, attempt: int, where: str
) -> Skip | Reattempt | Cancel | Pause:
    """Return the outcome of a step that raised. `kept` is the error as it is recorded, `where` names the step."""
    policy, kind = policies.of(error), type(error)
    action = policy.action
    if issubclass(kind, Permanent) and action == REATTEMPT:
        action = policy.then
    elif issubclass(kind, RetryLater) and action in (REATTEMPT, PAUSE):
        action = policy.then if _is_used_up(policy, attempt) else REATTEMPT
        if action == REATTEMPT:
            # Without a wait, or with a wait of zero, the step would be retried in a tight loop.
            return Reattempt(wait_of(error) or _wait(policy, attempt), kept)
    elif action == REATTEMPT and _is_used_up(policy, attempt):
        action = policy.then
    if action == REATTEMPT:
        return Reattempt(_wait(policy, attempt), kept)
    if action == SKIP:
        return Skip(kept)
    reason = f"an exception in {where}"
    return Cancel(reason, kept) if action == CANCEL else Pause(reason, kept)


def _is_used_up(policy: Policy, attempt: int) -> bool:
    return policy.action == REATTEMPT and policy.max is not None and attempt >= policy.max


def _wait(policy: Policy, attempt: int) -> float:
    wait = float(policy.wait)  # type: ignore[arg-type]  # seconds since it was read
    return max(wait, min(LONGEST_WAIT, wait * policy.factor ** min(attempt - 1, 64)))


def _is_number(value: Any, kind: Any, least: int, most: int) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and least <= value <= most


def _shown(value: object) -> str:
    return repr(value)[:80]


def _choices(words: tuple[str, ...]) -> str:
    return "choose " + ", ".join(map(repr, words[:-1])) + f" or {words[-1]!r}"


def _hint(word: str, words: tuple[str, ...]) -> str:
    meant = nearest(word, words)
    return f"; did you mean {meant!r}?" if meant else f"; {_choices(words)}"


class FlowControl(BaseException):
    """Raised by a step to control its run. User code must not catch it."""


class SkipAsked(FlowControl):
    """The step asked to be skipped."""


class FinishAsked(FlowControl):
    """The step asked to finish the run with this result."""

    def __init__(self, result: Any) -> None:
        super().__init__(result)
        self.result = result


class RunAsked(FlowControl):
    """The step asked to cancel or pause the run, or to be retried."""

    def __init__(self, outcome: Cancel | Pause | Reattempt) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class FlowVerbs:
    """The verbs of flow control, for a class that knows its attempt. Only the code of a running step may call them."""

    def _ask(self, verb: str, asked: FlowControl) -> NoReturn:
        """Store the request and raise it. Raise RuntimeError if no step is running."""
        raise NotImplementedError

    def _where(self) -> str:
        raise NotImplementedError

    def _reason(self, given: object) -> str:
        """Return any value as a reason: users often pass an exception. Without a value, name the step."""
        return ("" if given is None else plain_text(given, LONGEST_REASON)) or self._where()

    def cancel(self, reason: object = None) -> NoReturn:
        """Cancel the run. The reason is shown to users: a text, or the text of an exception or any other value."""
        self._ask("cancel", RunAsked(Cancel(self._reason(reason))))

    def pause(self, reason: object = None) -> NoReturn:
        """Pause the run until a person resumes it. Then this step is retried."""
        self._ask("pause", RunAsked(Pause(self._reason(reason))))

    def skip(self) -> NoReturn:
        """Skip this step and continue with the next one."""
        self._ask("skip", SkipAsked())

    def reattempt(self, wait: Duration | None = None) -> NoReturn:
        """Retry this step after `wait`, or at once without it."""
        self._ask("reattempt", RunAsked(Reattempt(0.0 if wait is None else in_seconds(wait))))

    def finish(self, result: Any = None) -> NoReturn:
        """Finish the run: this step succeeds with that result, and the steps after it are skipped."""
        self._ask("finish", FinishAsked(result))
