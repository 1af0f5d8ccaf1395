"""Null, missing, skipped and truncated are four different things."""

import pytest

from detent.expressions import (
    Deferred,
    EvaluationError,
    MissingValue,
    Mode,
    Scope,
    SyntaxProblem,
    TruncatedValue,
    compile_expression,
)
from tests.expressions.scopes import SCOPE, Broken, Counted, LateMapping, Lazy, value

BOTH = pytest.mark.parametrize("mode", list(Mode))


@BOTH
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("trigger.body.order_id", "o-1"),
        ("trigger['body']['order_id']", "o-1"),
        ("trigger . body [ 'order_id' ]", "o-1"),
        ("trigger.body.items[1].name", "b"),
        ("trigger.body.items[trigger.body.n - 2].name", "b"),
        ("trigger.body.items[1.0].name", "b"),
        ("trigger.body.items.length", 2),
        ("trigger.body['ord' + 'er_id']", "o-1"),
        ("trigger.body.order_id.length", 3),
        ("trigger.body.order_id[0]", "o"),
        ("trigger.body.note", None),
        ("trigger.headers.content-type", "application/json"),
        ("trigger.headers['X-ID']", "7"),
        ("tasks.charge.body.approved", True),
        ("tasks.charge.body.length-of", 2),
        ("tasks.payment-result.body.status", "paid"),
        ("tasks['payment-result'].body.status", "paid"),
        ("wait.payment-result.url", "https://example.test/wh/1"),
        ("context.data['get-item'].items[0].Status", "Approved"),
        ("$execution.resume_url", "r"),
        ("$execution.wait_approval.resume_url", "w"),
        ("$input.email", "a@example.test"),
        ("tasks.page.body", "<html>"),
        ("first(trigger.body.items).name", "a"),
        ("(trigger.body.none ?? {a: 1}).a", 1),
        ("{a: [1, 2]}['a'][1]", 2),
        ("'abc'.length", 3),
        ("[1, 2, 3].length", 3),
    ],
)
def test_a_path_reads_what_it_names(source: str, expected: object, mode: Mode) -> None:
    assert value(source, SCOPE, mode) == expected


@BOTH
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("task.charge", "'task' is not known here; did you mean 'tasks'?"),
        ("tasks.chrage.status", "'chrage' is not in tasks; did you mean 'charge'?"),
        ("tasks.charge.body.order_id", "'order_id' is not in tasks.charge.body; did you mean 'orderId'?"),
        ("tasks.charge.statuscode", "'statuscode' is not in tasks.charge; did you mean 'status_code'?"),
        ("trigger.body.zzz", "'zzz' is not in trigger.body"),
        ("trigger.body.n-1", "'n-1' is not in trigger.body; put blanks around - to subtract"),
        ("trigger.body.items[2].name", "trigger.body.items has no index 2, its length is 2"),
        ("trigger.body.items[-1]", "trigger.body.items has no index -1, its length is 2"),
        ("trigger.body.items['name']", "trigger.body.items is an array, so it has no 'name'"),
        ("trigger.body[0]", "trigger.body is an object and has no index 0"),
        ("tasks[0]", "tasks is an object and has no index 0"),
        ("trigger.headers.x-none", "'x-none' is not in trigger.headers"),
        ("trigger.body.n.x", "trigger.body.n is a number, so it has no 'x'"),
        ("tasks.charge.body.approved.x", "tasks.charge.body.approved is a boolean, so it has no 'x'"),
        ("tasks.page.body.field", "tasks.page.body is text, so it has no 'field'"),
        ("trigger.body['odd name'].x", "'odd name' is not in trigger.body"),
        (
            "context.data['get-item'].items[0].status.x",
            "'status' is not in context.data.get-item.items[0]; did you mean",
        ),
        ("first(trigger.body.items).nme", "'nme' is not in first(trigger.body.items); did you mean 'name'?"),
        ("[{a: 1}][0].b", "'b' is not in [{a: 1}][0]"),
        ("{'a b': {}}['a b'].c", "'c' is not in {'a b': {}}['a b']"),
    ],
)
def test_a_missing_key_is_an_error_that_names_it_in_both_modes(source: str, message: str, mode: Mode) -> None:
    with pytest.raises(MissingValue) as caught:
        value(source, SCOPE, mode)
    assert caught.value.message.startswith(message)
    assert caught.value.position == 0


