"""Routes by which a person steers a run past a step: skip it, have it tried, or say that the run is done."""

from __future__ import annotations

from typing import Any, Final

from litestar import post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.again import read_fields
from detent.api.bodies import AnyRequest, commands
from detent.api.executions import shown
from detent.api.operations import TEXT, operation, record, refusals, takes
from detent.api.runs import BY, CONTROLLED, RunAnswer, Workflow, places, run_row
from detent.api.spelling import refuse_if_any
from detent.authoring.durations import SECOND

_LONGEST_STEP: Final = 200
_MESSAGE: Final = "the request is not right"
_WAIT: Final = Schema(one_of=[Schema(type=OpenAPIType.NUMBER, minimum=0), TEXT])
_SKIP: Final = takes(record({"step": TEXT}), {"step": "charge"})
_REATTEMPT: Final = takes(record({"step": TEXT, "wait": _WAIT}), {"step": "charge", "wait": "10m"})


def _controlled(body: Any) -> dict[str, Any]:
    return {
        **CONTROLLED,
        "operation_class": operation(body=body),
        "responses": {**CONTROLLED["responses"], **refusals(400)},
    }


@post(places("/{run:str}/skip"), summary="Skip a step of a run", **_controlled(_SKIP))
async def skip_run_step(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """The step ends `skipped`, whatever it is doing; without a name the one the run is at. The run goes on behind it,
    also if it was paused. `skip_requested` is true if its node has not got to it yet."""
    await run_row(commands(request), run, workflow)
    fields = await read_fields(request, "step")
    step = fields.text("step", most=_LONGEST_STEP)
    refuse_if_any(fields.problems, _MESSAGE)
    return shown(request, await commands(request).skip(run, step, by=BY))


@post(places("/{run:str}/reattempt"), summary="Try a step of a run again", **_controlled(_REATTEMPT))
async def reattempt_run_step(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """In the same run, after `wait` (seconds, or a text such as `10m`), without it at once; without a name the step the
    run is at. What it is doing is stopped, and its outcome does not count. A paused run goes on."""
    await run_row(commands(request), run, workflow)
    fields = await read_fields(request, "step", "wait")
    step, wait = fields.text("step", most=_LONGEST_STEP), fields.duration("wait", unit=SECOND)
    refuse_if_any(fields.problems, _MESSAGE)
    return shown(request, await commands(request).reattempt(run, step, wait=wait or 0.0, by=BY))


@post(places("/{run:str}/finish"), summary="Finish a run", **CONTROLLED)
async def finish_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """The run is completed with what its last step gave; what has not ended is skipped, and what is in flight is
    stopped."""
    await run_row(commands(request), run, workflow)
    return shown(request, await commands(request).finish(run, by=BY))


ROUTES = [skip_run_step, reattempt_run_step, finish_run]
