"""A run that happened is kept as a test in text that passes, and fails when the workflow changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.documents.answers import as_json
from detent.errors import InvalidInput
from detent.testing import MemoryEngine, MemoryRun, Response
from detent.testing.text.files import read_tests
from detent.values.yaml import dump_yaml, load_yaml
from detent.views.entries import entry_document
from detent.views.export.text_test import as_text_test
from tests.forms import graphs
from tests.forms.graphs import document, node
from tests.forms.rules import action, edge, rule, start

ORDER: dict[str, Any] = {
    "name": "order",
    "tasks": {
        "get": {"url": "https://shop.example/{{trigger.body.id}}", "retries": {"attempts": 3, "delay": "1m"}},
        "ship": {"needs": ["get"], "for_each": "{{tasks.get.body.lines}}", "url": "https://shop.example/{{item}}"},
        "approve": {"needs": ["get"], "wait_for_webhook": {"timeout": "3d"}},
        "nap": {"needs": ["approve"], "sleep": "1d"},
        "note": {
            "needs": ["nap"],
            "action": "core.echo",
            "with": {"id": "{{uuid()}}", "by": "{{tasks.approve.body.by}}"},
        },
    },
    "tests": [{"name": "mine", "expect": {"status": "completed"}}],
}


def saved(engine: MemoryEngine, run: MemoryRun, definition: Any, **more: Any) -> str:
    async def entries(commands: Any) -> list[Any]:
        return [as_json(entry_document(entry)) for entry in await commands.runs.entries(run.key)]

    document = as_json(engine.ask(lambda commands: commands.runs.get(run.id)))
    return as_text_test(document, definition, engine.ask(entries), **more)


def failures(folder: Path, text: str) -> list[str]:
    path = folder / "saved.test.yaml"
    path.write_text(text)
    found = read_tests(path, is_named=True)
    assert found is not None
    return [line for test in found.tests for line in found.trial.run(test).failures]


def order_run(answers: dict[str, Any] | None = None) -> str:
    def get(asked: Any) -> Any:
        if asked.attempt == 1:
            raise ConnectionError("cut")
        return Response({"lines": ["a", "b"]}, 201)

    with MemoryEngine(answers={"get": get, "ship": lambda asked: {"n": asked.item}, **(answers or {})}) as engine:
        run = engine.start(ORDER, {"id": 7})
        engine.advance(days=2)
        if not answers:
            run.answer("approve", {"by": "Eve"})
        engine.advance(days=2)
        return saved(engine, run, ORDER)


def test_a_run_is_kept_with_its_answers_and_its_route(tmp_path: Path) -> None:
    text = order_run()
    document = yaml.safe_load(text)
    [test] = document["tests"]
    assert set(document["workflow"]) == {"name", "tasks"}
    assert test["answers"]["get"]["$attempts"][1] == {"$status": 201, "$body": {"lines": ["a", "b"]}}
    assert test["answers"]["ship"] == {"$items": [{"n": 0}, {"n": 1}]}
    assert test["answers"]["approve"]["$after"] >= 86_400
    assert test["expect"]["output"]["note"] == {"id": "$any", "by": "Eve"}
    assert failures(tmp_path, text) == []


def test_it_fails_when_the_workflow_takes_another_route(tmp_path: Path) -> None:
    text = order_run()
    changed = {**ORDER, "tasks": {**ORDER["tasks"], "note": {**ORDER["tasks"]["note"], "if": "1 > 2"}}}
    (tmp_path / "order.yaml").write_text(yaml.safe_dump(changed))
    other = yaml.safe_load(text)
    other["workflow"] = "order.yaml"
    assert "route: note expected success, was skipped" in failures(tmp_path, yaml.safe_dump(other))


def test_what_failed_and_what_never_came_is_kept(tmp_path: Path) -> None:
    text = order_run({"get": Response({"no": 1}, 404), "approve": TimeoutError})
    assert yaml.safe_load(text)["tests"][0]["answers"]["get"] == {"$status": 404, "$body": {"no": 1}}
    assert failures(tmp_path, text) == []
    late = order_run({"approve": TimeoutError})
    assert yaml.safe_load(late)["tests"][0]["answers"]["approve"] == {"$timeout": True}
    assert failures(tmp_path, late) == []


@pytest.mark.parametrize(
    ("decision", "kept"),
    [
        ({"approved": True, "comment": "ok", "answer": {"by": "R&D"}}, None),
        ({"approved": False, "comment": "too much"}, None),
        (None, {"$timeout": True}),
    ],
)
def test_a_decision_is_kept_as_a_person_sent_it(tmp_path: Path, decision: Any, kept: Any) -> None:
    form = {"type": "object", "properties": {"by": {"type": "string"}}}
    approve = {"title": "Pay?", "form": form, "timeout": "3d", "on_timeout": "reject"}
    with_ = {"said": "{{tasks.approve.output.comment}}", "late": "{{tasks.approve.output.timed_out}}"}
    definition = {
        "name": "expense",
        "tasks": {
            "approve": {"approve": approve},
            "say": {"needs": ["approve"], "action": "core.echo", "with": with_},
        },
    }
    with MemoryEngine() as engine:
        run = engine.start(definition)
        engine.advance(days=1)
        if decision is not None:
            run.answer("approve", decision)
        engine.advance(days=3)
        text = saved(engine, run, definition)
    answer = yaml.safe_load(text)["tests"][0]["answers"]["approve"]
    assert (answer if kept else answer["$value"]) == (kept or decision)
    assert failures(tmp_path, text) == []


def test_a_graph_is_kept_too(tmp_path: Path) -> None:
    definition = document(
        node(
            "first",
            graphs.edge("never", condition="trigger.n > 5"),
            graphs.edge("last", condition="trigger.n <= 5"),
        ),
        node("never"),
        node("last"),
    )
    with MemoryEngine() as engine:
        text = saved(engine, engine.start(definition, {"n": 2}), definition)
    assert "never:skipped" in text
    assert failures(tmp_path, text) == []


def test_a_rule_is_kept_too(tmp_path: Path) -> None:
    definition = rule(
        action("Large?", "condition", action_config={"expression": "total > 100"}),
        action("Note", action_config={"text": "{{ number }}"}),
        action("Lines", "call", action_config={"url": "https://shop.example/{{ item }}"}, for_each="{{ lines }}"),
        edges=[start(), edge("large", "note", "true_branch"), edge("large", "lines", "false_branch")],
    )
    with MemoryEngine(answers={"lines": lambda asked: {"n": asked.item}}) as engine:
        large = saved(engine, engine.start(definition, {"total": 150, "number": 7}), definition)
        small = saved(engine, engine.start(definition, {"total": 5, "lines": ["a", "b"]}), definition)
    assert "answers" not in yaml.safe_load(large)["tests"][0], "an echo is computed again"
    assert yaml.safe_load(small)["tests"][0]["answers"] == {"lines": {"$items": [{"n": 0}, {"n": 1}]}}
    assert failures(tmp_path, large) == failures(tmp_path, small) == []


def test_a_run_that_a_test_cannot_repeat_is_refused(detent_engine: MemoryEngine) -> None:
    run = detent_engine.start(ORDER | {"tasks": {"a": {"wait_for_webhook": {}}}})
    with pytest.raises(InvalidInput, match="when it has ended"):
        saved(detent_engine, run, ORDER)
    run.cancel()
    with pytest.raises(InvalidInput, match="cancelled by"):
        saved(detent_engine, run, ORDER)
    with pytest.raises(InvalidInput, match="Python code"):
        as_text_test({}, {"class": "shop:Signup"}, [])


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["no", "1e3", "0o17", "~", "<<", "=", "- a", "a: b", "#x", "1_0", "12:30", "{{a}}", "a\nb", " x", "\ufeff", "---"]
)
_SCALARS = st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False)
_VALUES = st.recursive(
    _SCALARS | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(_VALUES)
def test_yaml_that_is_written_is_read_as_the_same_value(value: Any) -> None:
    assert load_yaml(dump_yaml(value), depth=64) == value
