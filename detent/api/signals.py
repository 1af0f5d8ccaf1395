"""The route of signals: what durable functions are told while they run."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from litestar import Response, post
from litestar.params import FromPath

from detent.api.bodies import AnyRequest, commands, read_json
from detent.api.operations import ANYTHING, answers, operation, refusals, takes
from detent.api.runs import places
from detent.api.wire import One
from detent.engine.commands import INPUT_LIMIT
from detent.ids import RUN, show

_DATA: Final = takes(ANYTHING, {"sum": 120})


class SignalDocument(msgspec.Struct, kw_only=True):
    """A signal that was accepted: it is durable, and the run's function gets it when it asks for it."""

    run_id: str
    signal: str
    accepted: bool = True


@post(
    places("/{run:str}/signals/{name:str}", below=False),
    tags=["runs"],
    summary="Send a signal to a run",
    status_code=202,
    operation_class=operation(body=_DATA),
    responses={
        **answers(
            202,
            One[SignalDocument],
            "It will be heard.",
            {"data": {"run_id": "run_01k5c1v6p2f7x8y9z0a1b2c3d4", "signal": "paid", "accepted": True}},
        ),
        **refusals(400, 404, 409, 413),
    },
    request_max_body_size=INPUT_LIMIT,
)
async def signal_run(request: AnyRequest, run: FromPath[str], name: FromPath[str]) -> Response[Any]:
    """The body is the data of the signal, any JSON. The run must be one of a durable function and open; whether the
    function asks for the signal before or after does not matter. Each signal is given once, in order."""
    row = await commands(request).signal(run, name, read_json(await request.body(), empty=None))
    return Response(One(SignalDocument(run_id=show(RUN, row.id), signal=name)), status_code=202)


ROUTES = [signal_run]
