"""The step that answers the caller of a webhook means the same in every form, and its limits are those of `values`."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import InvalidDefinition
from detent.forms.compile import compile_document
from detent.forms.conversion.convert import convert
from detent.graph.codec import features
from detent.values.answer import LONGEST_VALUE, MOST_HEADERS, RunAnswer, answer_problems, build_answer
from detent.values.limits import BODY_LIMIT
from tests.forms import graphs, rules

ANSWER = {"status": 201, "headers": {"x-n": "7"}, "body": {"ok": True}}
STEPS = {"name": "w", "tasks": {"say": {"respond": ANSWER}}}
GRAPH = graphs.document(graphs.node("say", actionType="core.respond", parameters=ANSWER))
RULE = rules.rule(rules.action("say", "core.respond", action_config=ANSWER))
HOOK = {"type": "webhook", "respond": "step"}


@pytest.mark.parametrize("document", [STEPS, GRAPH, RULE], ids=["steps", "graph", "rule"])
def test_every_form_has_the_step_and_only_nodes_that_know_it_run_it(document: dict[str, Any]) -> None:
    graph = compile_document(document).graph
    assert graph.steps[0].config == {"action": "core.respond", "with": ANSWER}
    assert "detent/5" in features(graph)


def test_a_webhook_that_waits_for_a_step_needs_one_in_every_form() -> None:
    for document in (STEPS, GRAPH):
        assert compile_document({**document, "trigger": HOOK}).trigger.config == {"respond": "step", "wait": 30}
    quiet = {"name": "w", "trigger": HOOK, "tasks": {"a": {"sleep": "1s"}}}
    still = graphs.document(graphs.node("a"), trigger=HOOK)
    for document in (quiet, still):
        with pytest.raises(InvalidDefinition) as refused:
            compile_document(document)
        assert [problem.field for problem in refused.value.problems] == ["trigger.respond"]


def test_the_step_and_its_trigger_are_written_in_another_form_and_back() -> None:
    document = {**STEPS, "trigger": {**HOOK, "wait": "20s"}}
    other = convert(document, "graph").document
    assert convert(other, "steps").document["trigger"] == document["trigger"]
    assert compile_document(other).trigger == compile_document(document).trigger


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ((200, {}, None), RunAnswer(200, {}, b"")),
        ((201, {"X-N": 7}, {"a": [1]}), RunAnswer(201, {"x-n": "7", "content-type": "application/json"}, b'{"a":[1]}')),
        ((200, {}, "hi"), RunAnswer(200, {"content-type": "text/plain; charset=utf-8"}, b"hi")),
        ((200, {"Content-Type": "text/html"}, "<p>"), RunAnswer(200, {"content-type": "text/html"}, b"<p>")),
        ((200, {"content-type": "a/b+json"}, "hi"), RunAnswer(200, {"content-type": "a/b+json"}, b'"hi"')),
    ],
)
def test_a_body_is_text_or_json(given: tuple[int, dict[str, Any], Any], answer: RunAnswer) -> None:
    assert answer_problems(*given) == []
    assert build_answer(*given) == answer


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ((99, {}, None), "status"),
        ((600, {}, None), "status"),
        ((True, {}, None), "status"),
        (("200", {}, None), "status"),
        ((204, {}, "x"), "body"),
        ((200, {"content-type": "text/html"}, {"a": 1}), "body"),
        ((200, {}, "x" * (BODY_LIMIT + 1)), "body"),
        ((200, {"x-a": "a\r\nset-cookie: b"}, None), "headers.x-a"),
        ((200, {"x-a": "x" * (LONGEST_VALUE + 1)}, None), "headers.x-a"),
        ((200, {"x-a": []}, None), "headers.x-a"),
        ((200, {"x-a": "1", "X-A": "2"}, None), "headers.X-A"),
        ((200, {"Content-Length": "1"}, None), "headers.Content-Length"),
        ((200, {"Access-Control-Allow-Origin": "*"}, None), "headers.Access-Control-Allow-Origin"),
        ((200, {"X-Frame-Options": "x"}, None), "headers.X-Frame-Options"),
        ((200, {f"x-{n}": "" for n in range(MOST_HEADERS + 1)}, None), "headers"),
    ],
)
def test_what_cannot_be_an_answer_is_named(given: tuple[Any, dict[str, Any], Any], field: str) -> None:
    assert [problem.field for problem in answer_problems(*given)] == [field]
