"""The four workflows of `tests/forms/documents/` on an engine, with stand-ins for the services that they call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from detent.forms.definition import read_definition
from detent.forms.graph.form import compile_graph
from detent.graph.model import Graph
from detent.planner import prepare
from detent.planner.scope import status_word
from detent.run.journal import decode_data
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import CORE, Registry
from detent.steps.errors import ActionError, Permanent
from detent.store.rows import RunRow
from detent.views.runs import fold_row
from tests.engine.rig import Rig, rig, virtual
from tests.forms.graphs import FANOUT_FANIN, MONDAY_STATUS, ONBOARD_PROJECT, RETRY_DEMO, document, node

Stand = Callable[..., Any]
CHANNEL = {"channelId": "C456"}


class Service:
    """A stand-in for an action. It remembers its calls and answers with these values in turn; an exception is
    raised. The last answer is repeated."""

    def __init__(self, *answers: Any) -> None:
        self.answers = answers or ({"ok": True},)
        self.calls: list[dict[str, Any]] = []

    def __call__(self, **parameters: Any) -> Any:
        self.calls.append(parameters)
        answer = self.answers[min(len(self.calls), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Ended:
    """What became of a run."""

    def __init__(self, world: Rig, row: RunRow, graph: Graph) -> None:
        prepared = prepare(graph)
        entries = [entry for _, entry in sorted(world.store.entries[row.id].items())]
        state = fold_row(row, prepared, entries, str)
        self.status = row.status
        self.output = None if row.output is None else json.loads(row.output)
        self.steps = {name: status_word(prepared, state, index) for name, index in prepared.numbers.items()}
        self.entries = [(entry.step, entry.attempt, entry.outcome) for entry in entries]
        self.errors = [decode_data(entry.data).error for entry in entries]


async def run(text: str, trigger: Mapping[str, Any], services: Mapping[str, Stand]) -> Ended:
    """Run a workflow to its end on an engine that has these actions."""
    actions, core = Registry(), Registry(is_core=True)
    for name, service in services.items():
        (core if name.startswith("core.") else actions).add(name, service, inline=True)
    compiled = compile_graph(read_definition(text), actions=services)
    own, cores = ActionExecutor(actions), ActionExecutor(core=core if core.names() else CORE)
    async with rig() as world:
        for step in compiled.graph.steps:
            executor = cores if step.config["action"].startswith("core.") else own
            world.hands.scripts[step.name] = executor.begin
        await world.engine()
        id_ = await world.start(compiled.graph, trigger)
        await world.ended(id_)
        return Ended(world, await world.row(id_), compiled.graph)


# Get Monday Status Report: one node after the other.


@virtual
async def test_the_status_report_counts_the_items_it_fetched() -> None:
    monday, slack = Service({"items": [{"Name": "a"}, {"Name": "b"}]}), Service()
    services = {"monday.get-items": monday, "slack.post-message": slack}
    ended = await run(MONDAY_STATUS, {"boardId": 17, **CHANNEL}, services)
    assert ended.status == "completed"
    assert monday.calls == [
        {"boardId": 17, "filter": {"rules": [{"column": "Status", "operator": "eq", "value": "In Progress"}]}}
    ]
    assert slack.calls == [{**CHANNEL, "message": "Found 2 items in progress."}]
    assert ended.output == {"ok": True}


@virtual
async def test_the_status_report_is_not_posted_if_the_items_cannot_be_fetched() -> None:
    monday, slack = Service(ActionError("away")), Service()
    services = {"monday.get-items": monday, "slack.post-message": slack}
    ended = await run(MONDAY_STATUS, {"boardId": 17, **CHANNEL}, services)
    assert (ended.status, len(monday.calls), slack.calls) == ("failed", 3, [])
    assert ended.steps == {"fetch-items": "failed", "post-slack": "skipped"}


# Onboard New Project: three branches.


async def onboarded(*items: Any) -> tuple[Ended, Service, Service, Service]:
    monday, slack, confluence = Service(*items), Service(), Service({"url": "https://wiki.example/1"})
    services = {"monday.get-items": monday, "slack.post-message": slack, "confluence.create-page": confluence}
    ended = await run(ONBOARD_PROJECT, {"boardId": 1, "itemId": 5, **CHANNEL}, services)
    return ended, monday, slack, confluence


@virtual
async def test_an_approved_project_gets_its_page() -> None:
    ended, monday, slack, confluence = await onboarded({"items": [{"Name": "Apollo", "Status": "Approved"}]})
    assert ended.status == "completed"
    assert monday.calls[0]["filter"]["rules"][0]["value"] == 5
    assert confluence.calls == [{"space": "PROJECTS", "title": "Apollo - Project Brief"}]
    assert slack.calls == []
    assert ended.steps == {
        "get-item": "success",
        "create-confluence": "success",
        "notify-not-approved": "skipped",
        "notify-error": "skipped",
    }


@virtual
async def test_a_project_that_is_not_approved_is_reported() -> None:
    ended, _, slack, confluence = await onboarded({"items": [{"Name": "Apollo", "Status": "Idea"}]})
    assert ended.status == "completed"
    assert slack.calls == [{**CHANNEL, "message": "Project 'Apollo' is not approved."}]
    assert confluence.calls == []


@virtual
async def test_a_failure_of_get_item_is_notified_with_its_node_and_the_run_is_completed() -> None:
    ended, monday, slack, confluence = await onboarded(Permanent("no such board"))
    assert ended.status == "completed"
    assert (len(monday.calls), confluence.calls) == (1, [])
    assert slack.calls == [{**CHANNEL, "message": "Onboarding failed at get-item."}]
    assert ended.steps["get-item"] == "failed"


@virtual
async def test_an_item_that_is_missing_fails_the_targets_of_both_conditions() -> None:
    ended, _, slack, confluence = await onboarded({"items": []})
    assert (ended.status, slack.calls, confluence.calls) == ("failed", [], [])
    assert "failed" in {ended.steps["create-confluence"], ended.steps["notify-not-approved"]}


# Fan-out/Fan-in.


@virtual
async def test_c_is_skipped_so_d_runs_when_only_b_completes() -> None:
    ended = await run(FANOUT_FANIN, {}, {})
    assert ended.status == "completed"
    assert ended.steps == {"A": "success", "B": "success", "C": "skipped", "D": "success"}
    assert [step for step, _, _ in ended.entries] == ["A", "B", "D"]
    assert ended.output == {"msg": "Join"}


# Retry with Deterministic Params.


@virtual
async def test_every_attempt_has_the_same_parameters() -> None:
    work = Service(ActionError("once"), ActionError("twice"), {"done": True})
    given = {"payload": {"n": [1, 2]}, "timestamp": "2026-01-01T00:00:00Z"}
    ended = await run(RETRY_DEMO, given, {"core.sometimes-fails": work})
    assert (ended.status, ended.output) == ("completed", {"done": True})
    assert work.calls == [given] * 3
    assert [attempt for _, attempt, _ in ended.entries] == [1, 2, 3]


@virtual
async def test_the_third_failure_is_the_last() -> None:
    work = Service(ActionError("always"))
    ended = await run(RETRY_DEMO, {"payload": 1, "timestamp": 2}, {"core.sometimes-fails": work})
    assert (ended.status, len(work.calls)) == ("failed", 3)
    assert [error.message for error in ended.errors if error] == ["always"] * 3


@virtual
async def test_the_number_and_the_error_of_each_attempt_are_kept() -> None:
    work = Service(ActionError("first"), ActionError("second"), {"done": True})
    ended = await run(RETRY_DEMO, {"payload": 1, "timestamp": 2}, {"core.sometimes-fails": work})
    kept = [
        (attempt, error and error.message) for (_, attempt, _), error in zip(ended.entries, ended.errors, strict=True)
    ]
    assert kept == [(1, "first"), (2, "second"), (3, None)]


# A whole graph: branches at the same time, failures that pass and one that stays.


def whole_graph() -> str:
    retry = {"retry": {"maxAttempts": 3, "baseDelayMs": 100, "jitter": False}}
    return json.dumps(
        document(
            node("start", "left", "right", actionType="shop.start"),
            node("left", "join", actionType="shop.left", policies=retry),
            node("right", "join", "after", actionType="shop.right", policies=retry),
            node("join", actionType="shop.join", join="all"),
            node("after", actionType="shop.after"),
        )
    )


@virtual
async def test_branches_run_at_the_same_time_and_transient_failures_are_retried_before_the_join() -> None:
    flaky = Service(ActionError("busy"), ActionError("busy"), {"n": 3})
    services = {f"shop.{name}": Service() for name in ("start", "right", "join", "after")} | {"shop.left": flaky}
    ended = await run(whole_graph(), {}, services)
    assert (ended.status, len(flaky.calls), len(services["shop.join"].calls)) == ("completed", 3, 1)
    order = [step for step, _, outcome in ended.entries if outcome == "success"]
    assert order.index("right") < order.index("left") < order.index("join")


@virtual
async def test_a_permanent_failure_cancels_the_rest_and_skips_the_join() -> None:
    flaky = Service(ActionError("busy"), {"n": 2})
    broken = Service(Permanent("no such account"))
    services = {f"shop.{name}": Service() for name in ("start", "join", "after")}
    services |= {"shop.left": flaky, "shop.right": broken}
    ended = await run(whole_graph(), {}, services)
    assert (ended.status, len(broken.calls)) == ("failed", 1)
    skipped = {"left": "skipped", "join": "skipped", "after": "skipped"}
    assert ended.steps == {"start": "success", "right": "failed", **skipped}
    assert not services["shop.join"].calls + services["shop.after"].calls
