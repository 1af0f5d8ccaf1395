"""What an action can say about its end, and what it can ask of its node while it runs."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec
import pytest
from aiohttp import web

from detent import ids
from detent.catalog.connections import EnvironmentConnections
from detent.graph.model import Graph, StepKind
from detent.observe import listen
from detent.run.call import RunView, StepCall
from detent.run.initiator import Principal
from detent.run.outcomes import Done, Fail, Skip, StepError
from detent.run.state import RunFacts
from detent.steps.action_context import LARGEST_DETAIL
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import ActionContext, Registry
from detent.steps.egress import EgressPolicy
from detent.steps.errors import ActionError, EgressDenied, Failed, RetriableFailure, Skipped, Succeeded
from detent.steps.http.client import ActionServices
from tests.steps.calls import RUN_ID, attempt, call_of, done, failed, perform


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture
async def step(registry: Registry) -> AsyncIterator[ActionExecutor]:
    services = ActionServices(
        EgressPolicy.from_texts(["127.0.0.0/8"]),
        connections=EnvironmentConnections({"CONNECTOR_MY_SHOP_TOKEN": "secret"}),
    )
    executor = ActionExecutor(registry, services=services)
    yield executor
    await executor.close()


@pytest.fixture
def heard() -> Iterator[list[tuple[str, dict[str, Any]]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    stop = listen(lambda name, facts: found.append((name, facts)))
    yield found
    stop()


def seen_by(call: StepCall, given: dict[str, Any], error: StepError | None = None) -> StepCall:
    """The call with a view of a run that has this input, and this error of the attempt before."""
    facts = RunFacts(RUN_ID, 1, "w", msgspec.json.encode(given), 0, None, lambda _: "")
    view = RunView(facts, Graph(()), 1, lambda _: None, lambda _: None, error_of=lambda _: error)
    return msgspec.structs.replace(call, view=view)


RESULTS = [
    (Succeeded({"a": 1}), Done(b'{"output":{"a":1}}')),
    (Succeeded(), Done(b'{"output":null}')),
    (Skipped("nothing to do"), Skip(StepError("skipped", "nothing to do"))),
    (Skipped(), Skip()),
    (Failed("no card", "no_card"), Fail(StepError("no_card", "no card"), retry=False)),
    (Failed("no card"), Fail(StepError("failed", "no card"), retry=False)),
    (RetriableFailure("busy", "busy"), Fail(StepError("busy", "busy"))),
    (RetriableFailure("busy", after=5), Fail(StepError("failed", "busy"), retry_after=5.0)),
    (ActionError("odd", code="odd"), Fail(StepError("odd", "odd"))),
]


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize(("result", "outcome"), RESULTS)
async def test_a_result_means_the_same_returned_and_raised(
    registry: Registry, step: ActionExecutor, result: Exception, outcome: object, inline: bool
) -> None:
    def give() -> object:
        return result

    def throw() -> None:
        raise result

    registry.add("give", give, inline=inline)
    registry.add("throw", throw, inline=inline)
    assert await perform(step, "give") == outcome
    assert await perform(step, "throw") == outcome


async def test_a_success_whose_output_has_no_json_form_fails(registry: Registry, step: ActionExecutor) -> None:
    async def give() -> Succeeded:
        raise Succeeded({1, 2})

    registry.add("give", give)
    failed(await perform(step, "give"), "unserialisable")


async def test_the_context_says_who_asked_and_what_the_last_attempt_reported(
    registry: Registry, step: ActionExecutor
) -> None:
    def who(context: ActionContext) -> list[object]:
        return [context.principal.user_id, context.principal.email, context.correlation_id, context.heartbeat_detail]

    registry.add("who", who, inline=True)
    call = call_of(StepKind.ACTION, {"action": "who"})
    assert done(await attempt(step, call))["output"] == ["system", None, ids.show(ids.RUN, RUN_ID), None]
    given = {"body": {}, "principal": {"userId": "U1", "email": "a@b.c"}, "headers": {"x-correlation-id": "c-1"}}
    known = seen_by(call, given, StepError("x", "x", {"heartbeat": {"row": 7}}))
    assert done(await attempt(step, known))["output"] == ["U1", "a@b.c", "c-1", {"row": 7}]
    odd = seen_by(call, {"principal": [], "correlation_id": 5, "headers": []}, StepError("x", "x", "text"))
    assert done(await attempt(step, odd))["output"] == ["system", None, ids.show(ids.RUN, RUN_ID), None]


async def test_lines_and_progress_are_events_with_run_step_and_attempt(
    registry: Registry, step: ActionExecutor, heard: list[tuple[str, dict[str, Any]]]
) -> None:
    def work(context: ActionContext) -> None:
        context.log.info("row %d of %s", 5, "ten", at=5, odd={1})
        context.log.warning("100 %d", "x")
        context.progress(0.5, "half")
        context.progress(7)

    registry.add("work", work)
    done(await perform(step, "work"))
    where = {"run": RUN_ID, "step": "charge", "attempt": 1}
    assert heard == [
        ("action.logged", {**where, "level": "info", "message": "row 5 of ten", "facts": {"at": 5, "odd": "{1}"}}),
        ("action.logged", {**where, "level": "warning", "message": "100 %d ('x',)", "facts": {}}),
        ("step.progress", {**where, "fraction": 0.5, "text": "half"}),
        ("step.progress", {**where, "fraction": 1.0, "text": ""}),
    ]


async def test_the_last_heartbeat_is_in_the_error_of_the_attempt(registry: Registry, step: ActionExecutor) -> None:
    def work(context: ActionContext) -> None:
        for row in range(3):
            context.heartbeat({"row": row})
        context.heartbeat()
        raise ValueError("no")

    registry.add("work", work)
    fail = failed(await perform(step, "work"), "exception")
    assert fail.error.detail["heartbeat"] == {"row": 2}
    assert "raise ValueError" in fail.error.detail["traceback"]


async def test_an_attempt_that_reports_nothing_passes_on_what_it_received(
    registry: Registry, step: ActionExecutor
) -> None:
    async def work(context: ActionContext) -> None:
        raise ActionError("no")

    registry.add("work", work)
    call = seen_by(call_of(StepKind.ACTION, {"action": "work"}), {}, StepError("x", "x", {"heartbeat": 7}))
    outcome = await attempt(step, call)
    assert isinstance(outcome, Fail)
    assert outcome.error.detail == {"heartbeat": 7}


async def test_a_detail_that_cannot_be_stored_is_refused(registry: Registry, step: ActionExecutor) -> None:
    def work(context: ActionContext, large: bool) -> None:
        context.heartbeat("x" * LARGEST_DETAIL if large else object())

    registry.add("work", work)
    failed(await perform(step, "work", {"large": True}), "output_too_large")
    failed(await perform(step, "work", {"large": False}), "unserialisable")


@pytest.mark.parametrize("in_thread", [True, False])
async def test_an_attempt_without_heartbeats_ends_and_knows_it(
    registry: Registry, step: ActionExecutor, in_thread: bool
) -> None:
    ended, knew = threading.Event(), []

    def plain(context: ActionContext) -> None:
        context.heartbeat("begun")
        while not context.cancelled:
            ended.wait(0.01)
        knew.append(True)
        ended.set()

    async def on_loop(context: ActionContext) -> None:
        context.heartbeat("begun")
        try:
            await asyncio.sleep(60)
        finally:
            knew.append(True)
            ended.set()

    registry.add("work", plain if in_thread else on_loop, heartbeat_timeout=1.5)
    fail = failed(await perform(step, "work", timeout=60), "heartbeat_timeout")
    assert fail.timed_out
    assert fail.error.detail == {"heartbeat": "begun"}
    assert await asyncio.to_thread(ended.wait, 60)
    assert knew


async def test_heartbeats_let_an_attempt_go_on_until_its_time_limit(registry: Registry, step: ActionExecutor) -> None:
    async def work(context: ActionContext) -> None:
        for beat in range(10_000):
            context.heartbeat(beat)
            await asyncio.sleep(0.001)

    registry.add("work", work, heartbeat_timeout=30, timeout=0.2)
    call = call_of(StepKind.ACTION, {"action": "work"}, timeout=60)
    outcome = await attempt(step, call)
    assert isinstance(outcome, Fail)
    assert (outcome.error.code, outcome.timed_out) == ("timeout", True)
    assert outcome.error.message == "the step did not end within 0.2 s"


async def test_connections_of_the_context_are_behind_the_guard(registry: Registry, step: ActionExecutor) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"sent": await request.json(), "kind": request.content_type})

    async def call(url: str, context: ActionContext) -> Any:
        async with context.http.post(url, json={"a": 1}) as response:
            return await response.json()

    def dial(host: str, port: int, context: ActionContext) -> str:
        with context.connect(host, port, timeout=60) as sock:
            return str(sock.getpeername()[0])

    async def denied(context: ActionContext, url: str) -> str:
        with pytest.raises(EgressDenied):
            async with context.http.get(url):
                pass
        return "denied"

    app = web.Application()
    app.router.add_post("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    for name, function in (("call", call), ("dial", dial), ("denied", denied)):
        registry.add(name, function)
    try:
        answered = done(await perform(step, "call", {"url": f"http://127.0.0.1:{port}/"}, timeout=60))
        assert answered["output"] == {"sent": {"a": 1}, "kind": "application/json"}
        assert done(await perform(step, "dial", {"host": "127.0.0.1", "port": port}, timeout=60))
        refused = failed(await perform(step, "dial", {"host": "10.0.0.1", "port": 80}, timeout=60), "exception")
        assert refused.error.message.startswith("EgressDenied")
        assert done(await perform(step, "denied", {"url": "http://169.254.169.254/"}, timeout=60))
    finally:
        await runner.cleanup()


async def test_a_plain_function_is_told_that_the_http_client_is_not_for_it(
    registry: Registry, step: ActionExecutor
) -> None:
    def work(context: ActionContext) -> object:
        return context.http

    registry.add("work", work)
    assert "context.connect" in failed(await perform(step, "work"), "exception").error.message


async def test_a_credential_comes_from_its_variable(registry: Registry, step: ActionExecutor) -> None:
    def work(name: str, context: ActionContext) -> bool:
        return context.credential(name) == "secret"

    registry.add("work", work)
    assert done(await perform(step, "work", {"name": "my-shop"}))["output"] is True
    fail = failed(await perform(step, "work", {"name": "slack"}), "missing_credential")
    assert (
        fail.error.message
        == "the connection 'slack' is not set up on this node: set CONNECTOR_SLACK_TOKEN in its environment"
    )
    assert not fail.retry


async def test_a_connection_has_the_parts_that_the_operator_set(registry: Registry, step: ActionExecutor) -> None:
    def work(name: str, parts: list[str], context: ActionContext) -> list[str | None]:
        found = context.connection(name, *parts)
        assert "secret" not in repr(found)
        return [found.get("token"), found.get("url")]

    registry.add("work", work)
    assert done(await perform(step, "work", {"name": "my-shop", "parts": []}))["output"] == ["secret", None]
    given = {"name": "my-shop", "parts": ["token", "url", "username"]}
    message = failed(await perform(step, "work", given), "missing_credential").error.message
    assert message.endswith("set CONNECTOR_MY_SHOP_URL and CONNECTOR_MY_SHOP_USERNAME in its environment")


def test_a_context_for_a_test_needs_no_attempt() -> None:
    context = ActionContext("run_1", "charge", 1, "key", 1, principal=Principal("U1"))
    context.log.info("nothing hears this")
    context.heartbeat(1)
    context.progress(0.5)
    assert (context.correlation_id, context.cancelled) == ("run_1", False)
    with pytest.raises(RuntimeError, match="no connections"):
        context.credential("slack")
