"""Templates: types kept, text filled, nothing half-known sent out."""

import json

import pytest

from detent.expressions import (
    ExpressionError,
    ExpressionLimitExceeded,
    Scope,
    SyntaxProblem,
    TruncatedValue,
    UnresolvedTemplate,
    compile_template,
    resolve_holes,
    template_problems,
)
from tests.expressions.scopes import SCOPE, Counted, value


def rendered(template: object, scope: Scope = SCOPE) -> object:
    return compile_template(template).render(scope)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{trigger.body.order_id}}", "o-1"),
        ("{{ trigger.body.amount }}", 12.5),
        ("{{ trigger.body.note }}", None),
        ("{{ tasks.charge.body.approved }}", True),
        ("{{ trigger.body.items }}", [{"name": "a"}, {"name": "b"}]),
        ("{{ trigger.headers }}", {"Content-Type": "application/json", "X-Id": "7"}),
        ("{{wait.payment-result.url}}", "https://example.test/wh/1"),
        ("{{ {a: {b: '}}'}} }}", {"a": {"b": "}}"}}),
        ("{{ '{{' }}", "{{"),
        ("{{ trigger.body.zzz ?? null }}", None),
        ("Order {{trigger.body.order_id}}!", "Order o-1!"),
        (" {{ trigger.body.n }}", " 3"),
        ("{{ trigger.body.n }}{{ trigger.body.n }}", "33"),
        ("<{{ trigger.body.note }}>", "<>"),
        ("<{{ true }}{{ false }}{{ 1.5 }}{{ -2 }}>", "<truefalse1.5-2>"),
        ("<{{ trigger.body.items }}>", '<[{"name":"a"},{"name":"b"}]>'),
        ("<{{ {é: 'ü'} }}>", '<{"é":"ü"}>'),
        ("body: {{ tasks.charge.body }}", 'body: {"approved":true,"amount":5,"orderId":"o-1","length-of":2}'),
        ("} }} { {{ '{{' }} {", "} }} { {{ {"),
        ("Found {{ context.data['get-item'].items.length }} items in progress.", "Found 1 items in progress."),
        ("Failed at {{ context.data['get-item'].errorNode ?? 'unknown' }}.", "Failed at unknown."),
        (
            "https://app.test/resume/{{ $execution.resume_url }}?action=approve",
            "https://app.test/resume/r?action=approve",
        ),
        (["{{ 1 }}", {"a": "{{ 2 }}", "{{ 3 }}": 4}], [1, {"a": 2, "{{ 3 }}": 4}]),
    ],
)
def test_a_template_renders_to(template: object, expected: object) -> None:
    result = rendered(template)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize("constant", [None, 1, True, "text", "} }}", [], {}, {"a": [1, {"b": "c"}]}])
def test_a_constant_template_gives_back_the_same_object(constant: object) -> None:
    template = compile_template(constant)
    assert template.is_constant
    assert template.references == ()
    assert template.render({}) is constant


def test_only_what_changes_is_copied_and_the_order_of_keys_stays() -> None:
    inner = ["x"]
    source = {"z": {"deep": [1, 2]}, "a": "{{ trigger.body.n }}", "m": [inner, "{{ trigger.body.n }}"]}
    before = json.dumps(source)
    template = compile_template(source)
    result = template.render(SCOPE)
    assert isinstance(result, dict)
    assert list(result) == ["z", "a", "m"]
    assert result["z"] is source["z"]
    assert result["m"] == [["x"], 3]
    assert result["m"][0] is inner
    assert json.dumps(source) == before
    assert not template.is_constant


