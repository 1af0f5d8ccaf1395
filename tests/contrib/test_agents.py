"""Agents of Pydantic AI inside durable functions: what they commit, repeat, ask and refuse."""

from __future__ import annotations

from collections.abc import AsyncIterable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, RunContext, UsageLimits
from pydantic_ai.exceptions import ModelHTTPError, ModelRetry, UsageLimitExceeded, UserError
from pydantic_ai.messages import AgentStreamEvent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import DeferredToolRequests
from pydantic_ai.toolsets import DynamicToolset, FunctionToolset

from detent import Run, StepFailed, workflow
from detent.contrib.pydantic_ai import (
    AgentStep,
    ApprovalOptions,
    DetentDurability,
    MessagesTooLarge,
    ResultTooLarge,
    dump_messages,
    load_messages,
)
from detent.contrib.pydantic_ai.steps import LONGEST_NAME, valid_name
from detent.errors import InvalidInput
from detent.run.call import is_name
from detent.testing import MemoryEngine, crash_matrix, speedrun, speedrun_async

#: What was done outside of the engine, in order. `setup` of a crash matrix empties it.
ledger: list[str] = []
APPROVE = "support.approve.refund"


@pytest.fixture(autouse=True)
def _empty_ledger() -> None:
    ledger.clear()


def turns(messages: list[ModelMessage]) -> int:
    """How many answers of the model the messages have."""
    return sum(isinstance(message, ModelResponse) for message in messages)


