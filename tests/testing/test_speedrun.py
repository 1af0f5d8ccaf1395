"""`speedrun`: a run of any form to its end at once."""

from __future__ import annotations

import asyncio
import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from detent.errors import InvalidDefinition, InvalidInput, NotFound
from detent.steps.actions import action
from detent.testing import NeverEnds, Response, StepRequest, speedrun, speedrun_async
from tests.testing.shop import ORDER, Signup, SignupState, User, checkout, parent

APPROVED = {"approve": {"by": "Bob"}}


def test_days_of_sleep_take_no_time_and_are_counted() -> None:
    run = speedrun(ORDER, input={"item": "cup"}, answers=APPROVED)
    assert (run.status, run.output, run.slept) == ("completed", {"by": "Bob"}, timedelta(days=3))
    assert run.route == ["reserve", "cool-off", "approve", "gift:skipped", "bill", "pack", "done"]
    assert run.results["reserve"] == {"item": "cup"}
    assert [step.attempts for step in run.steps if step.name == "bill"] == [1]


@pytest.mark.parametrize("form", ["path", "str path", "dict", "json"])
def test_a_definition_is_taken_as_file_dict_or_text(form: str, tmp_path: Path) -> None:
    document = {"name": "echo", "tasks": {"a": {"action": "core.echo", "with": {"x": "{{trigger.body}}"}}}}
    file = tmp_path / "echo.json"
    file.write_text(json.dumps(document))
    given: Any = {"path": file, "str path": str(file), "dict": document, "json": file.read_text()}[form]
    assert speedrun(given, {"n": 1}).output == {"x": {"n": 1}}


def test_a_class_runs_with_an_object_that_nobody_registered_as_its_hero() -> None:
    user = User()
    run = speedrun(Signup, hero=user).assert_completed()
    assert user.mails == ["welcome", "remind", "complete"]
    assert run.output == {"sent": 2, "said": "Hello, Ada"}
    assert run.slept == timedelta(days=9, seconds=1)


def test_the_hero_is_looked_at_again_before_every_step() -> None:
    user = User()

    def activate() -> str:
        user.is_active = True
        return "hi"

    assert speedrun(Signup, hero=user, answers={"welcome": activate}).route == ["welcome", "remind:skipped", "complete"]

    def leave() -> None:
        user.is_gone = True

    gone = speedrun(Signup, hero=user, answers={"welcome": leave})
    assert (gone.status, gone.route[0]) == ("cancelled", "welcome")


def test_a_workflow_can_be_named_and_a_name_that_is_none_is_told() -> None:
    assert speedrun("testing-signup", hero=User()).status == "completed"
    with pytest.raises(NotFound, match="testing-signup"):
        speedrun("testing-sign-up")


def test_the_state_begins_as_the_test_says() -> None:
    for state in ({"sent": 5}, SignupState(5)):
        assert speedrun(Signup, hero=User(), state=state).output["sent"] == 7
    with pytest.raises(InvalidInput, match="SignupState"):
        speedrun(Signup, hero=User(), state=3)


def test_a_function_gets_its_arguments_its_callback_and_its_signal() -> None:
    run = speedrun(checkout, 4, answers={"approval": True, "paid": {"sum": 4}})
    assert run.output == [400, True, "shipped 4", "invoiced 4", {"sum": 4}]
    assert run.route[:2] == ["charge", "approval"]
    assert sorted(run.route[2:4]) == ["invoice", "ship"]


def test_an_answer_stands_in_for_a_body_in_every_form() -> None:
    assert speedrun(ORDER, {"item": "x"}, answers={**APPROVED, "bill": {"by": "Eve"}}).output == {"by": "Eve"}
    user = User()
    assert speedrun(Signup, hero=user, answers={"welcome": "Hi"}).output == {"sent": 1, "said": "Hi"}
    assert user.mails == ["remind", "complete"]
    run = speedrun(checkout, 4, answers={"approval": 1, "paid": 1, "charge": 9})
    assert run.output[0] == 9


def test_an_answer_that_raises_meets_the_policy_of_its_step() -> None:
    tries: list[int] = []

    def flaky(asked: StepRequest) -> str:
        tries.append(asked.attempt)
        if asked.attempt < 3:
            raise ConnectionError("not yet")
        return "at last"

    run = speedrun(Signup, hero=User(), answers={"complete": flaky})
    assert (run.status, tries, run.step("complete").attempts) == ("completed", [1, 2, 3], 3)
    assert run.slept == timedelta(days=9, hours=2, seconds=1)


def test_a_run_that_pauses_is_given_back_and_says_why_when_it_should_have_completed() -> None:
    run = speedrun(Signup, hero=User(), answers={"remind": ValueError("no mail today")})
    assert (run.status, run.step("remind").error) == ("paused", "ValueError: no mail today")
    with pytest.raises(AssertionError, match=r"(?s)paused, not completed.*no mail today.*Traceback"):
        run.assert_completed()


