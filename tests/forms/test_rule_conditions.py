"""Field conditions of rules: one test, one expression, words, and which part of them is true."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidDefinition
from detent.expressions import ExpressionError, compile_expression
from detent.expressions.errors import EvaluationError
from detent.forms.rules.conditions import (
    MOST_CONDITIONS,
    ConditionPart,
    Conditions,
    Operator,
    conditions_of,
    read_conditions,
)
from detent.values.fields import Fields, Problems
from tests.forms.rules import when

RECORD = {"status": "paid", "total": 50, "tags": ["new", "vip"], "note": None, "vip": True}
AFTER = {**RECORD, "status": "shipped", "total": 50.0}


def one(*condition: Any) -> Conditions:
    return conditions_of(when(condition))


def expected(conditions: Conditions, before: Any, after: Any) -> bool | type[Exception]:
    """What the expression says."""
    text = conditions.expression()
    try:
        return True if text is None else compile_expression(text).test({"before": before, "after": after})
    except ExpressionError as error:
        return type(error)


def found(conditions: Conditions, before: Any, after: Any) -> bool | type[Exception]:
    try:
        return conditions.test(before, after)
    except ExpressionError as error:
        return type(error)


# Operators.


TRUE_AND_FALSE: list[tuple[tuple[Any, ...], bool]] = [
    (("status", "changed"), True),
    (("total", "changed"), False),
    (("missing", "changed"), False),
    (("status", "changed_to", "shipped"), True),
    (("status", "changed_to", "paid"), False),
    (("vip", "changed_to", True), False),
    (("status", "changed_from", "paid"), True),
    (("status", "changed_from", "shipped"), False),
    (("status", "equals", "shipped"), True),
    (("status", "equals", "paid"), False),
    (("total", "equals", 50), True),
    (("vip", "equals", 1), False),
    (("vip", "equals", True), True),
    (("tags", "equals", ["new", "vip"]), True),
    (("status", "not_equals", "paid"), True),
    (("missing", "not_equals", "paid"), True),
    (("status", "in", ["paid", "shipped"]), True),
    (("missing", "in", ["paid"]), False),
    (("status", "not_in", ["paid", "shipped"]), False),
    (("missing", "not_in", ["paid"]), True),
    (("total", "gt", 49.5), True),
    (("total", "gt", 50), False),
    (("total", "gte", 50), True),
    (("total", "lt", 50), False),
    (("total", "lte", 50), True),
    (("status", "gt", "paid"), True),
    (("missing", "gt", 1), False),
    (("missing", "lte", 1), False),
    (("status", "contains", "ship"), True),
    (("tags", "contains", "vip"), True),
    (("tags", "contains", "old"), False),
    (("note", "contains", "x"), False),
    (("status", "starts_with", "ship"), True),
    (("status", "starts_with", "hip"), False),
    (("missing", "starts_with", "x"), False),
    (("note", "is_null"), True),
    (("missing", "is_null"), True),
    (("status", "is_null"), False),
    (("status", "is_not_null"), True),
    (("note", "is_not_null"), False),
]


@pytest.mark.parametrize(("condition", "is_true"), TRUE_AND_FALSE)
def test_an_operator_answers_as_its_name_says(condition: tuple[Any, ...], is_true: bool) -> None:
    conditions = one(*condition)
    assert conditions.test(RECORD, AFTER) is is_true
    assert expected(conditions, RECORD, AFTER) is is_true


def test_every_operator_is_tried_above() -> None:
    assert {condition[1] for condition, _ in TRUE_AND_FALSE} == set(Operator)


def test_a_created_record_has_no_before_and_a_deleted_one_no_after() -> None:
    created, deleted = one("status", "changed_to", "new"), one("status", "equals", "paid")
    assert created.test(None, {"status": "new"})
    assert deleted.test(RECORD, None), "what is asked of a deleted record is asked of what it was"
    assert one("status", "changed").test(RECORD, None)
    assert not one("status", "changed_to", "paid").test(RECORD, None)
    assert not one("status", "changed").test(None, None)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (("status", "gt", 5), "cannot compare text > a number"),
        (("vip", "lte", 5), "cannot compare a boolean <= a number"),
        (("total", "contains", "x"), "cannot look for text in a number"),
        (("total", "starts_with", "x"), "startsWith(): needs text, not a number"),
    ],
)
def test_types_that_cannot_be_compared_are_an_error(condition: tuple[Any, ...], message: str) -> None:
    conditions = one(*condition)
    with pytest.raises(EvaluationError) as raised:
        conditions.test(RECORD, AFTER)
    assert raised.value.message == message
    text = conditions.expression()
    assert text is not None
    with pytest.raises(EvaluationError) as by_expression:
        compile_expression(text).test({"before": RECORD, "after": AFTER})
    assert by_expression.value.message == message


# Groups.


SHIPPED = ("status", "changed_to", "shipped")
LARGE = {"field_name": "total", "operator": "gt", "value": 100}
VIP = {"field_name": "vip", "operator": "equals", "value": True}


def test_all_conditions_must_be_true_unless_one_is_enough() -> None:
    assert not conditions_of(when(SHIPPED, LARGE)).test(RECORD, AFTER)
    assert conditions_of(when(SHIPPED, LARGE, match="any")).test(RECORD, AFTER)
    assert not conditions_of(when(LARGE, ("status", "equals", "new"), match="any")).test(RECORD, AFTER)


def test_groups_are_conditions_inside_of_conditions() -> None:
    conditions = conditions_of(when(SHIPPED, {"any": [LARGE, {"all": [VIP, {"any": [VIP]}]}]}))
    assert conditions.test(RECORD, AFTER)
    assert not conditions.test(RECORD, {**AFTER, "vip": False})
    assert conditions.expression() == (
        "((before['status'] ?? null) != (after['status'] ?? null) && (after['status'] ?? null) == 'shipped') && "
        "(((after ?? before)['total'] ?? null) > 100 || "
        "(((after ?? before)['vip'] ?? null) == true && ((after ?? before)['vip'] ?? null) == true))"
    )
    assert conditions.words() == (
        "status changed to 'shipped' and (total is greater than 100 or (vip is true and vip is true))"
    )


def test_without_conditions_every_change_matches() -> None:
    empty: tuple[Any, ...] = (None, {}, {"field_conditions": []}, {"field_conditions": None, "match": "any"})
    for written in empty:
        conditions = conditions_of(written)
        assert conditions.test(None, None)
        assert (conditions.expression(), conditions.words(), conditions.anchor()) == (None, "", None)
        assert conditions.explain(None, {}) == []


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ([("status", "changed")], "status changed"),
        ([SHIPPED], "status changed to 'shipped'"),
        ([("status", "in", ["a", 1])], "status is one of 'a', 1"),
        ([("note", "is_null"), ("total", "lte", 5)], "note is empty and total is at most 5"),
        ([("name", "starts_with", "it's")], 'name starts with "it\'s"'),
        ([{"any": [LARGE]}], "total is greater than 100"),
    ],
)
def test_conditions_read_as_words(conditions: list[Any], words: str) -> None:
    assert conditions_of(when(*conditions)).words() == words


# The anchor: what a matcher looks up before it tests anything.


@pytest.mark.parametrize(
    ("written", "anchor"),
    [
        (when(SHIPPED), ("status", "shipped")),
        (when(LARGE, ("status", "equals", "paid"), SHIPPED), ("status", "paid")),
        (when(SHIPPED, match="any"), ("status", "shipped")),
        (when(SHIPPED, LARGE, match="any"), None),
        (when({"all": [SHIPPED]}), None),
        (when(("tags", "equals", ["a"])), None),
        (when(("status", "not_equals", "paid")), None),
        (when(("status", "changed_from", "paid")), None),
    ],
)
def test_the_anchor_is_the_first_equality_that_must_hold(written: dict[str, Any], anchor: Any) -> None:
    assert conditions_of(written).anchor() == anchor


# Explanations.


def test_an_explanation_says_which_part_is_true_and_what_the_record_had() -> None:
    conditions = conditions_of(when(SHIPPED, {"any": [LARGE, VIP]}, ("status", "gt", 5)))
    shipped, group, compared = conditions.explain(RECORD, AFTER)
    assert shipped == ConditionPart(
        True,
        "status changed to 'shipped'",
        field="status",
        operator="changed_to",
        value="shipped",
        before="paid",
        after="shipped",
    )
    assert (group.is_true, group.match, [part.is_true for part in group.parts]) == (True, "any", [False, True])
    assert group.words == "total is greater than 100 or vip is true"
    assert (compared.is_true, compared.error) == (False, "cannot compare text > a number")


def test_a_group_with_an_error_in_it_is_explained_part_by_part() -> None:
    conditions = conditions_of(when({"all": [{"field_name": "status", "operator": "lt", "value": 1}, VIP]}))
    [group] = conditions.explain(None, AFTER)
    assert (group.is_true, group.error) == (False, "cannot compare text < a number")
    assert [(part.is_true, part.before, part.after) for part in group.parts] == [
        (False, None, "shipped"),
        (True, None, True),
    ]


# What can be wrong.


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = VIP
    for _ in range(depth - 1):
        inner = {"all": [inner]}
    return {"field_conditions": [inner]}


WRONG: list[tuple[Any, str, str]] = [
    ({"conditions": []}, "conditions", "unknown field 'conditions'; known are field_conditions, match"),
    ({"field_conditions": "x"}, "field_conditions", "must be a list of conditions, not the text 'x'"),
    ({"match": "some"}, "match", "'some' is not one of all, any"),
    ({"field_conditions": ["x"]}, "field_conditions[0]", "must be a mapping with field_name and operator"),
    (when(("", "changed")), "field_conditions[0].field_name", "must not be empty"),
    (when((None, "changed")), "field_conditions[0].field_name", "is missing"),
    (when((5, "changed")), "field_conditions[0].field_name", "must be text"),
    (when(("x" * 201, "changed")), "field_conditions[0].field_name", "at most 200"),
    (when(("a", None)), "field_conditions[0].operator", "is missing; write one of changed, changed_to"),
    (when(("a", "changd")), "field_conditions[0].operator", "did you mean 'changed'?"),
    (when(("a", 5)), "field_conditions[0].operator", "must be one of changed"),
    (when(("a", "changed_to")), "field_conditions[0].value", "is missing; write changed and is_null"),
    (when(("a", "equals", None)), "field_conditions[0].value", "is missing; write is_null"),
    (when(("a", "contains")), "field_conditions[0].value", "is missing"),
    (when(("a", "is_null", 1)), "field_conditions[0].value", "has no meaning for 'is_null'"),
    (when(("a", "changed", "x")), "field_conditions[0].value", "has no meaning for 'changed'"),
    (when(("a", "in", "x")), "field_conditions[0].value", "must be a list of values, not the text 'x'"),
    (when(("a", "in", [])), "field_conditions[0].value", "the list is empty"),
    (when(("a", "not_in", list(range(1001)))), "field_conditions[0].value", "has 1001 values; at most 1000"),
    (when(("a", "gt", True)), "field_conditions[0].value", "must be a number or a text, not true"),
    (when(("a", "lt", [1])), "field_conditions[0].value", "must be a number or a text, not a list"),
    (when(("a", "starts_with", 5)), "field_conditions[0].value", "must be text, not the number 5"),
    (when({**VIP, "extra": 1}), "field_conditions[0].extra", "unknown field 'extra'"),
    (when({"all": []}), "field_conditions[0].all", "there are no conditions in this group"),
    (when({"all": [VIP], "any": [VIP]}), "field_conditions[0]", "a group is either all or any"),
    (when({"all": [VIP], "field_name": "x"}), "field_conditions[0].field_name", "unknown field"),
    (when({"all": VIP}), "field_conditions[0].all", "must be a list of conditions"),
    (when({"any": [{"all": [5]}]}), "field_conditions[0].any[0].all[0]", "must be a mapping"),
    (nested(6), "field_conditions[0].all[0].all[0].all[0].all[0].all", "nested more than 5 levels deep"),
    (when(*[VIP] * (MOST_CONDITIONS + 1)), "field_conditions", "has 101 conditions; at most 100 are allowed"),
    (when(("a", "in", ["x" * 30] * 200)), "field_conditions", "longer than 4096 characters"),
    (when(("a", "equals", -(2**63))), "field_conditions", "cannot be written as one expression"),
]


@pytest.mark.parametrize(("written", "field", "message"), WRONG)
def test_a_condition_that_cannot_be_is_refused_with_its_place(written: Any, field: str, message: str) -> None:
    problems = Problems()
    read_conditions(Fields(written, "trigger_conditions", problems))
    [problem] = problems.found
    assert problem.field == f"trigger_conditions.{field}"
    assert message in problem.message


def test_stored_conditions_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(InvalidDefinition):
        conditions_of(when(("a", "is")))


def test_five_levels_of_groups_are_allowed() -> None:
    assert conditions_of(nested(5)).test(None, {"vip": True})


def test_every_problem_of_several_conditions_is_reported() -> None:
    problems = Problems()
    written = when(("a", "is"), ("b", "in", 5), {"any": [{"field_name": "c", "operator": "changed_to"}]})
    read_conditions(Fields(written, "", problems))
    assert [one.field for one in problems.found] == [
        "field_conditions[0].operator",
        "field_conditions[1].value",
        "field_conditions[2].any[0].value",
    ]


# What holds for all conditions and records.


NAMES = st.sampled_from(["a", "b", "it's", "x y", "ä\n", "in", "before"])
SCALARS = (
    st.booleans()
    | st.integers(-3, 3)
    | st.floats(-3, 3).map(lambda number: round(number, 1))
    | st.sampled_from(["", "a", "ab", "it's", 'say "x"', "back\\slash", "new\nline", "ä🙂", "{{ x }}", "a && b"])
)
VALUES = SCALARS | st.lists(SCALARS | st.none(), max_size=3) | st.dictionaries(NAMES, SCALARS | st.none(), max_size=2)
RECORDS = st.none() | st.dictionaries(NAMES, VALUES | st.none(), max_size=5)


@st.composite
def leaves(draw: st.DrawFn) -> dict[str, Any]:
    operator = draw(st.sampled_from(Operator))
    leaf = {"field_name": draw(NAMES), "operator": operator.value}
    match operator:
        case Operator.CHANGED | Operator.IS_NULL | Operator.IS_NOT_NULL:
            return leaf
        case Operator.IN | Operator.NOT_IN:
            return {**leaf, "value": draw(st.lists(VALUES | st.none(), min_size=1, max_size=3))}
        case Operator.GT | Operator.GTE | Operator.LT | Operator.LTE:
            return {**leaf, "value": draw(SCALARS.filter(lambda value: not isinstance(value, bool)))}
        case Operator.STARTS_WITH:
            return {**leaf, "value": draw(st.text(max_size=2))}
        case _:
            return {**leaf, "value": draw(VALUES)}


PARTS = st.recursive(
    leaves(),
    lambda inner: st.lists(inner, min_size=1, max_size=3).flatmap(
        lambda parts: st.sampled_from(["all", "any"]).map(lambda match: {match: parts})
    ),
    max_leaves=6,
)
WRITTEN = st.builds(
    lambda parts, match: {"field_conditions": parts, "match": match},
    st.lists(PARTS, max_size=4),
    st.sampled_from(["all", "any"]),
)


@given(WRITTEN, RECORDS, RECORDS)
def test_a_test_answers_what_the_expression_answers(written: dict[str, Any], before: Any, after: Any) -> None:
    try:
        conditions = conditions_of(written)
    except InvalidDefinition:  # too deep
        return
    assert found(conditions, before, after) == expected(conditions, before, after)


@given(WRITTEN, RECORDS, RECORDS)
def test_whatever_matches_has_the_anchor_and_every_explained_part(
    written: dict[str, Any], before: Any, after: Any
) -> None:
    try:
        conditions = conditions_of(written)
    except InvalidDefinition:
        return
    is_match = found(conditions, before, after) is True
    parts = conditions.explain(before, after)
    anchor = conditions.anchor()
    if anchor is not None and is_match:
        record = before if after is None else after
        assert (record or {}).get(anchor[0]) == anchor[1]
    if all(part.error is None for part in parts) and parts:
        answers = [part.is_true for part in parts]
        assert is_match is (all(answers) if written["match"] == "all" else any(answers))