async def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Look two orders up at once, refund one of them, and say so."""
    ledger.append(f"request {turns(messages)}: {info.instructions}")
    match turns(messages):
        case 0:
            return ModelResponse([ToolCallPart("look_up", {"order": 1}), ToolCallPart("look_up", {"order": 2})])
        case 1:
            return ModelResponse([ToolCallPart("refund", {"order": 2})])
    return ModelResponse([TextPart(str(messages[-1].parts[0].content))])  # type: ignore[union-attr]


support = Agent(
    FunctionModel(plan), name="support", deps_type=str, capabilities=[DetentDurability(approval=ApprovalOptions("2d"))]
)


@support.instructions
def instructions() -> str:  # a plain function: an agent runs it in a thread, where there are threads
    return "Be kind."


@support.tool
async def look_up(context: RunContext[str], order: int) -> str:
    ledger.append(f"look_up {order}")
    return f"order {order} of {context.deps}"


@support.tool_plain(requires_approval=True)
async def refund(order: int) -> str:
    ledger.append(f"refund {order}")
    return f"refunded {order}"


@workflow
async def supporting(run: Run, customer: str) -> str:
    return (await support.run("Where is my money?", deps=customer)).output


def test_model_requests_and_tool_calls_are_steps_in_the_order_of_their_calls() -> None:
    ended = speedrun(supporting, "Ada", answers={APPROVE: {"approved": True}}).assert_completed()
    assert ended.output == "refunded 2"
    assert ended.route == [
        "support.model",
        "support.tool.look_up",
        "support.tool.look_up#2",
        "support.model#2",
        APPROVE,
        "support.tool.refund",
        "support.model#3",
    ]
    assert ended.results["support.tool.look_up#2"]["result"] == "order 2 of Ada"
    assert ledger[0] == "request 0: Be kind."


def test_a_crash_at_any_moment_repeats_no_request_that_was_committed() -> None:
    def requests_and_effects(run: Any) -> Any:
        return run.status, run.output, sorted(run.route)

    answers = {APPROVE: {"approved": True}}
    report = crash_matrix(supporting, "Ada", answers=answers, setup=ledger.clear, same=requests_and_effects)
    committed = [point for point in report.points if point.name == "after checkpoint (support.model success)"]
    assert committed
    assert all("support.model" not in point.ran_again for point in committed), "between the request and the tools"
    for point in report.points:
        assert len(point.ran_again) <= 2, "only what was in flight: one request, or the two tools called at once"
        assert {name.partition(".")[2].partition("#")[0] for name in point.ran_again} in (
            set(),
            {"model"},
            {"tool.look_up"},
            {"tool.refund"},
        )


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"approved": False, "comment": "too late"}, "too late"),
        ({"approved": False}, "The tool call was denied."),
        (TimeoutError, "did not come in time"),
    ],
)
def test_a_tool_does_not_run_without_an_approval_and_the_model_learns_why(answer: Any, told: str) -> None:
    ended = speedrun(supporting, "Ada", answers={APPROVE: answer}).assert_completed()
    assert told in ended.output
    assert "refund 2" not in ledger


def test_arguments_that_look_like_a_template_are_shown_as_they_are_and_can_be_approved() -> None:
    async def calling(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([ToolCallPart("say", {"text": "{{ 1 +"})] if not turns(messages) else [TextPart("done")])

    agent = Agent(FunctionModel(calling), name="braces", capabilities=[DetentDurability()])

    @agent.tool_plain(requires_approval=True)
    async def say(text: str) -> str:
        ledger.append(text)
        return "said"

    @workflow(name="says braces")
    async def saying(run: Run) -> str:
        return (await agent.run("Go")).output

    with MemoryEngine() as engine:
        run = engine.start(saying)
        [wait] = engine.ask(lambda commands: commands.inbox.find(limit=2)).items
        assert (wait.ask.data, wait.ask.text) == ({"text": "{{ 1 +"}, None)
        run.answer("braces.approve.say", {"approved": True})
        assert run.output == "done"
    assert ledger == ["{{ 1 +"]


def test_without_an_approval_the_function_gets_the_calls_that_wait_for_one() -> None:
    agent = Agent(
        TestModel(),
        name="careful",
        output_type=[str, DeferredToolRequests],
        capabilities=[DetentDurability(approval=None)],
    )
    agent.tool_plain(requires_approval=True)(wipe)

    @workflow(name="asks for wiping")
    async def asking(run: Run) -> list[str]:
        output = (await agent.run("Clean up")).output
        assert isinstance(output, DeferredToolRequests)
        return [call.tool_name for call in output.approvals]

    assert speedrun(asking).assert_completed().output == ["wipe"]


async def wipe() -> str:
    raise AssertionError("it was not approved")


def test_a_budget_of_calls_ends_the_agent_at_the_same_call_in_every_replay() -> None:
    async def endless(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        ledger.append(f"request {turns(messages)}")
        return ModelResponse([ToolCallPart("more", {})])

    agent = Agent(FunctionModel(endless), name="endless", capabilities=[DetentDurability()])

    @agent.tool_plain
    async def more() -> str:
        return "more"

    @workflow(name="an agent with a budget")
    async def budgeted(run: Run) -> str:
        try:
            await agent.run("Go on", usage_limits=UsageLimits(request_limit=2))
        except UsageLimitExceeded as error:
            await run.sleep("1d")
            return str(error)
        return "it stopped by itself"

    ended = speedrun(budgeted).assert_completed()
    assert "request_limit of 2" in ended.output
    assert ledger == ["request 0", "request 1"]
    assert [step.name for step in ended.steps][:4] == ["endless.model", "endless.tool.more", "endless.model#2"] + [
        "endless.tool.more#2"
    ]


class Verdict(BaseModel):
    """A structured output."""

    is_fair: bool
    reasons: list[str]


def test_a_structured_output_and_a_conversation_survive_as_json() -> None:
    agent = Agent(TestModel(), name="judge", output_type=Verdict, capabilities=[DetentDurability()])

    @workflow(name="judges twice")
    async def judging(run: Run, before: list[Any]) -> dict[str, Any]:
        first = await agent.run("Is it fair?", message_history=load_messages(before))
        kept = dump_messages(first.all_messages())
        await run.sleep("30d")
        second = await agent.run("Really?", message_history=load_messages(kept))
        same = first.run_id != second.run_id and first.run_id.startswith(run.id)
        return {"is_fair": second.output.is_fair, "messages": len(second.all_messages()), "ids": same}

    ended = speedrun(judging, []).assert_completed()
    assert ended.output["is_fair"] is False
    assert ended.output["messages"] == 2 * 3
    assert ended.output["ids"]
    assert ended.route.count("judge.model") == 1


def test_a_request_is_retried_by_detent_as_its_error_asks() -> None:
    errors = [
        ModelHTTPError(503, "m", headers={"retry-after": "90"}),
        ModelHTTPError(529, "m", headers={"retry-after": "999999999"}),
        ConnectionError("gone"),
    ]

    async def unstable(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        ledger.append("request")
        if errors:
            raise errors.pop(0)
        return ModelResponse([TextPart("at last")])

    agent = Agent(FunctionModel(unstable), name="unstable", capabilities=[DetentDurability()])

    @workflow(name="asks an unstable model")
    async def asking(run: Run) -> str:
        return (await agent.run("Hello")).output

    ended = speedrun(asking).assert_completed()
    assert ended.output == "at last"
    assert len(ledger) == 4
    assert timedelta(seconds=90) <= ended.slept < timedelta(hours=2), "a provider cannot let a run wait for years"


def test_a_request_that_the_provider_rejects_is_not_repeated() -> None:
    async def rejected(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        ledger.append("request")
        raise ModelHTTPError(401, "m", body={"error": "no such key"})

    agent = Agent(FunctionModel(rejected), name="rejected", capabilities=[DetentDurability()])

    @workflow(name="asks without a key")
    async def asking(run: Run) -> str:
        try:
            return (await agent.run("Hello")).output
        except StepFailed as failed:
            return f"{failed.code}: {failed.message}"

    output = speedrun(asking).assert_completed().output
    assert output.startswith("model_http_401: ")
    assert "no such key" in output
    assert ledger == ["request"]


def test_a_tool_that_asks_the_model_again_has_succeeded_as_a_step_and_one_that_fails_is_repeated_as_told() -> None:
    async def calling(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        names = ["picky", "picky", "flaky"]
        turn = turns(messages)
        return ModelResponse([ToolCallPart(names[turn], {"turn": turn}) if turn < 3 else TextPart("done")])

    agent = Agent(FunctionModel(calling), name="tools", retries=2, capabilities=[DetentDurability()])

    @agent.tool_plain
    async def picky(turn: int) -> str:
        ledger.append(f"picky {turn}")
        if turn == 0:
            raise ModelRetry("give me another number")
        return "fine"

    @agent.tool_plain(metadata={"detent": {"retry": 2}})
    async def flaky(turn: int) -> str:
        ledger.append("flaky")
        if ledger.count("flaky") < 3:
            raise OSError("the disk is busy")
        return "fine"

    @workflow(name="uses its tools")
    async def using(run: Run) -> str:
        return (await agent.run("Go")).output

    ended = speedrun(using).assert_completed()
    assert ended.output == "done"
    assert ledger == ["picky 0", "picky 1", "flaky", "flaky", "flaky"]
    assert [(name, ended.results[name]["kind"]) for name in ("tools.tool.picky", "tools.tool.picky#2")] == [
        ("tools.tool.picky", "model_retry"),
        ("tools.tool.picky#2", "tool_return"),
    ]


def test_the_tools_of_a_dynamic_toolset_are_discovered_in_steps_and_one_that_computes_runs_in_the_function() -> None:
    async def calling(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        calls = [ToolCallPart("add", {"a": 1, "b": 2}), ToolCallPart("greet", {"name": "Ada"})]
        return ModelResponse(calls if not turns(messages) else [TextPart("done")])

    def built(context: RunContext[None]) -> FunctionToolset[None]:
        ledger.append("built")
        return FunctionToolset([greet])

    def greet(name: str) -> str:
        return f"hello {name}"

    agent: Agent[None, str] = Agent(
        FunctionModel(calling),
        name="dynamic",
        toolsets=[DynamicToolset(built, id="people")],
        capabilities=[DetentDurability()],
    )

    @agent.tool_plain(metadata={"detent": False})
    async def add(a: int, b: int) -> int:
        ledger.append("add")
        return a + b

    @workflow(name="discovers tools")
    async def discovering(run: Run) -> str:
        return (await agent.run("Go")).output

    ended = speedrun(discovering).assert_completed()
    assert set(ended.route) == {
        "dynamic.dynamic.people.tools",
        "dynamic.model",
        "dynamic.tool.greet",
        "dynamic.dynamic.people.tools#2",
        "dynamic.model#2",
    }
    assert "add" in ledger


def test_what_is_too_large_for_the_journal_says_what_to_do() -> None:
    async def calling(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([ToolCallPart("dump", {})] if not turns(messages) else [TextPart("done")])

    agent = Agent(FunctionModel(calling), name="large", capabilities=[DetentDurability()])

    @agent.tool_plain
    async def dump() -> str:
        return "x" * 300_000

    @workflow(name="dumps too much")
    async def dumping(run: Run) -> str:
        try:
            return (await agent.run("Go")).output
        except ResultTooLarge as error:
            return str(error)

    output = speedrun(dumping).assert_completed().output
    assert "step 'large.tool.dump' failed" in output
    assert "store the content elsewhere and return its key" in output
    with pytest.raises(MessagesTooLarge, match=r"2 messages take .* keep the newest ones"):
        dump_messages([ModelResponse([TextPart("x" * 150_000)])] * 2)


def test_a_handler_gets_the_events_of_a_request_while_its_step_runs_and_not_again_in_a_replay() -> None:
    async def note(context: RunContext[None], events: AsyncIterable[AgentStreamEvent]) -> None:
        ledger.extend([event.event_kind async for event in events])

    agent = Agent(
        TestModel(custom_output_text="two words"),
        name="live",
        capabilities=[DetentDurability(event_stream_handler=note)],
    )

    @workflow(name="listens to an agent")
    async def listening(run: Run) -> str:
        output = (await agent.run("Go")).output
        await run.sleep("1d")
        return output

    assert speedrun(listening).assert_completed().output == "two words"
    assert ledger.count("part_start") == 1
    assert ledger.count("part_delta") >= 2


def test_streams_into_the_function_and_toolsets_of_one_call_are_refused() -> None:
    agent = Agent(TestModel(), name="refusing", capabilities=[DetentDurability()])

    @workflow(name="streams to itself")
    async def streaming(run: Run) -> list[str]:
        said = []
        try:
            async with agent.run_stream("Go") as stream:
                await stream.get_output()
        except UserError as error:
            said.append(str(error))
        try:
            await agent.run("Go", toolsets=[FunctionToolset([wipe], id="late")])
        except UserError as error:
            said.append(str(error))
        return said

    streamed, late = speedrun(streaming).assert_completed().output
    assert "cannot stream to a durable function" in streamed
    assert "event_stream_handler" in streamed
    assert "Detent" in late


async def test_outside_of_a_durable_function_the_agent_is_an_ordinary_one() -> None:
    agent = Agent(TestModel(custom_output_text="hi"), name="plain", capabilities=[DetentDurability()])
    async with agent.run_stream("Go") as stream:
        assert await stream.get_output() == "hi"

    @workflow(name="calls an agent in a step")
    async def calling(run: Run) -> str:
        async def ask() -> str:
            return (await agent.run("Go")).output

        return await run.step(ask)

    ended = (await speedrun_async(calling)).assert_completed()
    assert (ended.output, ended.route) == ("hi", ["ask"])


def test_wrong_options_are_refused_when_they_are_written_or_used() -> None:
    with pytest.raises(InvalidInput, match="retry must be"):
        AgentStep(retry=-1)
    with pytest.raises(InvalidInput):
        ApprovalOptions(timeout=0)
    agent = Agent(TestModel(), name="odd", capabilities=[DetentDurability()])
    agent.tool_plain(metadata={"detent": {"retries": 3}})(wipe)

    @workflow(name="has odd metadata")
    async def odd(run: Run) -> str:
        try:
            return (await agent.run("Go")).output
        except UserError as error:
            return str(error)

    assert "write {'retry': 3, 'timeout': '30s'}" in speedrun(odd).assert_completed().output


@pytest.mark.parametrize("text", ["support.model", "x" * 80, "two words", "7th", "", "naïve.tool", ".a"])
def test_every_text_becomes_the_name_of_a_step_that_no_other_text_has(text: str) -> None:
    name = valid_name(text)
    assert is_name(name)
    assert len(name) <= LONGEST_NAME
    assert name != valid_name(f"{text}!")