def test_a_whole_body_is_not_copied_unless_it_holds_markers() -> None:
    body = {"a": [1, 2, {"b": 3}]}
    assert rendered("{{ x }}", {"x": Counted(body)}) is body


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (
            "{{tasks.charge.body.order_id}}",
            (
                "Failed to resolve {{tasks.charge.body.order_id}}: "
                "'order_id' is not in tasks.charge.body; did you mean 'orderId'?"
            ),
        ),
        ("a {{  trigger.body.zzz  }} b", "Failed to resolve {{trigger.body.zzz}}: 'zzz' is not in trigger.body"),
        ("{{ tasks.skipped.body.id }}", "Failed to resolve {{tasks.skipped.body.id}}: tasks.skipped.body is null"),
        (
            "{{ tasks.page.body.id }}",
            "Failed to resolve {{tasks.page.body.id}}: tasks.page.body is text, so it has no 'id'",
        ),
        ("{{ 1 / 0 }}", "Failed to resolve {{1 / 0}}: division by zero"),
        ("{{ lower(1) }}", "Failed to resolve {{lower(1)}}: lower(): needs text, not a number"),
    ],
)
@pytest.mark.case("F10")
def test_a_failure_begins_with_the_template_as_written(template: str, message: str) -> None:
    with pytest.raises(UnresolvedTemplate) as caught:
        rendered({"list": [template]})
    assert str(caught.value) == message
    assert caught.value.at == ("list", 0)
    assert caught.value.position == template.index("{{")


@pytest.mark.parametrize(
    ("template", "path"),
    [("{{tasks.large.body.amount}}", "body.amount"), ("{{tasks.large.body}}", "body"), ("x{{tasks.large}}", "body")],
)
def test_a_truncated_response_has_its_own_exact_message(template: str, path: str) -> None:
    with pytest.raises(TruncatedValue) as caught:
        rendered({"a": template})
    expected = f"Cannot read '{path}' because the response from 'large' exceeded the 256KB limit and was truncated"
    assert str(caught.value) == expected
    assert caught.value.at == ("a",)


@pytest.mark.parametrize(
    ("template", "message", "position"),
    [
        ("{{ a", "'{{' is not closed by '}}'", 0),
        ("ok {{ a }} {{", "'{{' is not closed by '}}'", 11),
        ("{{ a }", "'{{' is not closed by '}}'", 0),
        ("{{ {a: 1}}", "'{{' is not closed by '}}'", 0),
        ("{{}}", "the expression is empty", 2),
        ("x {{ a b }}", "unexpected b", 7),
        ("{{ 'a }}", "the text is not closed", 3),
        ("{{{ a }}}", "expected ':'", 6),
        ("{{ '" + "a" * 5000 + "' }}", "longer than 4096", 2),
    ],
)
def test_a_syntax_problem_says_where_in_the_value_and_in_the_text(template: str, message: str, position: int) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        compile_template({"headers": {"x": template}})
    assert message in caught.value.message
    assert caught.value.at == ("headers", "x")
    assert caught.value.position == position


def test_all_problems_of_a_template_are_found_at_once() -> None:
    found = template_problems({"a": "{{", "b": ["fine", "{{ 1 + }}", "{{ ok }}"]})
    assert [problem.at for problem in found] == [("a",), ("b", 1)]
    assert template_problems({"a": "{{ ok }}"}) == ()


def test_references_say_where_in_the_value_they_are_read() -> None:
    template = compile_template({"a": "{{ trigger.body.x }} and {{ tasks.b.body }}", "c": ["{{ wait.d.url }}"]})
    found = [(reference.at, reference.path, reference.text, reference.position) for reference in template.references]
    assert found == [
        (("a",), ("trigger", "body", "x"), "trigger.body.x", 3),
        (("a",), ("tasks", "b", "body"), "tasks.b.body", 28),
        (("c", 0), ("wait", "d", "url"), "wait.d.url", 3),
    ]


@pytest.mark.parametrize("wrong", [b"bytes", {1: 2}, [float("nan")], ["\ud800"], {"a": {1, 2}}])
def test_a_template_must_be_json(wrong: object) -> None:
    with pytest.raises(SyntaxProblem):
        compile_template(wrong)


def test_a_template_may_be_64_levels_deep_and_no_deeper() -> None:
    deep: object = "{{ 1 }}"
    for _ in range(64):
        deep = [deep]
    assert compile_template(deep).render({}) is not None
    with pytest.raises(SyntaxProblem, match="nested"):
        compile_template([deep])
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(SyntaxProblem, match="nested"):
        compile_template(endless)


def test_what_is_rendered_may_not_exceed_256_kb_constant_parts_included() -> None:
    half = "x" * 130_000
    scope: Scope = {"half": half}
    assert compile_template({"a": "{{ half }}", "b": "{{ half }}"}).render(scope)
    for template in (
        {"a": "{{ half }}", "b": "{{ half }}", "c": "{{ half }}"},
        {"a": half, "b": "{{ half }}", "c": "more than two kilobytes" * 100},
        {"a": "{{ half }}{{ half }}{{ half }}"},
    ):
        with pytest.raises((ExpressionLimitExceeded, UnresolvedTemplate), match="256 KB"):
            compile_template(template).render(scope)
    with pytest.raises(SyntaxProblem, match="256 KB"):
        compile_template([half, half, half])


