"""`crash_matrix`: a run killed at each of its moments comes to the same end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session, sessionmaker

from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.functions.run import Run
from detent.python.functions.workflow import workflow
from detent.python.transactions import keeper, transactions
from detent.steps.actions import action
from detent.testing import crash_matrix, speedrun
from tests.testing.shop import ORDER, Signup, User, checkout, parent

EFFECTS: list[str] = []


@action("testing.matrix.effect")
def effect(name: str) -> str:
    EFFECTS.append(name)
    return name


CHAIN = """
name: chain
tasks:
  one: {action: testing.matrix.effect, with: {name: one}}
  nap: {needs: [one], sleep: 2h}
  two: {needs: [nap], action: testing.matrix.effect, with: {name: two}}
"""


def test_every_checkpoint_and_every_effect_is_a_moment_before_and_after() -> None:
    report = crash_matrix(CHAIN)
    assert [point.name for point in report.points] == [
        "before checkpoint (start)",
        "after checkpoint (start)",
        "before the effect of 'one'",
        "after the effect of 'one'",
        "before checkpoint (one success)",
        "after checkpoint (one success)",
        "before checkpoint (nap success)",
        "after checkpoint (nap success)",
        "before the effect of 'two'",
        "after the effect of 'two'",
        "before checkpoint (two success, end)",
        "after checkpoint (two success, end)",
    ]
    assert report.ending.status == "completed"


def test_what_ran_twice_is_what_the_outside_world_saw_twice() -> None:
    EFFECTS.clear()
    report = crash_matrix(CHAIN)
    lives = report.kills + 1
    assert report.ran_twice == {"one": 2, "two": 2}
    assert {name: EFFECTS.count(name) - lives for name in ("one", "two")} == report.ran_twice
    twice = {point.name for point in report.points if "one" in point.ran_again}
    assert twice == {"after the effect of 'one'", "before checkpoint (one success)"}


def test_a_kill_is_a_new_node_that_adopts_the_run() -> None:
    kinds: list[list[str]] = []
    crash_matrix(CHAIN, same=lambda run: kinds.append([attempt.step for attempt in run.history]))
    assert all(list(dict.fromkeys(kind)) == ["one", "nap", "two"] for kind in kinds)  # some of them were tried twice
    assert len(kinds) == 13


@pytest.mark.parametrize(
    ("workflow", "given"),
    [
        (ORDER, {"input": {"item": "cup"}, "answers": {"approve": {"by": "Bob"}}}),
        (Signup, {"hero": User()}),
        (Signup, {"hero": User(is_active=True)}),
        (Signup, {"hero": User(is_gone=True), "ending": "cancelled"}),
        (checkout, {"input": {"amount": 4}, "answers": {"approval": True, "paid": 1}}),
        (checkout, {"input": {"amount": 4}, "answers": {"approval": TimeoutError}, "ending": "paused"}),
        (parent, {"input": {"number": 4}}),
    ],
    ids=["steps", "class", "class that skips", "class that cancels", "function", "function that pauses", "children"],
)
def test_every_form_comes_to_the_same_end_wherever_it_dies(workflow: Any, given: dict[str, Any]) -> None:
    report = crash_matrix(workflow, **given)
    assert report.kills >= 4
    expected = speedrun(workflow, **{name: value for name, value in given.items() if name != "ending"})
    assert (report.ending.status, report.ending.output) == (expected.status, expected.output)


def test_a_run_that_does_not_complete_undisturbed_fails_unless_that_is_expected() -> None:
    given: dict[str, Any] = {"input": {"amount": 4}, "answers": {"approval": TimeoutError}}
    with pytest.raises(AssertionError, match=r"undisturbed, the run is paused, not completed; .* pass ending='paused'"):
        crash_matrix(checkout, **given)
    with pytest.raises(AssertionError, match="not failed"):
        crash_matrix(checkout, **given, ending="failed")


def test_a_failing_step_that_is_tried_again_comes_to_the_same_end() -> None:
    def flaky(asked: Any) -> str:
        if asked.attempt < 3:
            raise ConnectionError("not yet")
        return "at last"

    report = crash_matrix(Signup, hero=User(), answers={"complete": flaky})
    assert report.ending.step("complete").attempts == 3


def test_an_end_that_depends_on_a_crash_is_told_with_the_moment() -> None:
    calls: list[int] = []

    @action("testing.matrix.count")
    def count() -> int:
        calls.append(1)
        return len(calls)

    text = "name: bad\ntasks:\n  a: {action: testing.matrix.count}\n"
    with pytest.raises(
        AssertionError, match=r"(?s)killed after the effect of 'a', the end of the run differs.*expected"
    ):
        crash_matrix(text, setup=calls.clear)


def test_a_crash_that_a_step_does_not_survive_is_told_with_the_moment() -> None:
    text = "name: once\ntasks:\n  a: {action: testing.matrix.effect, on_crash: fail, with: {name: x}}\n"
    with pytest.raises(AssertionError, match=r"(?s)killed after checkpoint \(a started\), the end of the run differs"):
        crash_matrix(text)


def test_what_must_be_the_same_can_be_chosen_and_the_world_be_put_back_before_each_life() -> None:
    calls: list[int] = []

    @action("testing.matrix.grow")
    def grow() -> int:
        calls.append(1)
        return len(calls)

    text = "name: grows\ntasks:\n  a: {action: testing.matrix.grow}\n"
    report = crash_matrix(text, setup=calls.clear, same=lambda run: run.status)
    assert report.ran_twice == {"a": 2}


def test_finally_blocks_of_the_dead_do_nothing_before_the_end(tmp_path: Path) -> None:
    seen: list[str] = []

    @action("testing.matrix.slow")
    async def slow() -> str:
        try:
            seen.append("began")
            return "done"
        finally:
            seen.append("ended")

    text = "name: slow\ntasks:\n  a: {action: testing.matrix.slow}\n  b: {action: testing.matrix.slow}\n"
    report = crash_matrix(text)
    assert seen.count("began") == seen.count("ended")
    assert set(report.ran_twice) == {"a", "b"}


def test_it_is_shown_as_a_small_table() -> None:
    lines = repr(crash_matrix(CHAIN)).splitlines()
    assert lines[0].startswith("<chain: 12 kills, completed each time, ")
    assert lines[1:] == [
        "  one  ran twice at 2 of them, such as after the effect of 'one'",
        "  two  ran twice at 2 of them, such as after the effect of 'two'",
    ]


def same(value: Any) -> Any:
    return value


@workflow(name="testing-matrix-chance", allow_multiple=True)
async def chance(run: Run) -> list[Any]:
    return [str(run.uuid()), await run.step(same, run.random()), run.id, run.idempotency_key]


@workflow(name="testing-matrix-chances", allow_multiple=True)
async def chances(run: Run, depth: int) -> list[Any]:
    """Children side by side, which have children of their own."""
    if depth == 0:
        return [str(run.uuid()), run.id]
    return await asyncio.gather(*(run.child(chances, depth - 1) for _ in range(2)))


@workflow(name="testing-matrix-next", allow_multiple=True)
async def next_one(run: Run, left: int) -> str:
    await run.step(same, left)
    if left:
        run.continue_as_new(left - 1)
    return str(run.uuid())


class Keyed(Workflow):
    name = "testing-matrix-keyed"

    @step
    def key(self) -> list[str]:
        return [self.idempotency_key, self.run_id]


@pytest.mark.parametrize(
    ("subject", "given"), [(chance, {}), (Keyed, {}), (chances, {"depth": 2}), (next_one, {"left": 2})]
)
def test_ids_and_chance_are_the_same_wherever_it_dies(subject: Any, given: dict[str, int]) -> None:
    assert crash_matrix(subject, input=given).kills >= 6


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[Any]:
    """How many rows there are; the transactional steps of a test write them."""
    database = create_engine(f"sqlite:///{tmp_path}/rows.db")
    with database.begin() as connection:
        connection.execute(text("create table row (x int)"))
    before = vars(keeper).copy()
    transactions(sessionmaker(database))

    def count(*, clear: bool = False) -> int:
        with database.begin() as connection:
            found: int = connection.execute(text("select count(*) from row")).scalar_one()
            if clear:
                connection.execute(text("delete from row"))
            return found

    yield count
    vars(keeper).update(before)
    database.dispose()


BODIES: list[str] = []


@step(transactional=True)
def insert(session: Session) -> int:
    BODIES.append("insert")
    session.execute(text("insert into row values (1)"))
    return 1


@workflow(name="testing-matrix-kept")
async def kept(run: Run) -> int:
    return int(await run.step(insert) + await run.step(same, 2))


class Kept(Workflow):
    name = "testing-matrix-kept-class"

    @step(transactional=True)
    def insert(self) -> int:
        return int(insert(self.session))

    @step
    def same(self) -> int:
        return 3


@pytest.mark.parametrize("subject", [kept, Kept])
def test_a_transactional_body_that_is_not_run_again_is_not_listed(subject: Any, rows: Any) -> None:
    ran: list[int] = []
    written: list[int] = []

    def setup() -> None:
        ran.append(len(BODIES))
        written.append(rows(clear=True))
        BODIES.clear()

    report = crash_matrix(subject, setup=setup)
    setup()
    assert [times == 2 for times in ran[2:]] == ["insert" in point.ran_again for point in report.points]
    assert set(written[1:]) == {1}
    assert report.ran_twice["same"] == 2


def test_a_plain_body_that_raises_can_die_after_that_too() -> None:
    class Raises(Workflow):
        name = "testing-matrix-raises"

        @step(on_exception="skip")
        def broken(self) -> None:
            raise ValueError("no")

    points = [point.name for point in crash_matrix(Raises).points]
    assert "after the effect of 'broken'" in points
