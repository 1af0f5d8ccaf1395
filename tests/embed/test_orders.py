"""What a start asks for is looked at before anything is touched."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from detent.embed.request import build_start
from detent.errors import InvalidInput
from detent.instant import SECOND

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a request id that is a number": ({"request_id": 5}, "request_id: must be a text, not int"),
    "an empty request id": ({"request_id": ""}, "request_id: must have 1 to 255 characters"),
    "a long request id": ({"request_id": "x" * 256}, "request_id: must have 1 to 255 characters"),
    "a time that is no time": ({"start_at": "nonsense"}, "start_at: 'nonsense' is not a time"),
    "a time that is a number": ({"start_at": 5}, "start_at: 5 is not a time"),
    "a time that is a day": ({"start_at": date(2030, 1, 1)}, "is not a time"),
    "a time without a zone": ({"start_at": datetime(2030, 1, 1)}, "has no time zone"),  # noqa: DTZ001 - on purpose
    "a text without a zone": ({"start_at": "2030-01-01T00:00:00"}, "has no time zone"),
    "a delay below zero": ({"delay": timedelta(seconds=-1)}, "cannot be negative"),
    "a delay without end": ({"delay": timedelta.max}, "must be at most 3650d"),
    "a delay that is no number": ({"delay": object()}, "a duration is a number or a text"),
    "labels that are a list": ({"labels": ["a"]}, "labels: must be a mapping of names to texts"),
    "labels that are a number": ({"labels": 5}, "labels: must be a mapping of names to texts"),
    "a label that is a number": ({"labels": {"a": 5}}, "labels.a: must be a text, not int"),
    "a label whose name has a colon": ({"labels": {"a:b": "c"}}, "labels.a:b: the name of a label has no colon"),
    "a hero of no type": ({"hero": ("", 7)}, "cannot be the type of a hero"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_asked_for_is_told_in_plain_words(what: str) -> None:
    given, told = WRONG[what]
    with pytest.raises(InvalidInput) as refused:
        build_start("greeting", (), {}, **given)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    "when", ["1970-01-02T00:00:00Z", "1970-01-02T01:00:00+01:00", datetime(1970, 1, 2, tzinfo=UTC)]
)
def test_a_time_is_an_instant_however_it_is_written(when: Any) -> None:
    assert build_start("greeting", (), {}, start_at=when).start_at == 86_400 * SECOND


def test_a_delay_is_a_span_however_it_is_written() -> None:
    found = [build_start("greeting", (), {}, delay=delay).delay for delay in (90, 90.0, "1m30s", timedelta(seconds=90))]
    assert found == [90.0] * 4