def test_an_http_step_is_answered_with_a_body_a_status_or_an_error() -> None:
    text = "name: call\ntasks:\n  ask: {url: 'https://api.example/x', retry: {attempts: 2, delay: 1h}}\n"
    assert speedrun(text, answers={"ask": {"ok": True}}).results == {"ask": {"ok": True}}
    missing = speedrun(text, answers={"ask": Response("no such thing", status=404)})
    assert (missing.status, missing.step("ask").attempts) == ("failed", 1)
    broken = speedrun(text, answers={"ask": ConnectionError("cut")})
    assert (broken.status, broken.step("ask").attempts) == ("failed", 3)


def test_a_wait_without_a_limit_that_nobody_answers_is_named_with_the_way_to_answer_it() -> None:
    with pytest.raises(NeverEnds, match=r"(?s)'approve' waits for its callback.*answers=\{'approve': \.\.\.\}"):
        speedrun(ORDER, {"item": "cup"})
    with pytest.raises(NeverEnds, match="paid"):
        speedrun(checkout, 4, answers={"approval": 1})


def test_a_wait_that_is_answered_with_a_timeout_runs_out_of_time() -> None:
    run = speedrun(checkout, 4, answers={"approval": TimeoutError})
    assert (run.step("approval").outcome, run.slept) == ("timeout", timedelta(days=3, hours=1))


def test_a_run_may_take_only_so_long_as_the_test_allows() -> None:
    with pytest.raises(NeverEnds, match="max_wait"):
        speedrun(ORDER, {"item": "cup"}, answers=APPROVED, max_wait="2d")


def test_an_answer_to_a_step_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'approve'"):
        speedrun(ORDER, answers={"aprove": 1})


def test_everything_that_is_wrong_with_a_definition_is_told() -> None:
    with pytest.raises(InvalidDefinition) as caught:
        speedrun("name: w\ntasks:\n  a: {actoin: core.echo}\n")
    assert any("actoin" in note for note in caught.value.__notes__)


def test_plain_functions_run_in_the_thread_of_the_test_where_no_loop_seems_to_run() -> None:
    found: list[Any] = []

    @action("testing.where")
    def where() -> int:
        found.append(threading.current_thread())
        return asyncio.run(asyncio.sleep(0, 5))

    assert speedrun("name: w\ntasks:\n  a: {action: testing.where}\n").output == 5
    assert found == [threading.current_thread()]


async def test_it_can_be_called_where_a_loop_is_running_or_awaited_beside_it() -> None:
    assert speedrun(Signup, hero=User()).status == "completed"
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    assert (await speedrun_async(Signup, hero=User())).status == "completed"
    ticking.cancel()
    assert ticks > 0


def test_what_waits_for_a_thread_is_waited_for() -> None:
    @action("testing.threaded")
    async def threaded() -> str:
        return await asyncio.to_thread(lambda: threading.current_thread().name)

    run = speedrun("name: w\ntasks:\n  a: {action: testing.threaded, timeout: 5s}\n")
    assert (run.status, "Thread" in run.output or "asyncio" in run.output) == ("completed", True)


def test_the_clock_begins_where_the_test_says() -> None:
    moment = datetime(2031, 5, 1, 12, tzinfo=UTC)
    run = speedrun("name: w\ntasks:\n  a: {action: core.echo}\n", at=moment)
    assert run.history[0].ended_at == round(moment.timestamp() * 1_000_000)


def test_it_is_shown_in_a_few_lines() -> None:
    user = User(is_active=True)
    assert repr(speedrun(Signup, hero=user)).splitlines() == [
        "<testing-signup: completed, slept 9 days, 0:00:01>",
        "  ✓ welcome",
        "  - remind  (skipped)",
        "  ✓ complete",
    ]


async def test_a_real_server_is_really_waited_for_and_days_still_pass_in_a_moment() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.1)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n42")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    steps = {"a": {"url": url}, "nap": {"needs": ["a"], "sleep": "9d"}, "b": {"needs": ["nap"], "url": url}}
    async with server:
        run = await speedrun_async({"name": "calls", "tasks": steps})
    assert (run.status, run.results["b"]) == ("completed", 42)
    assert run.slept > timedelta(days=9, seconds=0.1)


def test_children_of_a_function_run_in_the_same_world() -> None:
    run = speedrun(parent, 3)
    assert run.output == ["child says 3", "child says 4"]
    assert run.slept == timedelta(days=2)


LARGE = """
id: large
displayName: Large
startNode: is-large
nodes:
  - id: is-large
    nodeType: condition
    expression: trigger.total > 100
    edges:
      - {targetNode: ask, condition: "context.data['is-large']"}
      - {targetNode: is-paid}
  - {id: ask, actionType: core.echo, edges: [{targetNode: is-paid}]}
  - {id: is-paid, nodeType: condition, expression: trigger.paid}
"""


def test_a_graph_runs_and_its_conditions_are_on_the_route() -> None:
    run = speedrun(LARGE, {"total": 250, "paid": False}).assert_completed()
    assert (run.route, run.output) == (["is-large", "ask", "is-paid"], False)
    assert speedrun(LARGE, {"total": 1, "paid": True}).route == ["is-large", "is-paid", "ask:skipped"]
