"""Steps that are child runs, on real databases and over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from detent.steps.actions import Registry, registry
from tests.api.server import Detent, serving, statuses
from tests.forms.graphs import PARENT_WORKFLOW

POSTED: list[dict[str, Any]] = []


def post_message(channelId: str, message: str) -> dict[str, Any]:  # noqa: N803 - as the workflow writes it
    POSTED.append({"channelId": channelId, "message": message})
    return {"ts": len(POSTED)}


@pytest.fixture(autouse=True)
def slack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an action of this process answer in place of the connector, for these tests only."""
    mine = Registry()
    mine.add("slack.post-message", post_message)
    monkeypatch.setitem(vars(registry)["_actions"], "slack.post-message", mine.find("slack.post-message"))


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "sqlite":
            return f"sqlite:///{tmp_path}/detent.db"
        case database:
            return str(request.getfixturevalue(f"{database}_database"))


@pytest.fixture
async def detent(url: str) -> AsyncIterator[Detent]:
    async with serving(url) as found:
        yield found


@pytest.fixture
async def quick(tmp_path: Path) -> AsyncIterator[Detent]:
    """A Detent on SQLite, for what does not depend on the database."""
    async with serving(f"sqlite:///{tmp_path}/detent.db") as found:
        yield found


async def save(detent: Detent, name: str, tasks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return await detent.save(json.dumps({"name": name, "tasks": tasks, **more}))


async def save_again(detent: Detent, name: str, tasks: dict[str, Any], **more: Any) -> None:
    definition = json.dumps({"name": name, "tasks": tasks, **more})
    answer = await detent.call("PUT", f"/api/v1/workflows/{name}", data=definition)
    assert answer.status == 200, answer.text


async def get(detent: Detent, place: str) -> Any:
    answer = await detent.call("GET", f"/api/v1{place}")
    assert answer.status == 200, answer.text
    return answer.json["data"]


async def children_of(detent: Detent, run: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await get(detent, f"/runs/{run}?include=children"))["children"]
    return found


async def child_of(detent: Detent, started: dict[str, Any], step: str = "child") -> str:
    """The id of the child that a step waits for, once it is there."""
    async with asyncio.timeout(300):
        while True:
            run = await detent.run(started)
            child = run["tasks"][step].get("child_run_id")
            if child and (await detent.call("GET", f"/api/v1/runs/{child}")).status == 200:
                return str(child)
            await asyncio.sleep(0.02)


async def run_until(detent: Detent, run: str, *wanted: str) -> dict[str, Any]:
    async with asyncio.timeout(300):
        while True:
            found: dict[str, Any] = await get(detent, f"/runs/{run}")
            if found["status"] in wanted:
                return found
            await asyncio.sleep(0.02)


async def cancel(detent: Detent, run: str) -> None:
    answer = await detent.call("POST", f"/api/v1/runs/{run}/cancel", json={})
    assert answer.status in (200, 202), answer.text


SLEEP = {"nap": {"sleep": "10m"}}
ECHO = {"say": {"action": "core.echo", "with": {"got": "{{ trigger.body }}"}}}


async def test_parent_with_child_workflow_waits_for_version_2_of_its_child_and_posts_its_output(detent: Detent) -> None:
    for number in (1, 2, 3):
        write = save if number == 1 else save_again
        output = {"result": f"version {number} got {{{{ trigger.body.input }}}}"}
        await write(detent, "child-workflow", {"say": {"action": "core.echo"}}, output=output)
    await detent.save(PARENT_WORKFLOW)
    published = await detent.call("POST", "/api/v1/workflows/parent-workflow/publish")
    assert published.status in (200, 201), published.text
    started = await detent.start("parent-workflow", {"data": 42, "channelId": "C1"})
    ended = await detent.ended(started)
    assert ended["status"] == "completed", ended
    assert POSTED[-1] == {"channelId": "C1", "message": "Child workflow completed with: version 2 got 42"}
    [child] = await children_of(detent, started["run_id"])
    assert (child["workflow"], child["version"], child["status"]) == ("child-workflow", 2, "completed")


async def test_the_outputs_of_a_child_are_part_of_its_parent(detent: Detent) -> None:
    await save(detent, "child", ECHO, output={"sum": "{{ trigger.body.a + trigger.body.b }}"})
    tasks = {
        "child": {"workflow": "child", "with": {"a": 1, "b": "{{ trigger.body.b }}"}},
        "after": {
            "action": "core.echo",
            "with": {"sum": "{{ tasks.child.output.sum }}", "run": "{{ tasks.child.run_id }}"},
            "needs": ["child"],
        },
    }
    await save(detent, "parent", tasks)
    ended = await detent.ended(await detent.start("parent", {"b": 2}))
    child = ended["tasks"]["child"]
    assert (child["status"], child["type"], child["output"]) == ("success", "subworkflow", {"sum": 3})
    assert ended["tasks"]["after"]["output"] == {"sum": 3, "run": child["child_run_id"]}


async def test_a_failed_child_fails_its_step_and_the_error_says_why(detent: Detent) -> None:
    await save(detent, "child", {"bad": {"action": "core.fail", "with": {"message": "no stock"}}})
    tasks = {
        "child": {"workflow": "child", "retries": {"attempts": 1, "delay": "10ms"}},
        "mend": {"action": "core.echo", "needs": ["child"], "if": "tasks.child.status == 'failed'"},
    }
    await save(detent, "parent", tasks)
    started = await detent.start("parent", {})
    ended = await detent.ended(started)
    children = await children_of(detent, ended["id"])
    assert [child["status"] for child in children] == ["failed", "failed"]
    error = ended["tasks"]["child"]["error"]
    assert error["code"] == "child"
    assert children[1]["id"] in error["message"]
    assert "no stock" in error["message"]
    assert [attempt["attempt"] for attempt in ended["tasks"]["child"]["attempts"]] == [1, 2]
    assert ended["tasks"]["child"]["child_run_id"] == children[1]["id"]


async def test_a_cancelled_child_fails_its_step_and_is_not_started_again(detent: Detent) -> None:
    await save(detent, "child", SLEEP)
    await save(detent, "parent", {"child": {"workflow": "child", "retries": 3}})
    started = await detent.start("parent", {})
    child = await child_of(detent, started)
    assert statuses(await detent.run(started)) == {"child": "running"}
    await cancel(detent, child)
    ended = await detent.ended(started)
    assert (ended["status"], statuses(ended)) == ("failed", {"child": "failed"})
    assert f"{child} ended as cancelled" in ended["tasks"]["child"]["error"]["message"]
    assert len(await children_of(detent, ended["id"])) == 1


async def test_a_step_that_is_out_of_time_cancels_its_child(detent: Detent) -> None:
    await save(detent, "child", SLEEP)
    child = message = ""
    for name, limit in (("short", "300ms"), ("long", "3s"), ("longer", "20s")):
        await save(detent, name, {"child": {"workflow": "child", "timeout": limit}})
        ended = await detent.ended(await detent.start(name, {}))
        assert statuses(ended) == {"child": "timeout"}
        child, message = ended["tasks"]["child"]["child_run_id"], ended["tasks"]["child"]["error"]["message"]
        if child in message:  # else the time was over before the child had begun
            break
    assert child
    assert child in message
    await run_until(detent, child, "cancelled")


async def test_a_cancel_of_the_first_run_goes_down_to_the_last(detent: Detent) -> None:
    await save(detent, "last", SLEEP)
    await save(detent, "middle", {"child": {"workflow": "last"}})
    await save(detent, "first", {"child": {"workflow": "middle"}})
    started = await detent.start("first", {})
    middle = await child_of(detent, started)
    last = await child_of(
        detent, {"workflow_id": (await get(detent, f"/runs/{middle}"))["workflow_id"], "run_id": middle}
    )
    await cancel(detent, started["run_id"])
    for run in (started["run_id"], middle, last):
        await run_until(detent, run, "cancelled")


async def test_fail_fast_cancels_the_children_beside_the_failure(detent: Detent) -> None:
    await save(detent, "child", SLEEP)
    nodes = [
        {"id": "begin", "actionType": "core.echo", "edges": [{"targetNode": "child"}, {"targetNode": "go"}]},
        {"id": "child", "nodeType": "subworkflow", "workflowId": "child"},
        {"id": "go", "actionType": "core.wait", "edges": [{"targetNode": "bad"}]},
        {"id": "bad", "actionType": "core.fail"},
    ]
    await detent.save(json.dumps({"id": "parent", "displayName": "Parent", "startNode": "begin", "nodes": nodes}))
    published = await detent.call("POST", "/api/v1/workflows/parent/publish")
    assert published.status in (200, 201), published.text
    started = await detent.start("parent", {})
    child = await child_of(detent, started)
    waiting = await detent.until(started, lambda run: run["tasks"]["go"]["status"] == "waiting")
    assert (await detent.call("POST", waiting["callbacks"][0]["url"], json={})).status in (200, 202)
    ended = await detent.ended(started)
    assert statuses(ended) == {"begin": "success", "child": "skipped", "go": "success", "bad": "failed"}
    await run_until(detent, child, "cancelled")


async def test_fire_and_forget(detent: Detent) -> None:
    await save(detent, "child", {"go": {"wait_for_webhook": {}}})
    tasks = {"child": {"workflow": "child", "wait": False}, "nap": {"sleep": "10m", "needs": ["child"]}}
    await save(detent, "parent", tasks)
    started = await detent.start("parent", {})
    parent = await detent.until(started, lambda run: run["tasks"]["child"]["status"] == "success")
    child = parent["tasks"]["child"]["child_run_id"]
    await cancel(detent, started["run_id"])
    await run_until(detent, started["run_id"], "cancelled")
    await asyncio.sleep(0.3)  # long enough for a look for orphans
    document = await run_until(detent, child, "running")
    assert document["parent"] == {"run_id": started["run_id"], "step": "child"}
    assert (await detent.call("POST", document["callbacks"][0]["url"], json={})).status in (200, 202)
    await run_until(detent, child, "completed")


async def test_children_nest_no_deeper_than_allowed(quick: Detent) -> None:
    await save(quick, "w6", ECHO)
    for number in (5, 4, 3, 2, 1, 0):
        await save(quick, f"w{number}", {"child": {"workflow": f"w{number + 1}"}})
    ended = await quick.ended(await quick.start("w1", {}))
    assert ended["status"] == "completed"
    ended = await quick.ended(await quick.start("w0", {}))
    assert ended["status"] == "failed"
    tree = await get(quick, f"/runs/{ended['id']}/hierarchy")
    deepest = tree["root"]
    while deepest["children"]:
        [deepest] = deepest["children"]
    error = (await get(quick, f"/runs/{deepest['id']}"))["tasks"]["child"]["error"]
    assert (deepest["workflow"], error["code"]) == ("w5", "nesting_depth")


@pytest.mark.parametrize("form", ["steps", "graph"])
@pytest.mark.parametrize("each", [False, True])
async def test_a_workflow_that_would_start_itself_is_refused(quick: Detent, form: str, each: bool) -> None:
    """A form that is live at once refuses it when it is saved, and one that is published refuses it then."""

    def starts(name: str, child: str) -> str:
        more = {"forEach" if form == "graph" else "for_each": [1, 2]} if each else {}
        if form == "steps":
            return json.dumps({"name": name, "tasks": {"go": {"workflow": child, **more}}})
        node = {"id": "go", "nodeType": "subworkflow", "workflowId": child, **more}
        return json.dumps({"id": name, "displayName": name, "startNode": "go", "nodes": [node]})

    async def made(name: str, child: str) -> tuple[int, list[str]]:
        answer = await quick.call("POST", "/api/v1/workflows", data=starts(name, child))
        if form == "graph" and answer.status == 201:
            answer = await quick.call("POST", f"/api/v1/workflows/{name}/publish")
        problems = answer.json.get("details", {}).get("validation_errors", [])
        return answer.status, [f"{one['field']}: {one['message']}" for one in problems]

    place = {"steps": "tasks.go.workflow", "graph": "nodes.go.workflowId"}[form]
    assert await made("self", "self") == (400, [f"{place}: the workflow would start itself: self -> self"])
    leaf = await save(quick, "leaf", ECHO)
    assert (await made("first", "leaf"))[0] in (200, 201)
    assert (await made("second", "first"))[0] in (200, 201)
    # Now the first is to start the second, by its name or by its id.
    second = (await get(quick, "/workflows/second"))["id"]
    for child in ("second", second):
        answer = await quick.call("PUT", "/api/v1/workflows/first", data=starts("first", child))
        if form == "graph":
            answer = await quick.call("POST", "/api/v1/workflows/first/publish")
        shown = f"first -> {child} -> first"
        assert (answer.status, shown in answer.text) == (400, True), answer.text
    assert (await made("third", leaf["id"]))[0] in (200, 201), "a child is named by its id too"


async def test_a_save_answers_with_the_children_that_do_not_exist_yet(quick: Detent) -> None:
    written = {"name": "early", "tasks": {"a": {"workflow": "late"}}}
    created = await quick.call("POST", "/api/v1/workflows", json=written)
    assert created.json["data"]["warnings"] == [
        "tasks.a.workflow: there is no workflow 'late'; until there is, the step fails"
    ]
    assert (await quick.call("PUT", "/api/v1/workflows/early", json=written)).json["data"]["warnings"]
    await quick.save(json.dumps({"name": "late", "tasks": {"a": {"action": "core.echo"}}}))
    for answer in (
        await quick.call("PUT", "/api/v1/workflows/early", json=written),
        await quick.call("GET", "/api/v1/workflows/early"),
    ):
        assert "warnings" not in answer.json["data"]


async def test_a_workflow_does_not_start_itself_unless_that_is_allowed(quick: Detent) -> None:
    stop = {"if": "trigger.body.n > 0"}
    # Only the run knows which workflow it is, so that nothing can be refused before it runs.
    child = {"workflow": "{{ trigger.body.child }}", "with": {"child": "loop"}}
    await save(quick, "loop", {"child": child})
    ended = await quick.ended(await quick.start("loop", {"child": "loop"}))
    assert (ended["status"], ended["tasks"]["child"]["error"]["code"]) == ("failed", "recursion")
    tasks = {"child": {"workflow": "again", "with": {"n": "{{ trigger.body.n - 1 }}"}, "allow_recursion": True, **stop}}
    await save(quick, "again", tasks)
    ended = await quick.ended(await quick.start("again", {"n": 8}))
    assert ended["status"] == "completed"
    tree, depth = (await get(quick, f"/runs/{ended['id']}/hierarchy"))["root"], 0
    while tree["children"]:
        [tree], depth = tree["children"], depth + 1
    assert depth == 8


@pytest.mark.parametrize(
    ("child", "code"),
    [
        ("missing", "not_found"),
        ("archived", "not_startable"),
        ("disabled", "not_startable"),
        ("strict", "invalid_argument"),
    ],
)
async def test_a_start_that_is_refused_fails_the_step_for_good(quick: Detent, child: str, code: str) -> None:
    for name in ("archived", "disabled"):
        await save(quick, name, ECHO)
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    await save(quick, "strict", ECHO, trigger_schema=schema)
    assert (await quick.call("POST", "/api/v1/workflows/archived/archive")).status == 200
    assert (await quick.call("POST", "/api/v1/workflows/disabled/disable")).status == 200
    await save(quick, "parent", {"child": {"workflow": child, "retries": 3}})
    ended = await quick.ended(await quick.start("parent", {}))
    step = ended["tasks"]["child"]
    assert (step["status"], len(step["attempts"])) == ("failed", 1)
    assert step["error"]["code"] == code, step["error"]
    if child == "strict":
        assert step["error"]["detail"]["problems"][0]["field"] == "body.n"
    assert await children_of(quick, ended["id"]) == []
    assert "child_run_id" in step


@pytest.mark.parametrize("given", ["envelope", "header", "nothing"])
async def test_a_child_has_the_principal_and_the_correlation_id_of_its_parent(quick: Detent, given: str) -> None:
    each = {"child": {"workflow": "last", "for_each": [1], "collect": "{{ result.run_id }}"}}
    await save(quick, "last", ECHO)
    await save(quick, "child", each, output="{{ steps.child.output[0] }}")
    await save(quick, "parent", {"child": {"workflow": "child"}})
    start: dict[str, Any] = {"trigger": {}, "principal": {"userId": "U1", "displayName": "Ada"}}
    start |= {"correlationId": "c-1"} if given == "envelope" else {}
    headers = {"X-Correlation-Id": "c-1" if given == "header" else "other"} if given != "nothing" else {}
    answer = await quick.call("POST", "/api/v1/workflows/parent/execute", json=start, headers=headers)
    assert answer.status in (200, 201, 202), answer.text
    first = answer.json["data"]["run_id"]
    parent = await run_until(quick, first, "completed")
    below = [parent["tasks"]["child"]["child_run_id"], parent["output"]]
    found = [(await get(quick, f"/runs/{run}"))["input"] for run in below]
    assert [one["principal"] for one in found] == [parent["input"]["principal"]] * 2
    assert "Ada" in parent["input"]["principal"].values()
    wanted = first if given == "nothing" else "c-1"
    assert [one["correlation_id"] for one in found] == [wanted] * 2


async def test_runs_are_found_by_their_parent_and_trees_are_bounded(quick: Detent) -> None:
    await save(quick, "child", ECHO)
    await save(quick, "parent", {f"c{number}": {"workflow": "child"} for number in range(7)})
    started = await quick.start("parent", {})
    await quick.ended(started)
    run = started["run_id"]
    answer = await quick.call("GET", f"/api/v1/runs?parent={run}&limit=5&sort=started_at")
    assert len(answer.json["data"]) == 5
    assert {one["parent"]["run_id"] for one in answer.json["data"]} == {run}
    assert (await quick.call("GET", "/api/v1/runs?parent=nothing")).status == 400
    page = await get(quick, f"/runs/{run}?include=children&limit=4&offset=2")
    assert (len(page["children"]), page["more"]) == (4, ["children"])
    page = await get(quick, f"/runs/{run}?include=children&limit=4&offset=3")
    assert (len(page["children"]), page["more"]) == (4, [])
    tree = await get(quick, f"/executions/{run}/hierarchy?limit=4")
    assert (len(tree["root"]["children"]), tree["root"]["more"], tree["complete"]) == (3, True, False)
    tree = await get(quick, f"/runs/{run}/hierarchy?limit=9")
    assert (len(tree["root"]["children"]), tree["complete"]) == (7, True)
    for bad in ("0", "x", "1001"):
        assert (await quick.call("GET", f"/api/v1/runs/{run}/hierarchy?limit={bad}")).status == 400


async def test_why_and_a_paused_parent(quick: Detent) -> None:
    await save(quick, "child", {"go": {"wait_for_webhook": {}}})
    await save(quick, "parent", {"child": {"workflow": "child"}})
    started = await quick.start("parent", {})
    child = await child_of(quick, started)
    why = await get(quick, f"/runs/{started['run_id']}/why")
    assert why["summary"].startswith(f"Step 'child' waits for its child {child} (running since ")
    assert (why["reasons"][0]["kind"], why["reasons"][0]["details"]) == ("child", {"run_id": child})
    for word in ("pause", "resume"):
        assert (await quick.call("POST", f"/api/v1/runs/{started['run_id']}/{word}", json={})).status in (200, 202)
        await run_until(quick, started["run_id"], "paused" if word == "pause" else "running")
    url = (await get(quick, f"/runs/{child}"))["callbacks"][0]["url"]
    assert (await quick.call("POST", url, json={})).status in (200, 202)
    assert (await quick.ended(started))["status"] == "completed"
    assert len(await children_of(quick, started["run_id"])) == 1


@pytest.mark.parametrize("allowed", [False, True])
async def test_a_workflow_that_starts_itself_is_published_only_if_that_is_allowed(quick: Detent, allowed: bool) -> None:
    node = {
        "id": "again",
        "nodeType": "subworkflow",
        "workflowId": "loop",
        "parameters": {"n": "{{ trigger.n - 1 }}"},
        "if": "trigger.n > 0",
        "allowRecursion": allowed,
    }
    await quick.save(json.dumps({"id": "loop", "displayName": "Loop", "startNode": "again", "nodes": [node]}))
    published = await quick.call("POST", "/api/v1/workflows/loop/publish")
    if not allowed:
        assert published.status == 400
        assert "the workflow would start itself: loop -> loop" in published.text
        return
    assert published.status in (200, 201), published.text
    ended = await quick.ended(await quick.start("loop", {"n": 3}))
    assert ended["status"] == "completed"
    assert len(await children_of(quick, ended["id"])) == 1
