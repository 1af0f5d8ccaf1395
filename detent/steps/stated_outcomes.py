"""The outcome of an attempt that is not made: from an answer that is written as data, or from an example.

A dry run and a test in text use it. Everything before the effect is real: a request that could not be sent fails here
as it would fail there, and an action of Detent that only computes is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from detent.forms.stated_answers import StatedOutcome
from detent.graph.model import StepKind
from detent.ids import RUN, show
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.steps.actions import CORE, registry
from detent.steps.output import encode_output
from detent.steps.results import outcome_of, outcome_of_error
from detent.steps.user_code import failure_of
from detent.values.answer import RESPOND

#: Actions of Detent that compute and change nothing outside.
COMPUTED: Final = frozenset({"core.echo", "core.fail", "core.transform", RESPOND})


def computed(call: StepCall) -> Outcome | None:
    """Return the outcome of an action that has no effect, or `None` if the step has one."""
    name = call.parameters.get("action") if call.kind is StepKind.ACTION else None
    action = CORE.find(name) if name in COMPUTED else None
    if action is None:
        return None
    try:
        return outcome_of(action.function(**action.bind(call.parameters.get("with"), None)))
    except Exception as error:  # noqa: BLE001 - whatever it raises is its outcome
        return outcome_of_error(error)


def refused_call(call: StepCall) -> Fail | None:
    """Return the failure of a call that could not be sent, or `None`."""
    if call.kind is not StepKind.HTTP:
        return None
    # Imported late: a process that only reads the database does not load the HTTP client.
    from detent.steps.http.request import InvalidHttpRequest, build_request

    try:
        build_request(call)
    except InvalidHttpRequest as error:
        return Fail(StepError("invalid_request", str(error)), retry=False)
    return None


def stated_outcome(call: StepCall, stated: StatedOutcome) -> Outcome:
    """Return the outcome that an answer means for an attempt of that kind."""
    failure = stated.failure
    if failure is not None:
        error = StepError(failure.code, failure.message)
        return Fail(error, retry=failure.retry, timed_out=failure.timed_out)
    try:
        if call.kind is StepKind.HTTP:
            return _http_outcome(call, stated)
        return Done(with_run(call, encode_output(stated.value)))
    except Exception as error:  # noqa: BLE001 - a value that no step could return fails the attempt
        return failure_of(error)


def with_run(call: StepCall, output: bytes) -> bytes:
    """Add the id of the child run that the step would have, if it is one."""
    if call.kind is not StepKind.SUBWORKFLOW:
        return output
    return msgspec.json.encode({**msgspec.json.decode(output), "run_id": show(RUN, call.run_id)})


def _http_outcome(call: StepCall, stated: StatedOutcome) -> Outcome:
    from detent.steps.http.response import HttpAnswer, outcome_of, retry_after

    body = None if stated.value is None else msgspec.Raw(msgspec.json.encode(stated.value))
    headers = {name.lower(): value for name, value in stated.headers.items()}
    wait = headers.get("retry-after", "")
    request = f"{call.parameters.get('method', 'GET')} {call.parameters.get('url', '')}"
    answer = HttpAnswer(stated.status or 200, headers, body)
    return outcome_of(answer, request, wait=retry_after(wait, 0) if wait.isdigit() else None)


def received_result(stated: StatedOutcome) -> bytes:
    """Return what expressions read of a wait that has received this callback."""
    headers = {name.lower(): value for name, value in stated.headers.items()}
    return msgspec.json.encode({"body": stated.value, "headers": headers, "query": dict(stated.query)})


def output_schema(call: StepCall) -> Mapping[str, Any] | None:
    """Return the JSON Schema of what an action returns, or `None` if nothing is known of it."""
    if call.kind is not StepKind.ACTION:
        return None
    found = registry.find(str(call.parameters.get("action")))
    if found is None:
        return None
    return found.facts.output