def test_size_is_counted_in_bytes_not_characters() -> None:
    with pytest.raises(UnresolvedTemplate, match="256 KB"):
        rendered("{{ x }}", {"x": "é" * 140_000})


ORDER_SCOPE: Scope = {
    "trigger": {"body": {"order_id": 7, "amount": 12, "user_id": "u", "token": "t", "email": "e"}},
    "tasks": {
        "charge": {"status": "success", "status_code": 200, "body": {"approved": True, "amount": 12}},
        "payment-result": {"status": "received", "status_code": 200, "body": {"status": "paid", "payment_id": "p-9"}},
    },
    "wait": {"payment-result": {"url": "https://example.test/wh/2"}},
}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ({"order_id": "{{trigger.body.order_id}}"}, {"order_id": 7}),
        ({"amount": "{{tasks.charge.body.amount}}"}, {"amount": 12}),
        (
            {"template": "trial-ending-soon", "user_id": "{{trigger.body.user_id}}"},
            {"template": "trial-ending-soon", "user_id": "u"},
        ),
        ({"callback_url": "{{wait.payment-result.url}}"}, {"callback_url": "https://example.test/wh/2"}),
        ({"payment_id": "{{tasks.payment-result.body.payment_id}}"}, {"payment_id": "p-9"}),
        ({"Authorization": "Bearer {{trigger.body.token}}"}, {"Authorization": "Bearer t"}),
        ({"email": "{{trigger.body.email}}"}, {"email": "e"}),
    ],
)
def test_the_templates_of_the_order_workflows_render(template: object, expected: object) -> None:
    assert rendered(template, ORDER_SCOPE) == expected


REFUSED: Scope = {
    "tasks": {
        "charge": {"status": "failed", "status_code": 402, "body": {"approved": False}},
        "payment-result": {"status": "timeout", "status_code": None, "body": None},
    }
}
SKIPPED: Scope = {
    "tasks": {
        "charge": {"status": "skipped", "status_code": None, "body": None},
        "payment-result": {"status": "skipped", "status_code": None, "body": None},
    }
}


@pytest.mark.parametrize(
    ("condition", "paid", "refused", "skipped"),
    [
        ("tasks.charge.status_code == 200", True, False, False),
        ("tasks.charge.status_code != 200", False, True, True),
        ("tasks.charge.body.approved == true", True, False, False),
        ("tasks.charge.status_code >= 400", False, True, False),
        ("tasks.payment-result.body.status == 'paid'", True, False, False),
        ("tasks.payment-result.status == 'timeout'", False, True, False),
        ("tasks.charge.status == 'skipped'", False, False, True),
    ],
)
def test_the_conditions_of_the_order_workflows_decide(condition: str, paid: bool, refused: bool, skipped: bool) -> None:
    assert [value(condition, scope) for scope in (ORDER_SCOPE, REFUSED, SKIPPED)] == [paid, refused, skipped]


def test_each_hole_of_a_template_is_resolved_alone_and_an_error_does_not_stop_the_others() -> None:
    source = {"a": "{{ x }} and {{ x + 1 }}", "b": [{"c": "{{ missing }}"}, 5], "d": "plain", "e": "{{ x * 10 }}"}
    found = list(resolve_holes(compile_template(source), {"x": 1}))
    assert [(hole.at, hole.source, hole.value) for hole in found] == [
        (("a",), "x", 1),
        (("a",), "x + 1", 2),
        (("b", 0, "c"), "missing", None),
        (("e",), "x * 10", 10),
    ]
    assert [hole.error is None for hole in found] == [True, True, False, True]
    assert list(resolve_holes(compile_template("plain"), {})) == []


def test_all_holes_share_the_budget_of_one_rendering() -> None:
    large = compile_template(["{{ x }}"] * 4)
    found = list(resolve_holes(large, {"x": "y" * 100_000}))
    assert [hole.error is None for hole in found] == [True, True, False, False]
    with pytest.raises(ExpressionError):
        large.render({"x": "y" * 100_000})
