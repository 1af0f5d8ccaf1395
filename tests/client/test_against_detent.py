"""A client of either face before a real Detent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.client import (
    Conflict,
    InvalidRequest,
    NotFound,
    PreconditionFailed,
    RehearsalFailed,
    RehearsalProgressDocument,
    RunFailed,
    StillRunning,
)
from detent.errors import InvalidInput

pytestmark = pytest.mark.slow

GREET = """
name: greet
tasks:
  hello: {action: core.echo, with: {text: "Hello, {{trigger.body.name}}"}}
"""
APPROVAL = {
    "name": "approval",
    "tasks": {
        "ask": {"action": "core.echo", "with": {"amount": "{{trigger.body.amount}}"}},
        "answer": {"needs": ["ask"], "wait_for_webhook": {"timeout": "1h"}},
        "pay": {"needs": ["answer"], "action": "core.echo", "with": {"by": "{{tasks.answer.body.by}}"}},
    },
}
BROKEN = {"name": "broken", "tasks": {"a": {"action": "core.echo", "with": {"x": "{{trigger.body.missing}}"}}}}


@pytest.fixture
def client(detent_url: str, connect: Any) -> Any:
    return connect(detent_url)


def test_a_workflow_is_created_saved_again_and_read(client: Any, tmp_path: Path) -> None:
    created = client.workflows.create(GREET)
    assert (created.name, created.current_version, created.step_count) == ("greet", 1, 1)
    assert created.definition["name"] == "greet"
    same = client.workflows.save(GREET)
    assert (same.created, same.changed, same.workflow.id) == (False, False, created.id)
    file = tmp_path / "greet.yaml"
    file.write_text(GREET.replace("Hello", "Goodbye"))
    changed = client.workflows.save(file)
    assert (changed.created, changed.changed, changed.workflow.current_version) == (False, True, 2)
    assert client.workflows.get(created.id).current_version == client.workflows.get("greet").current_version == 2
    assert client.workflows.save(APPROVAL).created
    with pytest.raises(Conflict) as caught:
        client.workflows.create(GREET)
    assert caught.value.code == "name_taken"


def test_a_rehearsal_reports_its_progress_and_a_strict_publish_is_refused_with_it(client: Any) -> None:
    client.workflows.save(BROKEN)
    done = client.start("broken", {"missing": 1}).wait(timeout=300)
    reports: list[RehearsalProgressDocument] = []
    broken = {"name": "broken", "tasks": {"a": {"action": "core.echo", "with": {"x": "{{trigger.body.absent}}"}}}}
    found = client.workflows.rehearse(broken, days=1, progress=reports.append)
    assert (found.version, found.failing, found.groups[0].examples) == (2, 1, [done.id])
    assert {one.stage for one in reports} <= {"moves", "in_flight", "finished"}
    assert reports
    client.workflows.save(broken, draft=True)
    for progress in (None, reports.append):
        with pytest.raises(RehearsalFailed, match="1 of 1 rehearsed runs would fail") as caught:
            client.workflows.publish("broken", rehearse="strict", progress=progress)
        assert (caught.value.status, caught.value.rehearsal) == (409, msgspec.structs.replace(found, days=7))
    with pytest.raises(NotFound):
        client.workflows.publish("nothing", rehearse="report", progress=reports.append)
    published = client.workflows.publish("broken", rehearse="report", progress=reports.append)
    assert (published.version, published.rehearsal.failing) == (2, 1)
    assert client.workflows.publish("broken", rehearse="strict", progress=reports.append).rehearsal is None


def test_a_draft_is_saved_compared_published_and_taken_back(client: Any) -> None:
    client.workflows.save(GREET)
    wrong = client.workflows.save(GREET.replace("core.echo", "core.ecko"), draft=True)
    assert [one.field for one in wrong.workflow.draft.problems] == ["tasks.hello.action"]
    with pytest.raises(InvalidRequest):
        client.workflows.publish("greet")
    right = client.workflows.save(GREET.replace("Hello", "Goodbye"), draft=True, if_match=wrong.workflow.etag)
    with pytest.raises(PreconditionFailed):
        client.workflows.publish("greet", if_match=wrong.workflow.etag)
    assert client.workflows.draft("greet").etag == right.workflow.etag == '"d2"'
    found = client.workflows.diff("greet")
    assert (found.old, found.new, found.same) == (1, "draft", False)
    assert [one.field for one in found.steps.changed[0].fields] == ["config.with.text"]
    published = client.workflows.publish("greet", if_match=right.workflow.etag)
    assert (published.version, published.status, published.changed) == (2, "active", True)
    assert client.workflows.get("greet", version=1).version == 1
    assert [one.version for one in client.workflows.versions("greet")] == [2, 1]
    assert client.workflows.version("greet", 1).definition["tasks"]["hello"]["with"]["text"].startswith("Hello")
    assert client.workflows.activate("greet", 1).current_version == 1
    assert client.start("greet", {"name": "Ada"}, version=2).result(timeout=300) is not None
    client.workflows.save(GREET, draft=True)
    assert client.workflows.discard_draft("greet").revision == 3
    assert client.workflows.archive("greet").status == "archived"
    assert [one.name for one in client.workflows.list(status="archived", search="GREET")] == ["greet"]
    with pytest.raises(Conflict):
        client.start("greet")
    assert client.workflows.reactivate("greet").enabled


def test_a_definition_with_problems_tells_all_of_them(client: Any) -> None:
    with pytest.raises(InvalidRequest) as caught:
        client.workflows.create({"name": "x", "tasks": {"a": {"action": "core.ehco"}, "b": {"needs": ["c"]}}})
    assert isinstance(caught.value, InvalidInput)
    assert caught.value.code == "WFENG005"
    assert {problem.field for problem in caught.value.problems} >= {"tasks.a.action", "tasks.b.needs[0]"}


def test_lists_are_read_page_by_page_as_far_as_they_are_wanted(client: Any) -> None:
    for number in range(5):
        client.workflows.create(GREET.replace("greet", f"greet-{number}"))
    assert [one.name for one in client.workflows.list(limit=2)] == [f"greet-{number}" for number in range(5)]
    started = [client.start("greet-1", {"name": "x"}).id for _ in range(5)]
    assert [one.id for one in client.runs(limit=2)] == started[::-1]
    assert next(iter(client.runs(limit=1))).id == started[-1]
    assert list(client.runs(status="cancelled")) == []


def test_a_run_is_started_and_its_result_waited_for(client: Any) -> None:
    client.workflows.create(GREET)
    run = client.start("greet", {"name": "Ada"})
    assert run.id.startswith("run_")
    assert run.started.status == "running"
    assert run.result(timeout=300) == {"text": "Hello, Ada"}
    document = client.run(run.id).wait(timeout=300)
    assert document.is_over
    assert document.input["body"] == {"name": "Ada"}
    assert document.finished_at >= document.started_at
    step = document.steps["hello"]
    assert (step.status, step.output, step.attempts[0].attempt) == ("success", {"text": "Hello, Ada"}, 1)


def test_a_failed_run_raises_with_its_failed_steps(client: Any) -> None:
    client.workflows.create(BROKEN)
    with pytest.raises(RunFailed) as caught:
        client.start("broken", {"n": 1}).result(timeout=300)
    assert list(caught.value.steps) == ["a"]
    error = caught.value.steps["a"].error
    assert error is not None
    assert error.code == "template_error"
    assert "missing" in str(caught.value)


def test_a_wait_is_answered_and_the_run_goes_on(client: Any) -> None:
    client.workflows.create(APPROVAL)
    run = client.start("approval", {"amount": 5})
    callbacks: list[Any] = []
    while not callbacks:  # the run never ends without an answer, so each turn waits for it in vain
        with pytest.raises(StillRunning):
            run.wait(timeout=0.3)
        callbacks = list(run.get().callbacks)
    [callback] = callbacks
    assert client.callback(callback.url, {"by": "Ada"}).step == "answer"
    assert run.result(timeout=300) == {"by": "Ada"}
    with pytest.raises(Conflict, match="already used"):
        client.callback(callback.url, {"by": "Bob"})
    with pytest.raises(NotFound):
        client.callback("nonsense")


def test_the_same_callback_sent_twice_counts_once(client: Any) -> None:
    client.workflows.create(APPROVAL)
    run = client.start("approval", {"amount": 5})
    [callback] = run.get().callbacks
    first = client.callback(callback.url, {"by": "Ada"}, message_id="m1")
    assert client.callback(callback.url, {"by": "Ada"}, message_id="m1") == first


def test_a_run_is_paused_resumed_and_cancelled(client: Any) -> None:
    client.workflows.create(APPROVAL)
    run = client.start("approval", {"amount": 5})
    assert run.pause().status == "paused"
    assert run.resume().status == "running"
    assert run.cancel().status == "cancelled"
    assert run.cancel().status == "cancelled"
    with pytest.raises(Conflict) as caught:
        run.resume()
    assert caught.value.code == "WFENG002"
    with pytest.raises(RunFailed, match="cancelled"):
        run.result()


def test_what_is_not_there_is_not_found(client: Any) -> None:
    with pytest.raises(NotFound):
        client.workflows.get("x")
    with pytest.raises(NotFound):
        client.start("x")
    with pytest.raises(NotFound):
        client.run("run_x").get()


def test_it_is_healthy(client: Any) -> None:
    assert client.health().status == "ok"


def test_a_deleted_workflow_is_gone_and_a_disabled_one_does_not_start(client: Any) -> None:
    client.workflows.create(GREET)
    assert not client.workflows.disable("greet").enabled
    with pytest.raises(Conflict) as caught:
        client.start("greet", {"name": "x"})
    assert caught.value.code == "WFENG002"
    assert client.workflows.enable("greet").enabled
    assert client.workflows.delete("greet").deleted_at is not None
    with pytest.raises(NotFound):
        client.workflows.get("greet")


def test_a_workflow_that_somebody_else_changed_is_not_overwritten(client: Any) -> None:
    client.workflows.create(GREET)
    mine = client.workflows.get("greet").etag
    assert client.workflows.save(GREET.replace("Hello", "Hi"), if_match=mine).changed
    with pytest.raises(PreconditionFailed):
        client.workflows.save(GREET.replace("Hello", "Hey"), if_match=mine)


def test_the_same_request_id_starts_one_run(client: Any) -> None:
    client.workflows.create(GREET)
    first = client.start("greet", {"name": "x"}, request_id="r-1")
    assert client.start("greet", {"name": "x"}, request_id="r-1").id == first.id
    assert client.start("greet", {"name": "x"}).id != first.id
    with pytest.raises(Conflict) as caught:
        client.start("greet", {"name": "y"}, request_id="r-1")
    assert caught.value.code == "request_id_reused"


def test_a_start_can_wait_for_the_end_and_begin_later(client: Any) -> None:
    client.workflows.create(GREET)
    ended = client.start("greet", {"name": "x"}, wait=20, labels={"team": "a"}, hero=("order", "7"))
    assert (ended.started.status, ended.started.output) == ("completed", {"text": "Hello, x"})
    document = ended.get()
    assert (document.labels["team"], document.hero.type, document.hero.id) == ("a", "order", "7")
    later = client.start("greet", {"name": "x"}, start_at=timedelta(hours=1))
    assert later.started.status == "pending"
    assert later.started.start_at is not None
    assert later.cancel().status == "cancelled"


def test_runs_are_found_by_every_word_of_a_filter(client: Any) -> None:
    client.workflows.create(GREET)
    run = client.start("greet", {"name": "x"}, wait=20, labels={"team": "a"}, hero=("order", "7"), request_id="r")
    client.start("greet", {"name": "y"}, wait=20)
    before, after = datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) + timedelta(hours=1)  # noqa: TID251
    for which in (
        {"labels": {"team": "a"}}, {"hero": ("order", "7")}, {"request_id": "r"},
        {"workflow": "greet", "status": ["completed"], "trigger": "api", "sort": "started_at", "labels": {"team": "a"}},
        {"hero": "order:7", "started_after": before, "started_before": after},
    ):  # fmt: skip
        assert [one.id for one in client.runs(**which)] == [run.id], which
    assert list(client.runs(started_after=after)) == []


def test_a_failed_run_is_retried_rerun_and_forked_as_new_runs(client: Any) -> None:
    client.workflows.create(BROKEN)
    failed = client.start("broken", {"n": 1}, wait=20)
    retried = failed.retry(request_id="again")
    assert failed.retry(request_id="again").id == retried.id
    origin = retried.wait(300).origin
    assert (origin.run_id, origin.kind) == (failed.id, "retry")
    assert failed.rerun({"missing": 7}).result(20) == {"x": 7}
    forked = failed.fork("a", output={"x": "by hand"})
    assert forked.result(20) == {"x": "by hand"}
    assert {one.id for one in client.runs(origin=failed.id)} >= {retried.id, forked.id}


def test_many_runs_are_counted_first_and_then_cancelled(client: Any) -> None:
    client.workflows.create(APPROVAL)
    started = [client.start("approval", {"amount": number}) for number in range(3)]
    counted = client.bulk("cancel", {"workflow": "approval"})
    assert (counted.matched, counted.done, counted.dry_run) == (3, 0, True)
    assert client.bulk("cancel", {"workflow": "approval"}, dry_run=False).done == 3
    assert [run.wait(300).status for run in started] == ["cancelled"] * 3
    with pytest.raises(InvalidRequest):
        client.bulk("cancel", {})


def test_a_waiting_run_says_why_it_does_not_go_on(client: Any) -> None:
    client.workflows.create(APPROVAL)
    run = client.start("approval", {"amount": 5})
    entries = run.follow()
    assert next(entries).step == "ask"
    entries.close()
    told = run.why()
    assert (told.run_id, told.status) == (run.id, "running")
    assert [(reason.kind, reason.step) for reason in told.reasons] == [("callback", "answer"), ("needs", "pay")]
    assert told.reasons[0].until is not None


def test_the_parents_and_children_of_a_run_are_a_tree(client: Any) -> None:
    client.workflows.create({"name": "child", "tasks": {"a": {"action": "core.echo"}}})
    client.workflows.create({"name": "parent", "tasks": {"pay": {"workflow": "child"}}})
    run = client.start("parent", {})
    run.wait(300)
    tree = run.hierarchy(limit=10)
    [child] = tree.root.children
    assert (tree.complete, tree.root.id, child.workflow) == (True, run.id, "child")


def test_a_step_that_is_not_uncertain_cannot_be_resolved(client: Any) -> None:
    client.workflows.create(APPROVAL)
    with pytest.raises(Conflict):
        client.start("approval", {"amount": 5}).resolve("answer", happened=True)


def test_a_run_is_followed_to_its_end_while_it_goes_on(client: Any) -> None:
    client.workflows.create(APPROVAL)
    run = client.start("approval", {"amount": 5})
    seen = []
    for entry in run.follow():
        seen.append((entry.kind, entry.step))
        if entry.step == "ask":
            client.callback(run.get().callbacks[0].url, {"by": "Ada"})
    assert seen == [("ended", "ask"), ("ended", "answer"), ("ended", "pay")]
    assert [(entry.kind, entry.step) for entry in run.events(limit=1)] == seen
    assert [entry.step for entry in run.follow(after=2)] == ["pay"]
    assert list(run.events(after=3)) == []
