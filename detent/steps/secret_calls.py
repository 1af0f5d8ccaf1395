"""Attempts of steps that use secrets: open them at the last moment, and redact what comes back.

The executor of a step that sends secrets gets a call with plain values. What came before it (planner, journal, views)
has seen names. Code of users opens secrets with `CodeSecrets`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable
from typing import Any, Final

import msgspec

from detent.errors import NoEncryptionKey
from detent.expressions import EvaluationError, unsealed
from detent.graph.model import StepKind
from detent.run.call import BoundSecret, StepCall
from detent.run.links import Link
from detent.run.outcomes import (
    EMPTY_RESULT,
    SEALED,
    Cancel,
    Done,
    Fail,
    Finish,
    Outcome,
    Pause,
    Reattempt,
    Skip,
    StepError,
)
from detent.steps.errors import Permanent, RetryLater
from detent.steps.protocol import StepExecutor
from detent.vault.hosts import HostRules
from detent.vault.redaction import MASK, SHORTEST_SECRET, Redactor
from detent.vault.secrets import MISSING, OpenSecret, SecretOpener, SecretUnavailable

TEMPLATE_ERROR: Final = "template_error"
_HOST: Final = "secret_host"
#: What is shown of a sealed result as it is. Everything else is `***`.
_SHOWN: Final = ("status_code", "truncated")
#: So many texts of sensitive results are redacted from an error, the longest ones.
_MOST_TEXTS: Final = 500


async def run_with_secrets(
    secrets: SecretOpener, executor: StepExecutor, call: StepCall, names: Iterable[str]
) -> Outcome:
    """Open the secrets of a call, then run the attempt. Every failure is a Fail."""
    try:
        opened = await secrets.open(call.tenant, names)
        parameters = unsealed(call.parameters, {name: one.value for name, one in opened.items()})
    except SecretUnavailable as error:
        return Fail(StepError(error.code, error.message), retry=error.retry)
    except EvaluationError as error:
        return Fail(StepError(TEMPLATE_ERROR, error.message), retry=False)
    bound = tuple(BoundSecret(one.name, one.hosts) for one in opened.values() if one.hosts)
    if bound and not _sends_by_http(call):
        return Fail(StepError(_HOST, _refusal(opened[bound[0].name])), retry=False)
    work = executor.begin(msgspec.structs.replace(call, parameters=parameters, bound=bound))
    return await work if isinstance(work, Coroutine) else work


def _sends_by_http(call: StepCall) -> bool:
    """Return whether every byte of the attempt goes through the HTTP executor, which knows the host of each hop."""
    return call.kind is StepKind.HTTP or "version" in call.parameters


def _refusal(secret: OpenSecret) -> str:
    return (
        f"the secret {secret.name!r} may be sent to {HostRules(secret.hosts)} only, and code could send it anywhere; "
        "use it in an http step or a connector, or let the code read it with context.secret()"
    )


class CodeSecrets:
    """Opens secrets of one tenant for the code of a step. It is made on the loop of the node."""

    __slots__ = ("_loop", "_opener", "_tenant", "_thread")

    def __init__(self, opener: SecretOpener | None, tenant: int) -> None:
        self._opener = opener
        self._tenant = tenant
        self._loop = _running_loop()
        self._thread = threading.get_ident()

    def read(self, name: str) -> str:
        """Return the newest value of a secret. It blocks, so it raises RuntimeError on the loop.

        Raise Permanent if there is no such secret, and RetryLater if it cannot be opened now."""
        known = None if self._opener is None else self._opener.open_now(self._tenant, name)
        if known is not None:
            return known.value
        if threading.get_ident() == self._thread or self._loop is None:
            raise RuntimeError("secret() blocks; in an `async def` write `await ….secret_async(name)`")
        return asyncio.run_coroutine_threadsafe(self.read_async(name), self._loop).result()

    def clean(self, result: bytes) -> bytes:
        """Return the JSON of a result without the values of secrets, for a result that the code stores itself."""
        redactor = None if self._opener is None else self._opener.redactors.get(self._tenant)
        return result if redactor is None else redactor.json(result)

    async def read_async(self, name: str) -> str:
        """Return the newest value of a secret. Raise Permanent or RetryLater as `read` does."""
        if self._opener is None:
            raise Permanent(f"this process has no secrets, so it cannot open {name!r}", code=MISSING)
        try:
            return (await self._opener.open(self._tenant, [name]))[name].value
        except SecretUnavailable as error:
            if error.retry:
                raise RetryLater(None, error.message, code=error.code) from None
            raise Permanent(error.message, code=error.code) from None


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def sealed_outcome(secrets: SecretOpener, tenant: int, outcome: Outcome) -> Outcome:
    """Return the outcome of a sensitive step: what is stored of its result is sealed, and shown as `***`."""
    if not isinstance(outcome, Done | Fail | Skip | Finish) or outcome.result == EMPTY_RESULT:
        return outcome
    try:
        box = secrets.seal_result(tenant, outcome.result)
    except NoEncryptionKey as error:
        return Fail(StepError(error.code, f"the result of a sensitive step cannot be sealed: {error}"), retry=False)
    known = msgspec.json.decode(outcome.result)
    shown = {key: _shown(key, value) for key, value in known.items() if value is not None}
    return msgspec.structs.replace(outcome, result=msgspec.json.encode({**shown, SEALED: box}))


def without_fetched(outcome: Outcome, fetched: Iterable[bytes]) -> Outcome:
    """Return an outcome whose error has no text of these results of sensitive steps. Results are left as they are: a
    sensitive one may have ordinary words in it, too."""
    if not isinstance(outcome, Fail | Skip | Reattempt | Cancel | Pause) or outcome.error is None:
        return outcome
    redactor = Redactor(fetched_texts(fetched))
    return msgspec.structs.replace(outcome, error=redacted_error(outcome.error, redactor))


def fetched_texts(fetched: Iterable[bytes]) -> list[str]:
    """Return the texts of results of sensitive steps that can be redacted, the longest ones."""
    texts = {text for result in fetched for text in _texts(msgspec.json.decode(result))}
    return sorted(texts, key=len, reverse=True)[:_MOST_TEXTS]


def _texts(value: Any) -> Iterable[str]:
    """Yield the texts in a JSON value, those that can be redacted."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str) and len(one) >= SHORTEST_SECRET:
            yield one
        elif isinstance(one, dict):
            pending.extend(one.values())
        elif isinstance(one, list):
            pending.extend(one)