@pytest.mark.parametrize(
    "name", ["__class__", "constructor", "__proto__", "__globals__", "mro", "keys", "items", "get"]
)
@pytest.mark.case("H1", "H4")
def test_names_of_the_host_are_missing_keys_unless_the_data_has_them(name: str) -> None:
    for source in (f"a.{name}", f"a['{name}']", "a[k]", f"a.b.{name}", f"'x'.{name}", f"[1].{name}", f"(5).{name}"):
        with pytest.raises(MissingValue):
            value(source, {"a": {"b": {}}, "k": name})
    assert value(f"a.{name}", {"a": {name: 7}}) == 7


THROUGH_NULL = [
    "tasks.skipped.body.status",
    "tasks.skipped.body.a.b.c",
    "tasks.skipped.body[0]",
    "tasks.skipped.headers.x",
    "tasks.skipped.body[trigger.body.order_id].x",
    "trigger.body.note.length",
    "first([]).x",
]


@pytest.mark.parametrize("source", THROUGH_NULL)
def test_a_path_through_null_is_null_in_a_condition(source: str) -> None:
    assert value(source) is None
    assert value(f"{source} == 'paid'") is False
    assert value(f"{source} != 'paid'") is True
    assert value(f"{source} >= 400") is False


@pytest.mark.parametrize("source", THROUGH_NULL)
def test_a_path_through_null_is_an_error_in_a_template(source: str) -> None:
    with pytest.raises(MissingValue, match=r"is null$"):
        value(source, SCOPE, Mode.TEMPLATE)


@BOTH
@pytest.mark.parametrize(
    "source",
    [
        "trigger.body.zzz",
        "trigger.body.note",
        "trigger.body.items[9]",
        "trigger.body.zzz.deeper[0]",
        "tasks.nobody.body",
        "nothing",
        "tasks.page.body.field",
        "trigger.body.n.x",
        "trigger.body[trigger.body.zzz]",
        "lower(trigger.body.zzz)",
        *THROUGH_NULL,
    ],
)
def test_a_default_stands_in_for_missing_and_null(source: str, mode: Mode) -> None:
    assert value(f"{source} ?? 'd'", SCOPE, mode) == "d"
    assert value(f"({source}) ?? null ?? 'd'", SCOPE, mode) == "d"


@BOTH
def test_the_last_operand_of_a_default_is_strict(mode: Mode) -> None:
    with pytest.raises(MissingValue, match=r"'zzz' is not in trigger\.body"):
        value("trigger.body.yyy ?? trigger.body.zzz", SCOPE, mode)


@BOTH
def test_a_default_is_not_used_for_false_values_that_exist(mode: Mode) -> None:
    assert value("[0 ?? 1, '' ?? 1, false ?? 1]", SCOPE, mode) == [0, "", False]


CUT = "because the response from '{}' exceeded the 256KB limit and was truncated"


@BOTH
@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("tasks.large.body", "body"),
        ("tasks.large.body.amount", "body.amount"),
        ("tasks.large['body'].items[0].name", "body.items[0].name"),
        ("tasks.large.body['odd name']", "body['odd name']"),
        ("tasks.large.body[trigger.body.order_id]", "body.o-1"),
        ("tasks.large.body ?? 1", "body"),
        ("tasks.large.body.amount ?? 1", "body.amount"),
        ("tasks.large", "body"),
        ("json(tasks.large)", "body"),
        ("tasks == 1 || tasks.large == {}", "body"),
        ("first([tasks.large]).body", "body"),
        ("values(tasks.large)", "body"),
    ],
)
def test_reading_a_truncated_response_says_so_exactly(source: str, path: str, mode: Mode) -> None:
    with pytest.raises(TruncatedValue) as caught:
        value(source, SCOPE, mode)
    assert str(caught.value) == f"Cannot read '{path}' {CUT.format('large')}"


