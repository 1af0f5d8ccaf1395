"""A run that happened is kept as a test that passes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from detent.documents.answers import as_json
from detent.errors import InvalidInput
from detent.python.functions import Run, workflow
from detent.python.registry import registry
from detent.testing import MemoryEngine, MemoryRun, Response
from detent.views.entries import entry_document
from detent.views.export.run_test import as_test
from tests.forms.graphs import document, edge, node
from tests.testing.shop import ORDER, Signup, User, checkout

Finish = Callable[[MemoryEngine, MemoryRun], None]


def saved(engine: MemoryEngine, run: MemoryRun, definition: Any) -> str:
    async def entries(commands: Any) -> list[Any]:
        return [as_json(entry_document(entry)) for entry in await commands.runs.entries(run.key)]

    return as_test(as_json(engine.ask(lambda commands: commands.runs.get(run.id))), definition, engine.ask(entries))


def source_of(name: str) -> str:
    one = registry.find(name)
    assert one is not None
    return one.source


def passes(text: str) -> dict[str, Any]:
    """Run the test that a text is."""
    names: dict[str, Any] = {}
    exec(compile(text, "test_saved.py", "exec"), names)
    [test] = [value for name, value in names.items() if name.startswith("test_")]
    test()
    return names


def test_a_run_of_a_definition_is_kept_with_its_definition_input_answers_and_route(detent_engine: MemoryEngine) -> None:
    run = detent_engine.start(ORDER, {"item": "cup"})
    detent_engine.advance(days=3)
    run.answer("approve", {"by": "Bob", "gift": True})
    text = saved(detent_engine, run, yaml.safe_load(ORDER))
    names = passes(text)
    assert names["WORKFLOW"] == yaml.safe_load(ORDER)
    assert "'approve': {'by': 'Bob', 'gift': True}" in text
    assert "'gift'" in text.rpartition("run.route")[2]
    with pytest.raises(AssertionError):
        passes(text.replace("'item': 'cup'", "'item': 'hat'", 1).replace("'Bob'", "'Eve'", 1))


def test_a_run_of_a_graph_is_kept_with_the_route_of_its_conditions(detent_engine: MemoryEngine) -> None:
    definition = document(
        node("first", "work", nodeType="condition", expression="trigger.n > 1"),
        node("work", "last", parameters={"n": "{{ trigger.n }}"}),
        node("last", edge("never", condition="context.data['last']"), nodeType="condition", expression="false"),
        node("never"),
    )
    run = detent_engine.start(definition, {"n": 2})
    text = saved(detent_engine, run, definition)
    passes(text)
    assert "['first', 'last', 'never:skipped', 'work']" in text
    assert "'first':" not in text


def test_a_map_is_kept_with_what_its_items_returned() -> None:
    each: dict[str, Any] = {"for_each": [1, 2], "url": "https://api.example/{{item}}"}
    definition = {"name": "maps", "tasks": {"each": each}}
    collecting = {"name": "maps", "tasks": {"each": {**each, "collect": "{{result.body.n}}"}}}
    with MemoryEngine(answers={"each": lambda asked: {"n": asked.item}}) as engine:
        text = saved(engine, engine.start(definition), definition)
        run = engine.start(collecting)
        with pytest.raises(InvalidInput, match="without `collect`"):
            saved(engine, run, collecting)
    passes(text)


def test_what_failed_fails_in_the_test_too() -> None:
    definition = {
        "name": "calls",
        "tasks": {
            "missing": {"url": "https://api.example/a"},
            "broken": {"url": "https://api.example/b", "retries": 0},
            "late": {"url": "https://api.example/c", "retries": 0},
            "after": {"needs": ["missing"], "action": "core.echo"},
        },
    }
    answers = {"missing": Response({"no": 1}, status=404), "broken": ConnectionError("cut"), "late": TimeoutError}
    with MemoryEngine(answers=answers) as engine:
        text = saved(engine, engine.start(definition), definition)
    assert "Response({'no': 1}, status=404)" in text
    assert "'late': TimeoutError" in text
    passes(text)


def test_a_run_of_a_class_is_kept_with_its_import(detent_engine: MemoryEngine) -> None:
    run = detent_engine.start(Signup, hero=User(is_active=True))
    detent_engine.advance(days=10)
    one = registry.find("testing-signup")
    assert one is not None
    text = saved(detent_engine, run, json.loads(one.source))
    assert "from tests.testing.shop import Signup" in text
    assert "hero=('User', '7')" in text
    passes(text)


def test_a_run_of_a_function_is_kept_with_what_its_steps_gave(detent_engine: MemoryEngine) -> None:
    run = detent_engine.start(checkout, 5)
    detent_engine.advance(days=3)
    run.answer("approval", "yes")
    run.signal("paid", {"sum": 5})
    one = registry.find("testing-checkout")
    assert one is not None
    text = saved(detent_engine, run, json.loads(one.source))
    assert "'charge': 500" in text
    assert "'paid': {'sum': 5}" in text
    passes(text)


@workflow(name="testing-saved-kid")
async def saved_kid(run: Run, number: int) -> int:
    return number * 2


@workflow(name="testing-saved-parent")
async def saved_parent(run: Run, number: int, tells: bool = False) -> dict[str, Any]:
    doubled = await run.child(saved_kid, number)
    return {"doubled": doubled, "id": str(run.uuid()), "at": str(run.now())} if tells else {"doubled": doubled}


@pytest.mark.parametrize("tells", [True, False])
def test_a_function_with_a_child_is_kept_and_what_is_another_each_time_is_not_asserted(
    detent_engine: MemoryEngine, tells: bool
) -> None:
    run = detent_engine.start(saved_parent, 5, tells)
    detent_engine.advance(days=1)
    text = saved(detent_engine, run, json.loads(saved_parent.source))
    assert "assert sorted(run.route) == ['testing-saved-kid']" in text
    assert ("assert run.output" in text) != tells
    assert ("which differs each time" in text) == tells
    passes(text)


def test_the_steps_of_a_class_are_asserted_in_their_order(detent_engine: MemoryEngine) -> None:
    run = detent_engine.start(Signup, hero=User(is_active=False))
    detent_engine.advance(days=10)
    text = saved(detent_engine, run, json.loads(source_of("testing-signup")))
    assert "assert run.route == ['welcome', 'remind', 'complete']" in text
    passes(text)
    with pytest.raises(AssertionError):
        passes(text.replace("['welcome', 'remind'", "['remind', 'welcome'"))


def test_a_run_that_goes_on_or_that_a_person_ended_is_refused(detent_engine: MemoryEngine) -> None:
    run = detent_engine.start(ORDER, {"item": "cup"})
    with pytest.raises(InvalidInput, match="running"):
        saved(detent_engine, run, yaml.safe_load(ORDER))
    run.cancel()
    with pytest.raises(InvalidInput, match="cancelled by test"):
        saved(detent_engine, run, yaml.safe_load(ORDER))


def test_what_a_person_skipped_is_skipped_in_the_test_of_a_class_and_refused_in_that_of_a_definition(
    detent_engine: MemoryEngine,
) -> None:
    one = registry.find("testing-signup")
    assert one is not None
    run = detent_engine.start(Signup, hero=User(is_active=False))
    detent_engine.ask(lambda commands: commands.control.skip(run.id))
    detent_engine.advance(days=10)
    text = saved(detent_engine, run, json.loads(one.source))
    assert "Output(then='skip')" in text
    passes(text)
    other = detent_engine.start(ORDER, {"item": "cup"})
    detent_engine.ask(lambda commands: commands.control.skip(other.id))
    detent_engine.advance(days=40)
    with pytest.raises(InvalidInput, match="was skipped by test"):
        saved(detent_engine, other, yaml.safe_load(ORDER))