def _shown(key: str, value: Any) -> Any:
    return value if key in _SHOWN else {} if key == "headers" else MASK


def redacted(outcome: Outcome, redactor: Redactor) -> Outcome:
    """Return an outcome without the values of secrets; the same object if it has none."""
    changes: dict[str, Any] = {}
    if isinstance(outcome, Done | Fail | Skip | Finish):
        result = redactor.json(outcome.result)
        if result is not outcome.result:
            changes["result"] = result
    if isinstance(outcome, Done | Finish) and outcome.links:
        changes["links"] = tuple(_clean_link(link, redactor) for link in outcome.links)
    if isinstance(outcome, Fail | Skip | Reattempt | Cancel | Pause) and outcome.error is not None:
        error = redacted_error(outcome.error, redactor)
        if error is not outcome.error:
            changes["error"] = error
    if isinstance(outcome, Fail) and outcome.large is not None:
        changes["large"] = redacted(outcome.large, redactor)
    if isinstance(outcome, Cancel | Pause):
        changes["reason"] = redactor.text(outcome.reason)
    return msgspec.structs.replace(outcome, **changes) if changes else outcome


def _clean_link(link: Link, redactor: Redactor) -> Link:
    url = None if link.url is None else redactor.text(link.url)
    # A url that was replaced as a whole is not a url any more.
    url = url if url is None or url.startswith("http") else None
    return Link(redactor.text(link.system), redactor.text(link.type), redactor.text(link.id), url)


def redacted_error(error: StepError, redactor: Redactor) -> StepError:
    """Return an error without the values of secrets; the same object if it has none."""
    clean = StepError(redactor.text(error.code), redactor.text(error.message), redactor.value(error.detail))
    return error if clean == error else clean
