"""What a publish refuses beside the problems of a definition: children and actions that do not exist."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from detent.app import App, build_app
from detent.auth.caller import local_caller
from detent.commands import Commands, EngineCommands
from detent.errors import InvalidDefinition
from detent.forms.steps.form import compile_steps
from detent.graph import codec
from detent.graph.model import Graph, Step, StepKind
from detent.ids import new_id
from detent.settings import DEFAULT_TENANT, Settings
from detent.store.rows import NewVersion

ECHO = '{"name": "w", "tasks": {"a": {"action": "core.echo"}}}'


@pytest.fixture
async def app() -> AsyncIterator[App]:
    async with build_app(Settings(database_url="memory://")) as built:
        yield built


@pytest.fixture
def commands(app: App) -> Commands:
    """Commands that know no actions, as on a database that several nodes share."""
    return EngineCommands(app.engine).for_caller(local_caller("test"))


def calls(**children: str) -> Graph:
    """A graph whose steps start these workflows."""
    return Graph(tuple(Step(step, StepKind.SUBWORKFLOW, {"workflow": child}) for step, child in children.items()))


async def save(app: App, name: str, graph: Graph) -> None:
    encoded = codec.encode(graph)
    version = NewVersion(
        DEFAULT_TENANT, new_id(), name, "steps", None, True, '{"type":"api"}', None, "", encoded, "c", 1
    )
    await app.store.save_workflow(version, replace=True)


async def problems(commands: Commands, name: str, graph: Graph) -> dict[str, str]:
    found = await commands.workflows.child_problems(name, graph)
    return {one.field: one.message for one in found}


async def test_a_child_that_does_not_exist_is_a_problem(app: App, commands: Commands) -> None:
    await save(app, "known", calls(x="gone since"))
    graph = calls(a="known", b="unknown", c="{{ trigger.body.name }}")
    assert await problems(commands, "parent", graph) == {"steps.b.workflow": "there is no workflow 'unknown'"}


async def test_a_version_of_a_child_that_does_not_exist_is_a_problem(commands: Commands) -> None:
    await commands.workflows.save(ECHO)
    await commands.drafts.save(ECHO.replace('"w"', '"unpublished"'))
    pins = {"a": ("w", 1), "b": ("w", 2), "c": ("unpublished", 1)}
    nodes = [{"id": id_, "workflowId": name, "workflowVersion": number} for id_, (name, number) in pins.items()]
    graph = {"id": "g", "displayName": "G", "startNodes": list(pins), "nodes": nodes}
    await commands.drafts.save(json.dumps(graph))
    with pytest.raises(InvalidDefinition) as caught:
        await commands.drafts.publish("g")
    assert [str(one) for one in caught.value.problems] == [
        "nodes.b.workflowVersion: the workflow 'w' has no version 2; its newest is 1",
        "nodes.c.workflowVersion: the workflow 'unpublished' has no version 1; it was never published",
    ]


async def test_a_child_that_does_not_exist_yet_is_a_warning_of_a_live_save(commands: Commands) -> None:
    await commands.workflows.save(ECHO)
    tasks = {
        "a": {"workflow": "w", "version": 2},
        "b": {"workflow": "later"},
        "c": {"workflow": "s", "version": 1, "allow_recursion": True},
        "d": {"workflow": "w"},
    }
    _, _, saved = await commands.workflows.save(json.dumps({"name": "s", "tasks": tasks}))
    assert saved.warnings == (
        "tasks.a.version: the workflow 'w' has no version 2; its newest is 1; until there is, the step fails",
        "tasks.b.workflow: there is no workflow 'later'; until there is, the step fails",
    )
    await commands.workflows.save(ECHO.replace('"w"', '"later"'))
    tasks.pop("a")
    assert (await commands.workflows.save(json.dumps({"name": "s", "tasks": tasks}), replace=True))[2].warnings == ()


async def test_a_workflow_that_would_start_itself_is_a_problem(app: App, commands: Commands) -> None:
    await save(app, "b", calls(x="c", y="d"))
    await save(app, "c", calls(x="b"))
    await save(app, "d", calls(x="parent"))
    found = await problems(commands, "parent", calls(one="b", two="c", itself="parent"))
    assert found == {
        "steps.one.workflow": "the workflow would start itself: parent -> b -> d -> parent",
        "steps.two.workflow": "the workflow would start itself: parent -> c -> b -> d -> parent",
        "steps.itself.workflow": "the workflow would start itself: parent -> parent",
    }
    assert await problems(commands, "other", calls(one="b")) == {}, "a circle elsewhere is not its own"


async def test_an_action_that_no_node_has_or_had_is_a_problem(app: App, commands: Commands) -> None:
    source = ECHO.replace("core.echo", "shop.unheard_of")
    await commands.drafts.save(source)
    with pytest.raises(InvalidDefinition) as caught:
        await commands.drafts.publish("w")
    assert [str(one) for one in caught.value.problems] == ["tasks.a.action: no node has the action 'shop.unheard_of'"]
    await app.store.record_served([("action", "shop.unheard_of")])
    assert (await commands.drafts.publish("w")).version == 1, "a node that is away now had it"


async def test_a_problem_of_a_graph_is_named_as_it_was_written(commands: Commands) -> None:
    node = {"id": "a", "nodeType": "subworkflow", "workflowId": "nowhere"}
    await commands.drafts.save(json.dumps({"id": "g", "displayName": "G", "startNode": "a", "nodes": [node]}))
    with pytest.raises(InvalidDefinition) as caught:
        await commands.drafts.publish("g")
    assert [str(one) for one in caught.value.problems] == ["nodes.a.workflowId: there is no workflow 'nowhere'"]


async def test_a_draft_that_is_saved_while_it_is_published_is_published_as_it_was_saved_last(
    app: App,
    commands: Commands,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await commands.drafts.save(ECHO)
    publish = app.store.publish_draft
    saves: list[Any] = []

    async def saved_first(*given: Any, **options: Any) -> Any:
        if not saves:
            saves.append(await commands.drafts.save(ECHO.replace('"a"', '"b"')))
        return await publish(*given, **options)

    monkeypatch.setattr(app.store, "publish_draft", saved_first)
    done = await commands.drafts.publish("w")
    assert (done.version, done.changed) == (1, True)
    assert (
        codec.decode(done.workflow.graph) == compile_steps({"name": "w", "tasks": {"b": {"action": "core.echo"}}}).graph
    )


@pytest.mark.parametrize("published", [0, 1])
async def test_of_two_publishes_at_once_both_answer_with_the_version_that_was_made(
    app: App, commands: Commands, monkeypatch: pytest.MonkeyPatch, published: int
) -> None:
    await commands.drafts.save(ECHO)
    if published:
        await commands.drafts.publish("w")
        await commands.drafts.save(ECHO.replace('"a"', '"b"'))
    draft, others = app.store.draft, list[Any]()

    async def published_first(*given: Any) -> Any:
        if not others:
            others.append(None)
            others[0] = await commands.drafts.publish("w")
        return await draft(*given)

    monkeypatch.setattr(app.store, "draft", published_first)
    done, version = await commands.drafts.publish("w"), published + 1
    assert (others[0].version, others[0].changed) == (version, True)
    assert (done.version, done.workflow.version, done.changed) == (version, version, False)


async def test_a_workflow_is_read_once_however_many_steps_lead_to_it(
    app: App, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save(app, "b", calls(x="d"))
    await save(app, "c", calls(x="d", y="parent"))
    await save(app, "d", calls())
    read, workflow = list[str | bytes](), app.store.workflow

    async def counted(tenant: int, key: str | bytes) -> Any:
        read.append(key)
        return await workflow(tenant, key)

    monkeypatch.setattr(app.store, "workflow", counted)
    steps = {f"s{number}": "bcd"[number % 3] for number in range(30)}
    found = await problems(commands, "parent", calls(**steps))
    assert list(found) == [f"steps.s{number}.workflow" for number in range(1, 30, 3)]
    assert sorted(map(str, read)) == ["b", "c", "d"]
