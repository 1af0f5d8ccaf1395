"""Answers to the callers of webhooks: wait for the output of the run, or for the answer of one of its steps.

The answer is in the journal of the run, so a repeated request gets the same one, from any node. Only the wait is in
memory: one entry for each caller. A caller whose node dies or stops sends its request again, with the same id.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final, NamedTuple

from detent.auth.caller import Caller
from detent.errors import NotFound, Unavailable
from detent.forms.compiled import Respond
from detent.graph.model import Graph, StepKind
from detent.ids import RUN, InvalidId, parse, show
from detent.run.journal import Entry, decode_data
from detent.run.status import TERMINAL, Status
from detent.store.rows import RunRow
from detent.store.trigger_rows import TriggerRow
from detent.triggers.context import TriggerContext, TriggerPart
from detent.values.answer import RESPOND, RunAnswer, answer_problems, build_answer
from detent.views.feeds import Feeds

#: More callers than these do not wait: connections must be left for everything else.
MOST_WAITING: Final = 1_000
_JSON: Final = {"content-type": "application/json"}


class NoAnswer(NamedTuple):
    """There is no answer, and why. `status` is that of the run: an open one whose wait is over, or one that has ended
    without an answer. `None`: the run does not exist any more."""

    status: Status | None


class AnswerCommands(TriggerPart):
    """The answers of runs that webhooks have started."""

    def __init__(self, context: TriggerContext, caller: Caller) -> None:
        super().__init__(context, caller)
        self._runs = context.commands.for_caller(caller).runs

    async def wait(self, trigger: TriggerRow, run: bytes, feeds: Feeds) -> RunAnswer | NoAnswer:
        """Return the answer of a run to the caller of this webhook, as soon as there is one. Raise Unavailable if this
        process stops meanwhile."""
        config = json.loads(trigger.config)
        wait = 0.0 if feeds.waiting_callers >= MOST_WAITING else float(config["wait"])
        try:
            return await self._wait(run, feeds, wait, is_step=config["respond"] == Respond.STEP)
        except NotFound:
            return NoAnswer(None)

    async def _wait(self, run: bytes, feeds: Feeds, wait: float, *, is_step: bool) -> RunAnswer | NoAnswer:
        clock = asyncio.get_running_loop().time
        until = clock() + wait
        while True:
            id_ = show(RUN, run)
            steps = await self._answering(id_) if is_step else frozenset()
            news = await feeds.answered(self._tenant, run, steps, max(0.0, until - clock()))
            if news.is_closed:
                raise Unavailable("this node stops; send the request again with the same id")
            if news.entry is not None:
                return _answer_in(news.entry)
            row = await self._runs.row(id_)
            if row.status not in TERMINAL:
                return NoAnswer(Status(row.status))
            if is_step and not news.is_over:
                return NoAnswer(Status.RUNNING)  # it ended since, and its answer was not looked for
            successor = _successor(row)
            if successor is None:
                return _end_of(row, is_step=is_step)
            run = successor

    async def _answering(self, run: str) -> frozenset[str]:
        """Return the names of the steps of a run that answer."""
        return frozenset(answering_steps((await self._runs.prepared(await self._runs.row(run))).graph))


def answering_steps(graph: Graph) -> list[str]:
    """Return the names of the steps that answer the caller. In a durable function it is one operation."""
    found = [step.name for step in graph.steps if step.config.get("action") == RESPOND]
    return [RESPOND] if any(step.kind is StepKind.FUNCTION for step in graph.steps) else found


def _answer_in(entry: Entry) -> RunAnswer | NoAnswer:
    """Return the answer that a step has journalled. A step of that name whose result is something else does not
    answer."""
    try:
        given = json.loads(bytes(decode_data(entry.data).result))["output"]
        status, headers, body = given["status"], given["headers"], given["body"]
    except (ValueError, KeyError, TypeError):
        return NoAnswer(Status.RUNNING)
    if not isinstance(headers, dict) or answer_problems(status, headers, body):
        return NoAnswer(Status.RUNNING)
    return build_answer(status, headers, body)


def _end_of(row: RunRow, *, is_step: bool) -> RunAnswer | NoAnswer:
    if row.status != Status.COMPLETED or is_step:
        return NoAnswer(Status(row.status))
    return RunAnswer(200, dict(_JSON), row.output or b"null")


def _successor(row: RunRow) -> bytes | None:
    """Return the run that a completed run continues as, or `None`."""
    output: Any = None if row.status != Status.COMPLETED or not row.output else json.loads(row.output)
    if not isinstance(output, dict) or list(output) != ["continued_as"]:
        return None
    try:
        return parse(RUN, str(output["continued_as"]))
    except InvalidId:
        return None
