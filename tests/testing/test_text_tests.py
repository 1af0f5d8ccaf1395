"""Tests in text: what passes, what fails and how that is said, and every problem of a document at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from detent.errors import InvalidDefinition, InvalidInput
from detent.forms.compile import compile_document
from detent.testing import AnswerRefused, speedrun
from detent.testing.text.comparison import differences, route_differences
from detent.testing.text.files import find_files, read_tests
from detent.testing.text.junit import junit_xml
from detent.testing.text.trial import TextTestResult

ORDER = """
name: order
tasks:
  get: {url: "https://shop.example/orders/{{trigger.body.id}}", method: GET, retries: {attempts: 3, delay: 1m}}
  ship: {needs: [get], for_each: "{{tasks.get.body.lines}}", url: "https://shop.example/ship/{{item.sku}}"}
  approve: {needs: [get], if: tasks.get.body.sum > 100, wait_for_webhook: {timeout: 3d}}
  pay:
    needs: [approve]
    if: tasks.approve.status != 'timeout'
    workflow: payment
    with: {sum: "{{tasks.get.body.sum}}"}
  bye: {needs: [approve], if: tasks.approve.status == 'timeout', action: core.echo, with: {text: bye}}
output: {paid: "{{tasks.pay.output ?? null}}"}
"""
PAYMENT = """
name: payment
tasks:
  charge: {url: "https://bank.example/charges", body: {sum: "{{trigger.body.sum}}"}}
output: {receipt: "{{tasks.charge.body.receipt}}"}
"""
GOOD: dict[str, Any] = {
    "name": "an expensive order is approved first",
    "input": {"id": 7},
    "clock": "2026-02-22T10:00:00Z",
    "answers": {
        "get": {"$attempts": [{"$status": 503}, {"sum": 250, "lines": [{"sku": "a"}, {"sku": "b"}]}]},
        "ship": {"$items": [{"id": 1}, {"id": 2}]},
        "approve": {"$after": "2d", "$value": {"ok": True}},
        "payment/charge": {"receipt": 5},
    },
    "expect": {
        "status": "completed",
        "route": ["get", "ship", "approve", "pay", "bye:skipped"],
        "ran": ["pay"],
        "skipped": ["bye"],
        "outputs": {"ship": [{"id": 1}, {"id": 2}], "pay": {"receipt": 5}},
        "output": {"paid": {"receipt": "$any"}},
        "requests": {
            "get": {"url": "https://shop.example/orders/7"},
            "ship": [{"url": "https://shop.example/ship/a"}, {"url": "https://shop.example/ship/b"}],
            "payment/charge": {"method": "POST", "body": {"sum": 250}},
        },
        "took": "2d",
    },
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "order.yaml").write_text(ORDER)
    (tmp_path / "payment.yaml").write_text(PAYMENT)
    return tmp_path


def results(folder: Path, *tests: dict[str, Any], workflow: Any = "order.yaml") -> list[TextTestResult]:
    path = folder / "order.test.yaml"
    path.write_text(yaml.safe_dump({"workflow": workflow, "tests": list(tests)}, sort_keys=False))
    found = read_tests(path, is_named=True)
    assert found is not None
    return [found.trial.run(test) for test in found.tests]


def failures(folder: Path, **test: Any) -> list[str]:
    [result] = results(folder, {"name": "it", **test})
    return list(result.failures)


def test_a_test_that_is_right_passes(folder: Path) -> None:
    [result] = results(folder, GOOD)
    assert (result.failures, result.route) == ((), None)


def test_tests_in_a_definition_are_those_of_the_file_and_make_no_other_graph(folder: Path) -> None:
    document = yaml.safe_load(ORDER)
    (folder / "order.yaml").write_text(yaml.safe_dump({**document, "tests": [GOOD]}))
    found = read_tests(folder / "order.yaml", is_named=True)
    assert found is not None
    [test] = found.tests
    assert found.trial.run(test).failures == ()
    assert compile_document({**document, "tests": [GOOD]}).graph == compile_document(document).graph


def test_what_differs_is_said_with_its_path(folder: Path) -> None:
    answers = {"get": {"sum": 5, "lines": []}, "pay": {"receipt": 5}}
    expected = {
        "status": "failed",
        "route": ["get", "ship", "approve", "bye"],
        "ran": ["bye"],
        "skipped": ["pay"],
        "outputs": {"get": {"sum": 6}, "bye": 1},
        "output": {"paid": {"receipt": 6, "more": "$any", "receipt2": "$absent"}},
        "requests": {"get": {"method": "POST"}, "ship": {"url": "x"}},
        "error": "no funds",
        "took": "1h",
    }
    assert failures(folder, input={"id": 1}, answers=answers, expect=expected) == [
        "status: expected failed, was completed",
        "error: expected 'no funds' in it, was None",
        "route: approve expected success, was skipped",
        "route: bye expected success, was skipped",
        "route: pay not expected, was success",
        "ran: bye did not run",
        "skipped: pay was success",
        "outputs.get.sum: expected 6, was 5",
        "outputs.bye: expected 1, was null",
        "output.paid.receipt: expected 6, was 5",
        "output.paid.more: is missing",
        'requests.get.method: expected "POST", was "GET"',
        "requests.ship: nothing was sent",
        "took: expected 1:00:00, was 0:00:00",
    ]


def test_an_effect_without_an_answer_fails_the_test_and_is_not_made(folder: Path) -> None:
    [missing, *_] = failures(folder, input={"id": 1}, expect={"status": "completed"})
    assert missing.startswith('answers.get: is missing; the step would send {"url": "https://shop.example/orders/1"')
    answers = {"get": {"sum": 500, "lines": []}}
    assert failures(folder, input={"id": 1}, answers=answers, expect={"status": "completed"}) == [
        "answers.approve: is missing; {$timeout: true} lets the wait run out of time"
    ]
    silent = {**answers, "approve": {"$timeout": True}}
    assert failures(folder, input={"id": 1}, answers=silent, expect={"ran": ["bye"], "took": "3d"}) == []


def test_a_wait_without_an_end_is_named(folder: Path) -> None:
    workflow = {"name": "w", "tasks": {"ask": {"wait_for_webhook": {}}}}
    [result] = results(folder, {"name": "it", "expect": {"status": "completed"}}, workflow=workflow)
    assert "ask" in result.failures[0]


EXPENSE = """
name: expense
tasks:
  approve:
    approve:
      title: An expense
      form: {type: object, properties: {cost_center: {type: string}}, required: [cost_center]}
      timeout: 5d
      on_timeout: reject
