"""Whether a firing starts anything."""

from __future__ import annotations

from typing import Any

import pytest

from detent.expressions import ExpressionError
from detent.forms.compiled import TriggerType
from detent.forms.triggers import read_condition
from detent.triggers.receiver import listened
from detent.triggers.record import Facts, evaluate
from detent.values.fields import Fields, Problems

FACTS = Facts(
    body={"total": 12, "items": [{"sku": "a"}], "note": None},
    headers={"X-Source": "shop"},
    query={"dry": "1"},
    scheduled_at=1_767_225_600_000_000,
    event={"type": "order.paid", "data": {"total": 12}, "id": "evt_1"},
)


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        (None, True),
        ("true", True),
        ("body.total > 10", True),
        ("body.total > 12", False),
        ("trigger.body.items[0].sku == 'a'", True),
        ("trigger.body == body", True),
        ("headers['x-source'] == 'shop'", True),
        ("trigger.headers['X-SOURCE'] == 'shop'", True),
        ("query.dry == '1' && trigger.query.dry == '1'", True),
        ("trigger.scheduled_at == '2026-01-01T00:00:00Z'", True),
        ("event.type == 'order.paid' && event.data.total == 12 && event.id == 'evt_1'", True),
        ("body.note", False),
        ("body.note.text == 'x'", False),
        ("body.missing ?? false", False),
    ],
)
def test_a_condition_reads_what_came(text: str | None, passes: bool) -> None:
    assert evaluate(text, FACTS) is passes


def test_what_did_not_come_is_null() -> None:
    assert evaluate("body == null && event == null && trigger.scheduled_at == null && event.type == null", Facts())


@pytest.mark.parametrize("text", ["body.missing", "headers.nope == 1", "body.total > 'x'", "nothing.a", "1 +", "1 / 0"])
def test_a_condition_that_cannot_be_said_is_an_error(text: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(text, FACTS)


def test_a_condition_changes_nothing_of_what_came() -> None:
    body: dict[str, Any] = {"a": [1, {"b": 2}]}
    evaluate("body.a[1].b == 2 && body == {a: [1, {b: 2}]}", Facts(body=body))
    assert body == {"a": [1, {"b": 2}]}


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("body.a == 1", TriggerType.WEBHOOK, None),
        (None, TriggerType.WEBHOOK, None),
        ("event.type == 'x'", TriggerType.EVENT, None),
        ("event.type == 'x'", TriggerType.WEBHOOK, "only an event trigger has an event"),
        ("event.typ == 'x'", TriggerType.EVENT, "event has no 'typ'; did you mean 'type'?"),
        ("boddy.a", TriggerType.API, "unknown name 'boddy'; did you mean 'body'?"),
        ("a ==", TriggerType.API, "(at character"),
        (5, TriggerType.API, "must be a condition"),
        ("x" * 5000, TriggerType.API, "longer than 4096"),
    ],
)
def test_a_condition_is_checked_before_it_is_kept(text: object, kind: TriggerType, message: str | None) -> None:
    problems = Problems()
    read_condition(Fields({"condition": text}, "trigger", problems), "condition", kind)
    found = problems.found
    assert [problem.field for problem in found] == ["trigger.condition"] * (message is not None)
    assert all(message is not None and message in problem.message for problem in found)


@pytest.mark.parametrize(
    ("pattern", "heard", "not_heard"),
    [
        ("order.paid", ["order.paid"], ["order.paid.twice", "order", "Order.paid"]),
        ("order.*", ["order.paid", "order.item.added"], ["order", "orders.paid", "x.order.paid"]),
        ("*", ["order", "order.paid"], []),
    ],
)
def test_an_event_is_heard_by_its_type_by_its_prefixes_and_by_all(
    pattern: str, heard: list[str], not_heard: list[str]
) -> None:
    assert all(pattern in listened(one) for one in heard)
    assert not any(pattern in listened(one) for one in not_heard)


def test_a_condition_may_read_when_its_firing_was_received() -> None:
    facts = Facts({"due": "2026-03-01"}, at=1_772_400_000_000_000, firing=b"f")
    assert evaluate("now() > body.due", facts)
    assert evaluate("uuid() == uuid() || uuid().length == 36", facts)
    with pytest.raises(ExpressionError, match=r"now\(\) is not known here"):
        evaluate("now() > body.due", Facts({"due": "2026-03-01"}))