def test_a_truncated_output_is_named_by_its_own_field() -> None:
    with pytest.raises(TruncatedValue) as caught:
        value("context.data.cut.x")
    assert str(caught.value) == f"Cannot read 'output.x' {CUT.format('cut')}"


def test_what_stands_beside_a_truncated_body_is_readable() -> None:
    assert value("tasks.large.status_code == 200 && 'body' in tasks.large") is True


@pytest.mark.parametrize("index", ["null", "true", "1.5", "[]", "{}", "huge"])
def test_an_index_must_be_text_or_a_whole_number(index: str) -> None:
    with pytest.raises(EvaluationError, match="an index must be"):
        value(f"a[{index}]", {"a": [1], "huge": 10**5000})


def test_a_deferred_value_is_resolved_only_when_it_is_read() -> None:
    body = Counted({"a": 1})
    scope: Scope = {"tasks": {"x": {"status": "success", "body": body}}}
    assert value("tasks.x.status == 'success'", scope) is True
    assert body.reads == 0
    assert value("tasks.x.body.a", scope) == 1
    assert body.reads == 1


@pytest.mark.parametrize("error", [ValueError("x"), RecursionError(), KeyError("k")])
@pytest.mark.parametrize("source", ["b", "b.x", "b ?? 1", "[b]", "json({a: b})"])
def test_a_deferred_value_that_cannot_be_decoded_is_our_error(source: str, error: Exception) -> None:
    with pytest.raises(EvaluationError, match="could not be decoded"):
        value(source, {"b": Broken(error)})


def test_a_deferred_value_without_an_answer_is_our_error() -> None:
    with pytest.raises(EvaluationError, match="could not be decoded"):
        value("b", {"b": Deferred()})


def test_our_own_error_of_a_deferred_value_is_kept() -> None:
    with pytest.raises(EvaluationError, match=r"^cut off$"):
        value("b.x", {"b": Broken(EvaluationError("cut off"))})


def test_a_mapping_may_make_its_items_late() -> None:
    assert value("a.b", {"a": LateMapping({"b": 5})}) == 5


@pytest.mark.parametrize("foreign", [b"bytes", (1, 2), {1}, object(), compile_expression])
def test_a_value_that_is_no_json_is_refused(foreign: object) -> None:
    for source in ("x", "x.__class__", "[x]", "y", "y.a", "y == {}"):
        with pytest.raises(EvaluationError):
            value(source, {"x": foreign, "y": {"a": foreign}})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), pytest.param(10**5000, id="huge")])
def test_a_number_that_json_cannot_carry_is_refused_inside_a_whole_value(number: float) -> None:
    with pytest.raises(EvaluationError):
        value("json(x)", {"x": [number]})
    with pytest.raises(EvaluationError):
        value("x", {"x": {"a": number}})


def test_keys_that_are_no_text_and_halves_of_characters_are_refused_inside_a_whole_value() -> None:
    with pytest.raises(EvaluationError, match="must be text"):
        value("x", {"x": {1: 2}})
    with pytest.raises(EvaluationError, match="surrogate"):
        value("x", {"x": ["\ud800"]})


def test_a_long_computed_name_is_clipped_in_the_message() -> None:
    with pytest.raises(MissingValue) as caught:
        value("a[k].b.c", {"a": {}, "k": "x" * 100_000})
    assert len(caught.value.message) < 200


def test_a_lazy_scope_is_a_scope() -> None:
    assert value("a.b", Lazy({"a": {"b": 1}})) == 1


def test_a_hyphen_belongs_to_a_name_only_without_blanks() -> None:
    scope: Scope = {"a-b": 1, "a": 5, "b": 3, "a--b": 7, "c-1": 9}
    found = [value(text, scope) for text in ("a-b", "a - b", "a -b", "a- b", "a--b", "a - -b", "c-1")]
    assert found == [1, 2, 2, 2, 7, 8, 9]
    with pytest.raises(SyntaxProblem):
        compile_expression("a-")