"""


@pytest.mark.parametrize(
    ("answer", "why"),
    [({"approved": True}, "answer.cost_center: is missing"), ({"aproved": True}, "a decision is a JSON object")],
)
def test_an_answer_that_its_wait_refuses_fails_the_test_at_once(folder: Path, answer: dict[str, Any], why: str) -> None:
    (folder / "expense.yaml").write_text(EXPENSE)
    test = {"name": "refused", "answers": {"approve": answer}, "expect": {"status": "completed"}}
    [found] = results(folder, test, workflow="expense.yaml")
    [failure] = found.failures
    assert failure.startswith("answers.approve: ")
    assert why in failure
    with pytest.raises(AnswerRefused, match="the answer of 'approve' is refused: "):
        speedrun(folder / "expense.yaml", answers={"approve": answer})
    late = {"name": "late", "answers": {"approve": {"$timeout": True}}, "expect": {"status": "completed", "took": "5d"}}
    assert [one.failures for one in results(folder, late, workflow="expense.yaml")] == [()]


def test_failures_and_children_are_answered(folder: Path) -> None:
    answers = {"get": {"sum": 5, "lines": []}, "pay": {"$fail": {"message": "no funds", "code": "declined"}}}
    expected = {"status": "failed", "error": "no funds", "requests": {"payment/charge": []}}
    assert failures(folder, input={"id": 1}, answers=answers, expect=expected) == []
    child = {"get": {"sum": 5, "lines": []}, "payment/charge": {"$status": 402, "$body": {"reason": "no funds"}}}
    assert failures(folder, input={"id": 1}, answers=child, expect={"status": "failed", "error": "402"}) == []


def test_a_start_that_is_refused_is_a_failure(folder: Path) -> None:
    workflow = {
        "name": "strict",
        "trigger_schema": {"type": "object", "required": ["id"]},
        "tasks": {"a": {"action": "core.echo"}},
    }
    [result] = results(folder, {"name": "it", "expect": {"status": "completed"}}, workflow=workflow)
    assert "body.id: is missing" in result.failures[0]


def test_every_problem_of_a_document_is_said_at_once(folder: Path) -> None:
    tests = [
        {"name": "a", "answer": {}, "expect": {"status": "done", "route": ["gett", "get:sucess"], "outptus": {}}},
        {
            "answers": {"shipp": 1, "get": {"$fali": 1, "$status": 99}},
            "clock": "noon",
            "expect": {"requests": {"gt": 1}},
        },
        {"name": "a", "hero": "User", "expect": {}},
        5,
    ]
    with pytest.raises(InvalidDefinition) as refused:
        results(folder, *tests)  # type: ignore[arg-type]
    found = {problem.field: problem.message for problem in refused.value.problems}
    assert set(found) == {
        "tests[0].answer",
        "tests[0].expect.status",
        "tests[0].expect.route[0]",
        "tests[0].expect.route[1]",
        "tests[0].expect.outptus",
        "tests[1].name",
        "tests[1].answers.shipp",
        "tests[1].answers.get.$fali",
        "tests[1].answers.get.$status",
        "tests[1].clock",
        "tests[1].expect.requests.gt",
        "tests[2].name",
        "tests[2].hero",
        "tests[2].expect",
        "tests[3]",
    }
    for field, near in (
        ("tests[0].answer", "answers"),
        ("tests[1].answers.shipp", "ship"),
        ("tests[0].expect.outptus", "outputs"),
    ):
        assert f"did you mean '{near}'?" in found[field]


@pytest.mark.parametrize(
    ("document", "fields"),
    [
        ({"workflow": "none.yaml", "tests": [GOOD]}, {"workflow"}),
        ({"tests": [GOOD]}, {"workflow"}),
        ({"workflow": "order.yaml", "tests": []}, {"tests"}),
        ({"workflow": "order.yaml", "tests": "x"}, {"tests"}),
        ({"workflow": "order.yaml", "with": ["no.yaml"], "tests": [GOOD], "workflwo": 1}, {"with[0]", "workflwo"}),
        ({"workflow": {"name": "x", "tasks": {"a": {"sleep": "soon"}}}, "tests": [GOOD]}, {"workflow.tasks.a.sleep"}),
    ],
)
def test_a_file_that_is_not_valid_says_where(folder: Path, document: dict[str, Any], fields: set[str]) -> None:
    path = folder / "x.test.yaml"
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(InvalidDefinition) as refused:
        read_tests(path, is_named=True)
    assert fields <= {problem.field for problem in refused.value.problems}


def test_a_definition_with_wrong_tests_is_refused() -> None:
    document = yaml.safe_load(ORDER)
    with pytest.raises(InvalidDefinition) as refused:
        compile_document(
            {**document, "tests": [{"name": "x", "answers": {"gte": 1}, "expect": {"status": "completed"}}]}
        )
    assert [problem.field for problem in refused.value.problems] == ["tests[0].answers.gte"]


def test_files_are_found_in_folders_and_others_are_left_alone(folder: Path) -> None:
    (folder / "compose.yaml").write_text("services: {tests: {image: x}}\n")
    (folder / "broken.yaml").write_text("tests: [\n")
    (folder / "data.json").write_text('{"tests": [1]}')
    for hidden in (".git", "node_modules", "env"):
        (folder / hidden).mkdir()
        (folder / hidden / "a.test.yaml").write_text("tests: 1\n")
    (folder / "env" / "pyvenv.cfg").write_text("")
    (folder / "below").mkdir()
    (folder / "below" / "order.test.yaml").write_text(yaml.safe_dump({"workflow": "../order.yaml", "tests": [GOOD]}))
    found = [one for path, named in find_files([folder]) if (one := read_tests(path, is_named=named)) is not None]
    assert [one.path.name for one in found] == ["order.test.yaml"]
    assert found[0].trial.run(found[0].tests[0]).failures == ()
    with pytest.raises(InvalidInput, match="no file or folder"):
        list(find_files([folder / "nothing"]))
    with pytest.raises(InvalidDefinition):
        read_tests(folder / "broken.yaml", is_named=True)


def test_values_are_compared_as_json() -> None:
    assert list(differences({"a": 1}, {"a": 1.0, "b": 2}, "x")) == []
    assert list(differences({"$exact": {"a": 1}}, {"a": 1, "b": 2}, "x")) == [
        'x: expected {"a": 1}, was {"a": 1, "b": 2}'
    ]
    assert list(differences(1, True, "x")) == ["x: expected 1, was true"]
    assert list(differences([1, {"a": 2}], [1, {"a": 3}], "x")) == ["x[1].a: expected 2, was 3"]
    assert list(differences([1], [], "x")) == ["x: expected 1 values, were 0: []"]
    assert list(differences("$absent", None, "x")) == ["x: expected nothing, was null"]
    assert list(route_differences(["a", "b"], ["b", "a"])) == []


def test_the_report_is_xml_whatever_the_names_are() -> None:
    failed = TextTestResult("a <b> & \x00", ("x: expected 1, was 2",), 0.1, "<order: failed>")
    data = junit_xml([("f.yaml", [failed, TextTestResult("fine", (), 0.2)])], [("g.yaml", "not valid")])
    root = ElementTree.fromstring(data)
    assert [(suite.get("tests"), suite.get("failures"), suite.get("errors")) for suite in root] == [
        ("2", "1", "0"),
        ("1", "0", "1"),
    ]
    [failure] = root.iter("failure")
    assert failure.get("message") == "x: expected 1, was 2"


def test_speedruns_can_answer_the_items_of_a_map_and_a_child(folder: Path) -> None:
    asked: list[Any] = []

    def ship(request: Any) -> Any:
        asked.append((request.step, request.item, request.parameters["url"]))
        return {"n": request.item}

    answers = {"get": {"sum": 5, "lines": [{"sku": "a"}, {"sku": "b"}]}, "ship": ship, "pay": {"receipt": 1}}
    run = speedrun(folder / "order.yaml", {"id": 1}, answers=answers).assert_completed()
    assert run.results["ship"] == [{"n": 0}, {"n": 1}]
    assert sorted(asked) == [("ship", 0, "https://shop.example/ship/a"), ("ship", 1, "https://shop.example/ship/b")]
    assert run.output == {"paid": {"receipt": 1}}
