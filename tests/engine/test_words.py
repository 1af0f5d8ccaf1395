"""What a caller gives and no database keeps is told to that caller, and to nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import InvalidInput
from detent.run.start import StartRequest
from tests.engine.commands import save, start
from tests.engine.rig import rig, virtual

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a request id with half a surrogate": ({"request_id": "\udcff"}, "request_id: contains half of a surrogate pair"),
    "a request id with a NUL": ({"request_id": "a\x00"}, "request_id: contains a NUL"),
    "a request id that is a number": ({"request_id": 5}, "request_id: must be a text, not int"),
    "a long request id": ({"request_id": "x" * 256}, "request_id: must have 1 to 255 characters"),
    "a label with half a surrogate": ({"labels": {"a": "\udcff"}}, "labels.a: contains half of a surrogate pair"),
    "a label name with half a surrogate": ({"labels": {"\udcff": "a"}}, "labels: contains half of a surrogate pair"),
    "a label that is a number": ({"labels": {"a": 5}}, "labels.a: must be a text, not int"),
    "a long label": ({"labels": {"a": "x" * 1001}}, "labels.a: has 1001 characters"),
    "labels that are a list": ({"labels": ["a"]}, "labels: must be a mapping of names to texts"),
    "a hero with half a surrogate": ({"hero": ("User", "\udcff")}, "hero.id: contains half of a surrogate pair"),
    "a long hero": ({"hero": ("User", "x" * 10_000)}, "hero.id: has 10000 characters"),
    "a hero of a long type": ({"hero": ("U" * 10_000, "x")}, "hero.type: has 10000 characters"),
    "a hero whose id is a number": ({"hero": ("User", 7)}, "hero.id: must be a text, not int"),
    "a hero without an id": ({"hero": ("User",)}, "hero: must be a type and an id"),
    "a priority of 33 bits": ({"priority": 2**31}, "priority: must be between"),
    "a priority that is no whole number": ({"priority": 1e30}, "priority: must be a whole number, not float"),
    "a priority that is a flag": ({"priority": True}, "priority: must be a whole number, not bool"),
}


@pytest.mark.parametrize("what", WRONG)
@virtual
async def test_what_no_database_keeps_is_refused_before_anything_is_written(what: str) -> None:
    given, told = WRONG[what]
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {}})
        with pytest.raises(InvalidInput) as refused:
            await start(engine, "w", **given)
        assert told in str(refused.value)
        assert [str(problem) for problem in refused.value.problems if told in str(problem)]
        assert not world.store.table


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        StartRequest("w", request_id="\x00", priority=2**40, labels={"a": "\ud800"}).check()
    assert [problem.field for problem in refused.value.problems] == ["request_id", "labels.a", "priority"]


def test_the_largest_that_fits_is_taken() -> None:
    StartRequest("w", request_id="😀" * 255, hero=("😀" * 255, "😀" * 255), priority=2**31 - 1).check()


@virtual
async def test_a_body_too_deep_to_be_written_is_told_so() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {}})
        with pytest.raises(InvalidInput, match="not JSON"):
            await start(engine, "w", deep)
