"""The executor of steps that are child runs: it starts the child, and the step goes on without an attempt.

The child's id is in the journal before the executor begins. So a repeated attempt starts the same child, once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, ClassVar, Final

import msgspec

from detent.errors import DetentError, InvalidInput, StoreError, Unavailable
from detent.graph.model import Step, StepKind
from detent.ids import RUN, show
from detent.run.call import ChildPort, StepCall
from detent.run.initiator import CORRELATION_HEADER
from detent.run.outcomes import Delegated, Done, Fail, Outcome, StepError
from detent.run.start import StartRequest
from detent.run.state import RunFacts
from detent.steps.protocol import Needs

#: Seconds between two attempts to start a child while the node cannot write. They do not count as attempts of the step.
PAUSE: Final = 1.0


class ChildExecutor:
    """Starts child runs. A start that is refused fails the step for good, with the code of the refusal."""

    kind: ClassVar[StepKind] = StepKind.SUBWORKFLOW

    def needs(self, step: Step) -> Needs:
        return Needs.VIEW | Needs.CHILD

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        assert call.view is not None
        assert call.view.child is not None
        config: Mapping[str, Any] = call.parameters
        body = config.get("input")
        request = StartRequest(
            workflow=config["workflow"],
            body={} if body is None else body,
            extra=inherited(call.view.facts),
            version=config.get("version"),
            trigger="child",
        )
        return self._start(call.view.child, request, config)

    async def close(self) -> None:
        """There is nothing to close."""

    async def _start(self, child: ChildPort, request: StartRequest, config: Mapping[str, Any]) -> Outcome:
        detached = bool(config.get("detached"))
        while True:
            try:
                await child.start(request, detached=detached, recursion=bool(config.get("recursion")))
            except (Unavailable, StoreError):
                await asyncio.sleep(PAUSE)
            except DetentError as error:
                return Fail(refused_start(error), retry=False)
            else:
                break
        if not detached:
            return Delegated()
        return Done(msgspec.json.encode({"output": None, "run_id": child.run_id}))


def refused_start(error: DetentError) -> StepError:
    """Return the error of a step whose child run was refused."""
    problems = error.problems if isinstance(error, InvalidInput) else ()
    found = [{"field": problem.field, "message": problem.message} for problem in problems]
    message = f"the child run cannot be started: {error}"
    return StepError(error.code, message, {"problems": found} if found else None)


def inherited(run: RunFacts) -> dict[str, Any]:
    """Return the parts of a run's input that its children have too: the principal, and the correlation id.

    The correlation id is that of the start: of its envelope, or of its header. Else it is the id of the first run."""
    given = msgspec.json.decode(run.input)
    header = given.get("headers", {}).get(CORRELATION_HEADER)
    correlation = given.get("correlation_id") or header or show(RUN, run.id)
    principal = {"principal": given["principal"]} if "principal" in given else {}
    return {**principal, "correlation_id": correlation}
