"""Links and reservations in the code of steps: actions, class steps and durable functions, against a real engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import detent
from detent import ActionContext, Link, Linked, Run, StepContext, Workflow, step, workflow
from detent.errors import StoreBusy
from detent.ids import RUN, show
from detent.run.links import InvalidLink, Reservation, collected, creation_key
from detent.steps.errors import RetryLater
from detent.steps.links import Links, Reservations
from tests.api.server import Detent, serving

calls: list[str] = []


def create(key: str) -> str:
    calls.append(key)
    return f"made-{len(calls)}"


@detent.action("links.returned")
def returned(id: str) -> Linked:  # noqa: A002
    return Linked({"id": id}, [Link("monday", "item", id, url=f"https://m.example/{id}")])


@detent.action("links.named", inline=True)
def named(context: ActionContext, id: int) -> int:  # noqa: A002
    context.links.add(Link("monday", "item", id))  # type: ignore[arg-type]  # a number is accepted
    return id


@detent.action("links.found")
def found(context: ActionContext, order: str) -> str:
    return context.find_or_create("monday", "item", order, create).id


@detent.action("links.found_async")
async def found_async(context: ActionContext, order: str) -> str:
    async def later(key: str) -> Link:
        return Link("monday", "item", create(key), url="https://m.example/x")

    return (await context.find_or_create_async("monday", "item", order, later)).id


@detent.action("links.blocking", inline=True)
def blocking(context: ActionContext) -> str:
    return context.find_or_create("monday", "item", "x", create).id


class LinkedClass(Workflow):
    name = "links-class"

    @step
    def make(self) -> Linked:
        return Linked(1, [Link("monday", "item", self.input["id"])])

    @step
    def finish_it(self) -> None:
        self.finish(Linked(2, (Link("monday", "item", f"{self.input['id']}-end"),)))


def _make(id: str) -> Linked:  # noqa: A002
    return Linked(id, [Link("monday", "item", id)])


def _find(order: str, context: StepContext) -> str:
    return context.find_or_create("monday", "item", order, create).id


@workflow(name="links-function")
async def linked_function(run: Run, id: str) -> Any:  # noqa: A002
    one = await run.step(_make, id)
    two = await run.step(_find, f"order-{id}")
    return Linked([one, two], [Link("monday", "item", f"{id}-all")])


ACTIONS = {
    "returned": ("links.returned", {"id": "{{trigger.body.id}}"}),
    "named": ("links.named", {"id": 17}),
    "found": ("links.found", {"order": "{{trigger.body.id}}"}),
    "found-async": ("links.found_async", {"order": "{{trigger.body.id}}"}),
    "blocking": ("links.blocking", {}),
}


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Detent]:
    calls.clear()
    async with serving(f"sqlite:///{tmp_path}/detent.db") as opened:
        for name, (action, given) in ACTIONS.items():
            document = {"name": name, "tasks": {"a": {"action": action, "with": given, "retry": {"attempts": 1}}}}
            assert (await opened.call("POST", "/api/v1/workflows", json=document)).status == 201
        yield opened


async def links_of(api: Detent, run: str) -> list[tuple[str, str, str]]:
    rows = await api.app.store.find_links(1, limit=99)
    return [(row.type, row.id, row.step) for row in rows if show(RUN, row.run) == run]


@pytest.mark.slow
async def test_an_action_links_what_it_returns_and_what_it_names(api: Detent) -> None:
    run = await api.ended(await api.start("returned", {"id": "i1"}))
    assert run["tasks"]["a"]["output"] == {"id": "i1"}
    assert await links_of(api, run["id"]) == [("item", "i1", "a")]
    run = await api.ended(await api.start("named", {}))
    assert await links_of(api, run["id"]) == [("item", "17", "a")]
    again = await api.ended(await api.start("named", {}))
    assert again["status"] == "failed"
    error = again["tasks"]["a"]["error"]
    assert (error["code"], run["id"] in error["message"]) == ("WFENG003", True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["found", "found-async"])
async def test_two_runs_create_one_resource_under_one_key(api: Detent, name: str) -> None:
    first = await api.ended(await api.start(name, {"id": f"order-{name}"}))
    second = await api.ended(await api.start(name, {"id": f"order-{name}"}))
    assert (first["status"], second["status"]) == ("completed", "completed")
    assert first["output"] == second["output"]
    assert calls == [creation_key(1, "monday", "item", f"order-{name}")]
    assert [row[1] for row in await links_of(api, first["id"])] == ["made-1"]
    assert await links_of(api, second["id"]) == [], "it belongs to the run that created it"


@pytest.mark.slow
async def test_an_inline_action_that_would_block_the_loop_fails_with_what_to_do(api: Detent) -> None:
    run = await api.ended(await api.start("blocking", {}))
    assert "find_or_create_async" in run["tasks"]["a"]["error"]["message"]
    assert calls == []


@pytest.mark.slow
async def test_class_steps_and_durable_functions_link_what_they_return(api: Detent) -> None:
    run = await api.ended(await api.start("links-class", {"id": "c1"}))
    assert (run["status"], run["output"]) == ("completed", 2), run["error"]
    assert await links_of(api, run["id"]) == [("item", "c1", "make"), ("item", "c1-end", "finish_it")]
    started = await api.start("links-function", {"id": "f1"})
    run = await api.ended(started)
    assert run["output"] == ["f1", "made-1"], run["error"]
    assert [row[1] for row in await links_of(api, run["id"])] == ["f1", "f1-all", "made-1"]
    again = await api.until(await api.start("links-function", {"id": "f1"}), lambda run: run["status"] == "paused")
    error = again["tasks"]["_make"]["error"]
    assert (error["code"], error["detail"]["run_id"]) == ("WFENG003", run["id"])


class Shelf:
    """A store of reservations that answers as it is told."""

    def __init__(self, *answers: Reservation | Exception) -> None:
        self._answers = list(answers)

    async def reserve(self, key: Any, *, run: bytes, step: str) -> Reservation:
        return self._next()

    async def fulfil(self, key: Any, *, run: bytes, resource: str, url: str | None) -> Reservation | None:
        return self._next()

    def _next(self) -> Reservation:
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def links_with(*answers: Reservation | Exception) -> Links:
    return Links(Reservations(Shelf(*answers)), b"r" * 16, 1, "s")


MINE = Reservation(b"r" * 16, None, None, is_mine=True)
THEIRS = Reservation(b"o" * 16, None, None, is_mine=False)


def test_a_key_that_another_open_run_has_is_tried_later() -> None:
    with pytest.raises(RetryLater, match=show(RUN, b"o" * 16)) as caught:
        links_with(THEIRS).find_or_create("monday", "item", "k", lambda key: "x")
    assert caught.value.seconds == 5.0


def test_a_database_that_cannot_be_used_is_tried_later() -> None:
    for answers in ([StoreBusy("away")], [MINE, StoreBusy("away")]):
        with pytest.raises(RetryLater, match="away"):
            links_with(*answers).find_or_create("monday", "item", "k", lambda key: "x")
    with pytest.raises(RetryLater, match="not open yet"):
        Links(Reservations(), b"r" * 16, 1, "s").find_or_create("monday", "item", "k", lambda key: "x")
    with pytest.raises(RuntimeError, match="no reservations"):
        Links(None, b"r" * 16, 1, "s").find_or_create("monday", "item", "k", lambda key: "x")


def test_a_key_that_was_taken_over_meanwhile_has_the_resource_of_the_other_run() -> None:
    links = links_with(MINE, THEIRS._replace(resource="theirs", url="https://m.example/t"))
    found = links.find_or_create("monday", "item", "k", lambda key: "mine")
    assert found == Link("monday", "item", "theirs", url="https://m.example/t")
    assert links.found == []


def test_a_resource_that_its_own_run_created_before_a_crash_is_linked_again() -> None:
    links = links_with(MINE._replace(resource="made"))
    assert links.find_or_create("monday", "item", "k", lambda key: "x") == Link("monday", "item", "made")
    assert links.found == [Link("monday", "item", "made")]


def test_what_was_created_must_be_what_was_asked_for() -> None:
    with pytest.raises(InvalidLink, match="a monday item was to be created, and slack message was returned"):
        links_with(MINE).find_or_create("monday", "item", "k", lambda key: Link("slack", "message", "1"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("", "item", "1"), "system of a link must have 1 to 64"),
        (("x" * 65, "item", "1"), "system of a link must have 1 to 64"),
        (("monday", "it\0em", "1"), "type of a link"),
        (("monday", "item", ""), "id of a link must have 1 to 255"),
        (("monday", "item", "x" * 256), "id of a link must have 1 to 255"),
        (("monday", "item", " 1"), "no blank at its ends"),
        (("monday", "item", None), "id of a link must be text, not NoneType"),
        (("monday", "item", True), "id of a link must be text, not bool"),
        (("monday", "item", "\ud800"), "printable"),
        (("monday", "item", "1", "javascript:alert(1)"), "must begin with http"),
        (("monday", "item", "1", "https://m.example/" + "x" * 2000), "url of a link must have 1 to 2000"),
    ],
)
def test_a_link_that_cannot_be_stored_is_refused_with_its_reason(given: Any, words: str) -> None:
    with pytest.raises(InvalidLink, match=words):
        Link(*given)


def test_links_of_a_step_are_counted_once_and_not_too_many() -> None:
    one = Link("monday", "item", "1")
    assert collected([one, Link("monday", "item", "1", url="https://m.example"), one]) == (one,)
    with pytest.raises(InvalidLink, match="a step can have 100 links, and this one has 101"):
        collected(Link("monday", "item", str(number)) for number in range(101))
    with pytest.raises(InvalidLink, match="it has a str"):
        collected(["x"])
    with pytest.raises(InvalidLink, match="not str"):
        links_with().add("x")  # type: ignore[arg-type]


def test_a_transactional_step_cannot_return_links() -> None:
    from detent.steps.links import without_links

    with pytest.raises(InvalidLink, match="transactional"):
        without_links(Linked(1, []))
    assert without_links(1) == 1
