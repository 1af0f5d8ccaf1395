"""Field conditions: which changes of a record a rule is for.

    {"field_conditions": [{"field_name": "status", "operator": "changed_to", "value": "shipped"},
                          {"any": [{"field_name": "total", "operator": "gt", "value": 100},
                                   {"field_name": "vip", "operator": "equals", "value": true}]}]}

All of them must be true, or with `match: any` at least one. A field that is missing is null: events often have only a
part of a record. `equals` and its like read the record as it is now, which is `after`, or `before` if it was deleted.
`changed` and its like compare both.

The same conditions are an expression (`expression`), a fast test (`test`), words for people (`words`), and a list that
says which part is true (`explain`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

import msgspec

from detent.expressions import ExpressionError, compile_expression
from detent.expressions.errors import Budget, EvaluationError
from detent.expressions.values import NUMBERS, ORDERS, contains, equal, kind_of, ordered
from detent.values.fields import Fields, Problems, described

DEEPEST_GROUP: Final = 5
MOST_CONDITIONS: Final = 100
MOST_VALUES: Final = 1_000
_LONGEST_FIELD: Final = 200
_PLAIN: Final = (str, int, float, bool)
#: The record as it is now, in an expression over `before` and `after`.
RECORD: Final = "(after ?? before)"

Record = Mapping[str, Any] | None
Test = Callable[[Record, Record, Record, Budget], bool]


class Operator(StrEnum):
    """What a condition asks of a field."""

    CHANGED = "changed"
    CHANGED_TO = "changed_to"
    CHANGED_FROM = "changed_from"
    EQUALS = "equals"
    NOT_EQUALS = "not_equals"
    IN = "in"
    NOT_IN = "not_in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS = "contains"
    STARTS_WITH = "starts_with"
    IS_NULL = "is_null"
    IS_NOT_NULL = "is_not_null"


#: The operators that compare the record before and after its change.
OF_CHANGES: Final = (Operator.CHANGED, Operator.CHANGED_TO, Operator.CHANGED_FROM)
_WITHOUT_VALUE: Final = (Operator.CHANGED, Operator.IS_NULL, Operator.IS_NOT_NULL)
_LISTS: Final = (Operator.IN, Operator.NOT_IN)
_SIGNS: Final = {Operator.GT: ">", Operator.GTE: ">=", Operator.LT: "<", Operator.LTE: "<="}
_INSTEAD_OF_NULL: Final = {
    Operator.EQUALS: "; write is_null",
    Operator.NOT_EQUALS: "; write is_not_null",
    Operator.CHANGED_TO: "; write changed and is_null",
}
_WORDS: Final = {
    Operator.CHANGED: "changed",
    Operator.CHANGED_TO: "changed to",
    Operator.CHANGED_FROM: "changed from",
    Operator.EQUALS: "is",
    Operator.NOT_EQUALS: "is not",
    Operator.IN: "is one of",
    Operator.NOT_IN: "is none of",
    Operator.GT: "is greater than",
    Operator.GTE: "is at least",
    Operator.LT: "is less than",
    Operator.LTE: "is at most",
    Operator.CONTAINS: "contains",
    Operator.STARTS_WITH: "starts with",
    Operator.IS_NULL: "is empty",
    Operator.IS_NOT_NULL: "is not empty",
}


class Match(StrEnum):
    """How many conditions of a group must be true."""

    ALL = "all"
    ANY = "any"


class ConditionPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """One condition or group, and whether it is true for a change.

    A condition has `field`, `operator`, `value`, and the values of its field `before` and `after`. A group has `match`
    and `parts`. `error` says why a condition could not be evaluated; then it is not true.
    """

    is_true: bool
    words: str
    field: str | None = None
    operator: str | None = None
    value: Any = None
    before: Any = None
    after: Any = None
    error: str | None = None
    match: str | None = None
    parts: tuple[ConditionPart, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldCondition:
    """A question about one field. `path` is where it was written."""

    field: str
    operator: Operator
    value: Any
    path: str

    def expression(self, record: str) -> str:
        """Return the condition in the expression language. `record` is the expression of the record as it is now."""
        now = f"({record}[{literal(self.field)}] ?? null)"
        before = f"(before[{literal(self.field)}] ?? null)"
        after = f"(after[{literal(self.field)}] ?? null)"
        value = literal(self.value)
        match self.operator:
            case Operator.CHANGED:
                return f"{before} != {after}"
            case Operator.CHANGED_TO:
                return f"{before} != {after} && {after} == {value}"
            case Operator.CHANGED_FROM:
                return f"{before} != {after} && {before} == {value}"
            case Operator.EQUALS | Operator.NOT_EQUALS:
                return f"{now} {'==' if self.operator is Operator.EQUALS else '!='} {value}"
            case Operator.IN | Operator.NOT_IN:
                found = f"{now} in {value}"
                return found if self.operator is Operator.IN else f"!({found})"
            case Operator.CONTAINS:
                return f"{value} in {now}"
            case Operator.STARTS_WITH:
                return f"startsWith({now}, {value})"
            case Operator.IS_NULL | Operator.IS_NOT_NULL:
                return f"{now} {'==' if self.operator is Operator.IS_NULL else '!='} null"
            case _:
                return f"{now} {_SIGNS[self.operator]} {value}"

    def words(self) -> str:
        """Return the condition as people read it: `status changed to 'shipped'`."""
        said = f"{self.field} {_WORDS[self.operator]}"
        if self.operator in _WITHOUT_VALUE:
            return said
        if self.operator in _LISTS:
            return f"{said} {', '.join(map(literal, self.value))}"
        return f"{said} {literal(self.value)}"

    def compiled(self) -> Test:
        """Return the condition as a function of before, after, the record as it is now, and a budget."""
        return _COMPILE[self.operator](self)


@dataclass(frozen=True, slots=True)
class ConditionGroup:
    """Conditions of which all or any must be true. An empty group is true."""

    match: Match = Match.ALL
    parts: tuple[FieldCondition | ConditionGroup, ...] = ()

    def expression(self, record: str) -> str:
        found = [part.expression(record) for part in self.parts]
        if len(found) == 1:
            return found[0]
        sign = " && " if self.match is Match.ALL else " || "
        return sign.join(f"({one})" if " && " in one or " || " in one else one for one in found) or "true"

    def words(self) -> str:
        sign = " and " if self.match is Match.ALL else " or "
        return sign.join(
            f"({part.words()})" if isinstance(part, ConditionGroup) and len(part.parts) > 1 else part.words()
            for part in self.parts
        )

    def compiled(self) -> Test:
        tests = tuple(part.compiled() for part in self.parts)
        if len(tests) == 1:
            return tests[0]
        stop = self.match is Match.ANY

        def test(before: Record, after: Record, record: Record, budget: Budget) -> bool:
            for one in tests:
                if one(before, after, record, budget) is stop:
                    return stop
            return not stop or not tests

        return test

    def leaves(self) -> Iterator[FieldCondition]:
        """Yield every condition, from left to right."""
        for part in self.parts:
            if isinstance(part, ConditionGroup):
                yield from part.leaves()
            else:
                yield part


@dataclass(frozen=True)
class Conditions:
    """The conditions of a rule. `written` is what they were read from."""

    root: ConditionGroup = field(default_factory=ConditionGroup)
    written: Mapping[str, Any] = field(default_factory=dict)

    def expression(self, record: str = RECORD) -> str | None:
        """Return all conditions as one expression over `before` and `after`; `None` if there are none."""
        return self.root.expression(record) if self.root.parts else None

    def anchor(self) -> tuple[str, str | int | float | bool] | None:
        """Return a field, and the value that the record as it is now must have there for a match.

        It is the first `equals` or `changed_to` that must be true in any case; `None` if there is none. The value can
        be the key of a dictionary. There `1`, `1.0` and `true` are one key, so `test` still has to decide."""
        if self.root.match is Match.ANY and len(self.root.parts) > 1:
            return None
        for part in self.root.parts:
            if (
                isinstance(part, FieldCondition)
                and part.operator in (Operator.EQUALS, Operator.CHANGED_TO)
                and isinstance(part.value, _PLAIN)
            ):
                return part.field, part.value
        return None

    def test(self, before: Record, after: Record) -> bool:
        """Return whether a change matches. Raise EvaluationError if a part cannot be evaluated.

        The result is that of `expression`, in a fraction of its time."""
        return self._test(before, after, before if after is None else after, Budget())

    def explain(self, before: Record, after: Record) -> list[ConditionPart]:
        """Return each condition and group with whether it is true, also those that `test` would not reach."""
        return [_explained(part, before, after) for part in self.root.parts]

    def words(self) -> str:
        """Return the conditions as people read them; an empty text if there are none."""
        return self.root.words()

    def leaves(self) -> list[FieldCondition]:
        """Return every condition, from left to right."""
        return list(self.root.leaves())

    @cached_property
    def _test(self) -> Test:
        return self.root.compiled()


def read_conditions(fields: Fields) -> Conditions:
    """Read `trigger_conditions`, or the config of a condition: `field_conditions` and `match`. Every error becomes a
    problem with its path."""
    before = len(fields.problems.found)
    found = _read_all(fields)
    count = len(found.leaves())
    if count > MOST_CONDITIONS:
        message = f"has {count} conditions; at most {MOST_CONDITIONS} are allowed"
        fields.problems.add(fields.at("field_conditions"), message)
    elif (text := found.expression()) is not None and len(fields.problems.found) == before:
        try:
            compile_expression(text)
        except ExpressionError as error:
            message = f"cannot be written as one expression: {error.message}; write shorter or fewer conditions"
            fields.problems.add(fields.at("field_conditions"), message)
    return found


def conditions_of(written: Mapping[str, Any] | None) -> Conditions:
    """Return conditions that were stored. Raise InvalidDefinition if they cannot be read."""
    problems = Problems()
    found = _read_all(Fields(written or {}, "trigger_conditions", problems))
    problems.raise_if_any()
    return found


def _read_all(fields: Fields) -> Conditions:
    fields.refuse_unknown(("field_conditions", "match"))
    group = _group(fields, "field_conditions", fields.choice("match", Match, Match.ALL), 1)
    return Conditions(group, fields.values)


def literal(value: Any) -> str:
    """Return a JSON value in the expression language. A text is in single quotes where that needs no escape."""
    if isinstance(value, str) and value.isprintable() and "'" not in value and "\\" not in value:
        return f"'{value}'"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(key)}: {literal(one)}' for key, one in value.items())}}}"
    return json.dumps(value, ensure_ascii=False)


def _group(fields: Fields, name: str, match: Match, depth: int) -> ConditionGroup:
    """Read a list of conditions and groups."""
    path, items = fields.at(name), fields.get(name)
    if items is None:
        return ConditionGroup(match)
    if not isinstance(items, list):
        fields.wrong(name, "a list of conditions")
        return ConditionGroup(match)
    if not items and depth > 1:
        fields.problems.add(path, "there are no conditions in this group")
    if depth > DEEPEST_GROUP:
        fields.problems.add(path, f"groups are nested more than {DEEPEST_GROUP} levels deep")
        return ConditionGroup(match)
    parts: list[FieldCondition | ConditionGroup] = []
    for number, one in enumerate(items):
        place = f"{path}[{number}]"
        if not isinstance(one, dict):
            message = f"a condition must be a mapping with field_name and operator, not {described(one)}"
            fields.problems.add(place, message)
            continue
        part = _part(Fields(one, place, fields.problems), depth)
        parts += [] if part is None else [part]
    return ConditionGroup(match, tuple(parts))


def _part(fields: Fields, depth: int) -> FieldCondition | ConditionGroup | None:
    groups = fields.written(tuple(Match))
    if not groups:
        return _leaf(fields)
    fields.refuse_unknown(tuple(Match))
    if len(groups) > 1:
        fields.problems.add(fields.path, "a group is either all or any; write one of them")
    return _group(fields, groups[0], Match(groups[0]), depth + 1)


def _leaf(fields: Fields) -> FieldCondition | None:
    fields.refuse_unknown(("field_name", "operator", "value"))
    known = len(fields.problems.found)
    name = fields.text("field_name", most=_LONGEST_FIELD)
    if fields.get("field_name") is None:
        fields.problems.add(fields.at("field_name"), "is missing")
    if fields.get("operator") is None:
        fields.problems.add(fields.at("operator"), f"is missing; write one of {', '.join(Operator)}")
    operator = fields.choice("operator", Operator, Operator.CHANGED)
    if len(fields.problems.found) == known and (message := _value_problem(operator, fields.get("value"))):
        fields.problems.add(fields.at("value"), message)
    if name is None or len(fields.problems.found) > known:
        return None
    return FieldCondition(name, operator, fields.get("value"), fields.at("field_name"))


def _value_problem(operator: Operator, value: Any) -> str | None:
    """Return what is wrong with the value of a condition, or `None`."""
    if operator in _WITHOUT_VALUE:
        return None if value is None else f"has no meaning for {operator.value!r}"
    if value is None:
        return f"is missing{_INSTEAD_OF_NULL.get(operator, '')}"
    if operator in _LISTS:
        if not isinstance(value, list) or not value:
            return f"must be a list of values, not {described(value)}" if value != [] else "the list is empty"
        return None if len(value) <= MOST_VALUES else f"has {len(value)} values; at most {MOST_VALUES} are allowed"
    if operator in _SIGNS and (isinstance(value, bool) or not isinstance(value, int | float | str)):
        return f"must be a number or a text, not {described(value)}"
    if operator is Operator.STARTS_WITH and not isinstance(value, str):
        return f"must be text, not {described(value)}"
    return None


def _explained(part: FieldCondition | ConditionGroup, before: Record, after: Record) -> ConditionPart:
    is_true, error = False, None
    try:
        is_true = part.compiled()(before, after, before if after is None else after, Budget())
    except ExpressionError as raised:
        error = raised.message
    if isinstance(part, ConditionGroup):
        inner = tuple(_explained(one, before, after) for one in part.parts)
        return ConditionPart(is_true, part.words(), match=part.match.value, parts=inner, error=error)
    return ConditionPart(
        is_true,
        part.words(),
        field=part.field,
        operator=part.operator.value,
        value=part.value,
        before=_read(before, part.field),
        after=_read(after, part.field),
        error=error,
    )


# Each operator as a Python function. They do what the expression does, without its scope and its paths.


def _read(record: Record, name: str) -> Any:
    return None if record is None else record.get(name)


def _equal_to(value: Any) -> Callable[[Any, Budget], bool]:
    """Return a test for one value, as `==` of the language compares."""
    if isinstance(value, bool):
        return lambda found, budget: found is value
    if isinstance(value, str):
        return lambda found, budget: bool(found == value)
    if isinstance(value, int | float):
        return lambda found, budget: type(found) in NUMBERS and found == value
    return lambda found, budget: equal(found, value, budget)


def _changed(condition: FieldCondition) -> Test:
    name = condition.field
    return lambda before, after, record, budget: not equal(_read(before, name), _read(after, name), budget)


def _changed_to(condition: FieldCondition) -> Test:
    name, is_wanted = condition.field, _equal_to(condition.value)

    def test(before: Record, after: Record, record: Record, budget: Budget) -> bool:
        found = _read(after, name)
        return is_wanted(found, budget) and not equal(_read(before, name), found, budget)

    return test


def _changed_from(condition: FieldCondition) -> Test:
    name, is_wanted = condition.field, _equal_to(condition.value)

    def test(before: Record, after: Record, record: Record, budget: Budget) -> bool:
        found = _read(before, name)
        return is_wanted(found, budget) and not equal(found, _read(after, name), budget)

    return test


def _equals(condition: FieldCondition) -> Test:
    name, is_wanted = condition.field, _equal_to(condition.value)
    wanted = condition.operator is Operator.EQUALS
    return lambda before, after, record, budget: is_wanted(_read(record, name), budget) is wanted


def _one_of(condition: FieldCondition) -> Test:
    name, values, wanted = condition.field, condition.value, condition.operator is Operator.IN
    return lambda before, after, record, budget: contains(values, _read(record, name), budget) is wanted


def _contains(condition: FieldCondition) -> Test:
    name, value = condition.field, condition.value
    return lambda before, after, record, budget: contains(_read(record, name), value, budget)


def _starts_with(condition: FieldCondition) -> Test:
    name, value = condition.field, condition.value

    def test(before: Record, after: Record, record: Record, budget: Budget) -> bool:
        found = _read(record, name)
        if found is not None and not isinstance(found, str):
            raise EvaluationError(f"startsWith(): needs text, not {kind_of(found)}")
        return found is not None and found.startswith(value)

    return test


def _is_null(condition: FieldCondition) -> Test:
    name, wanted = condition.field, condition.operator is Operator.IS_NULL
    return lambda before, after, record, budget: (_read(record, name) is None) is wanted


def _compares(condition: FieldCondition) -> Test:
    name, value, sign = condition.field, condition.value, _SIGNS[condition.operator]
    order = ORDERS[sign]
    return lambda before, after, record, budget: ordered(sign, order, _read(record, name), value)


_COMPILE: Final[Mapping[Operator, Callable[[FieldCondition], Test]]] = {
    Operator.CHANGED: _changed,
    Operator.CHANGED_TO: _changed_to,
    Operator.CHANGED_FROM: _changed_from,
    Operator.EQUALS: _equals,
    Operator.NOT_EQUALS: _equals,
    Operator.IN: _one_of,
    Operator.NOT_IN: _one_of,
    Operator.CONTAINS: _contains,
    Operator.STARTS_WITH: _starts_with,
    Operator.IS_NULL: _is_null,
    Operator.IS_NOT_NULL: _is_null,
    **dict.fromkeys(_SIGNS, _compares),
}
