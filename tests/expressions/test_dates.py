"""Dates: ISO texts in and out, zones, patterns, and what happens where a clock jumps."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.expressions import NOW, EvaluationError, compile_expression
from tests.expressions.scopes import value

QUICK = settings(max_examples=150, deadline=None, derandomize=True, database=None)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("date('2026-03-01')", "2026-03-01T00:00:00.000Z"),
        ("date('2026-03-01T09:30')", "2026-03-01T09:30:00.000Z"),
        ("date('2026-03-01 09:30:15')", "2026-03-01T09:30:15.000Z"),
        ("date('2026-03-01T09:30:15.5Z')", "2026-03-01T09:30:15.500Z"),
        ("date('2026-03-01t09:30:15,123456789z')", "2026-03-01T09:30:15.123Z"),
        ("date('2026-03-01T09:30:00+02:00')", "2026-03-01T07:30:00.000Z"),
        ("date('2026-03-01T09:30:00 -0530')", "2026-03-01T15:00:00.000Z"),
        ("date('2026-03-01T09:30:00+02')", "2026-03-01T07:30:00.000Z"),
        ("date(' 2026-03-01 ')", "2026-03-01T00:00:00.000Z"),
        ("date('2026-03-01T09:30', 'Europe/Zurich')", "2026-03-01T08:30:00.000Z"),
        ("date('2026-03-01T09:30Z', 'Europe/Zurich')", "2026-03-01T09:30:00.000Z"),
        ("date('2026-03-01', 'UTC')", "2026-03-01T00:00:00.000Z"),
        ("date('0001-01-01')", "0001-01-01T00:00:00.000Z"),
        ("date('9999-12-31T23:59:59.999Z')", "9999-12-31T23:59:59.999Z"),
        ("parse('2026-03-01')", "2026-03-01T00:00:00.000Z"),
        ("parse('01.03.2026 09:30', 'dd.MM.yyyy HH:mm')", "2026-03-01T09:30:00.000Z"),
        ("parse('1.3.2026', 'd.M.yyyy', 'Europe/Zurich')", "2026-02-28T23:00:00.000Z"),
        ("parse('Mar 1, 2026 at 9:05 pm', 'MMM d, yyyy [at] h:mm a')", "2026-03-01T21:05:00.000Z"),
        ("parse('12 am, 2026', 'h a, yyyy')", "2026-01-01T00:00:00.000Z"),
        ("parse('12 PM 2026', 'hh a yyyy')", "2026-01-01T12:00:00.000Z"),
        ("parse('Sunday 1 march 2026', 'EEEE d MMMM yyyy')", "2026-03-01T00:00:00.000Z"),
        ("parse('Sun 20260301T093015.250+0200', 'EEE yyyyMMdd[T]HHmmss.SSSZ')", "2026-03-01T07:30:15.250Z"),
        ("parse('2026 H5 m6 s7', 'yyyy [H]H [m]m [s]s')", "2026-01-01T05:06:07.000Z"),
        ("format('2026-03-01T09:05:07.042Z', 'yyyy-MM-dd HH:mm:ss.SSS')", "2026-03-01 09:05:07.042"),
        (
            "format('2026-03-01T21:05:07Z', 'yy M d H h hh m s a EEE EEEE MMM MMMM')",
            "26 3 1 21 9 09 5 7 PM Sun Sunday Mar March",
        ),
        ("format('2026-03-01T00:05:00Z', 'h a')", "12 AM"),
        ("format('2026-07-01T12:00:00Z', 'HH:mm Z', 'America/New_York')", "08:00 -04:00"),
        ("format('2026-07-01T12:00:00Z', 'HH:mm Z', 'Asia/Kolkata')", "17:30 +05:30"),
        ("format('2026-07-01', '[year] yyyy, é ☃ 100%')", "year 2026, é ☃ 100%"),
        ("addSeconds('1970-01-01', 1772400000.5)", "2026-03-01T21:20:00.500Z"),
        ("addMinutes('2026-03-01', -1)", "2026-02-28T23:59:00.000Z"),
        ("addHours('2026-03-01', 1.5)", "2026-03-01T01:30:00.000Z"),
        ("addDays('2026-02-28', 1)", "2026-03-01T00:00:00.000Z"),
        ("addDays('2026-03-28T12:00:00Z', 1, 'Europe/Zurich')", "2026-03-29T11:00:00.000Z"),
        ("addHours('2026-03-28T12:00:00Z', 24)", "2026-03-29T12:00:00.000Z"),
        ("addMonths('2026-01-31', 1)", "2026-02-28T00:00:00.000Z"),
        ("addMonths('2024-02-29', 12)", "2025-02-28T00:00:00.000Z"),
        ("addMonths('2026-03-31', -1)", "2026-02-28T00:00:00.000Z"),
        ("addMonths('2026-02-28T23:30:00Z', 1, 'Europe/Zurich')", "2026-03-31T22:30:00.000Z"),
        ("diff('2026-03-02', '2026-03-01')", 86_400_000),
        ("diff('2026-03-01', '2026-03-02', 'hours')", -24),
        ("diff('2026-03-02T23:59:59Z', '2026-03-01', 'day')", 1),
        ("diff('2026-03-01', '2026-03-02T23:59:59Z', 'days')", -1),
        ("diff('2026-03-15', '2026-03-01', 'weeks')", 2),
        ("diff('2026-02-28', '2026-01-31', 'months')", 1),
        ("diff('2026-02-27', '2026-01-31', 'months')", 0),
        ("diff('2024-02-29', '2026-02-28', 'years')", -2),
        ("diff('2026-12-31', '2026-01-01', 'quarters')", 3),
        ("diff('2026-01-01', '2026-01-01', 'years')", 0),
        ("startOf('2026-05-27T13:14:15.678Z', 'millisecond')", "2026-05-27T13:14:15.678Z"),
        ("startOf('2026-05-27T13:14:15.678Z', 'second')", "2026-05-27T13:14:15.000Z"),
        ("startOf('2026-05-27T13:14:15.678Z', 'minute')", "2026-05-27T13:14:00.000Z"),
        ("startOf('2026-05-27T13:14:15.678Z', 'hour', 'Asia/Kolkata')", "2026-05-27T12:30:00.000Z"),
        ("startOf('2026-05-27T13:14:15.678Z', 'day')", "2026-05-27T00:00:00.000Z"),
        ("startOf('2026-05-27T13:14:15.678Z', 'week')", "2026-05-25T00:00:00.000Z"),
        ("startOf('2026-05-27T13:14:15.678Z', 'month', 'Europe/Zurich')", "2026-04-30T22:00:00.000Z"),
        ("startOf('2026-05-27T13:14:15.678Z', 'quarter')", "2026-04-01T00:00:00.000Z"),
        ("startOf('2026-05-27T13:14:15.678Z', 'year')", "2026-01-01T00:00:00.000Z"),
        ("date('2026-01-01') < date('2026-01-01T00:00:00.001Z')", True),
        ("date(null) ?? 'none'", "none"),
        ("format(null, 'yyyy')", None),
        ("addDays(null, 1)", None),
        ("now()", "2026-03-01T21:20:00.123Z"),
        ("now().addDays(1).format('EEEE')", "Monday"),
    ],
)
def test_a_date_function_returns_this(source: str, expected: object) -> None:
    assert value(source, {NOW: 1_772_400_000_123_456}) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # Zurich puts its clocks forward at 02:00 of March 29, and back at 03:00 of October 25.
        ("date('2026-03-29T02:30', 'Europe/Zurich').format('HH:mm Z', 'Europe/Zurich')", "03:30 +02:00"),
        ("date('2026-10-25T02:30', 'Europe/Zurich').format('HH:mm Z', 'Europe/Zurich')", "02:30 +02:00"),
        ("addDays('2026-03-28T01:30:00Z', 1, 'Europe/Zurich')", "2026-03-29T01:30:00.000Z"),
        ("startOf('2026-10-25T01:45:00Z', 'hour', 'Europe/Zurich')", "2026-10-25T01:00:00.000Z"),
        ("startOf('2026-10-25T00:45:00Z', 'hour', 'Europe/Zurich')", "2026-10-25T00:00:00.000Z"),
        # In Beirut the clock jumps from midnight to 01:00 on March 29: the day begins at 01:00.
        ("startOf('2026-03-29T12:00:00Z', 'day', 'Asia/Beirut').format('HH:mm Z', 'Asia/Beirut')", "01:00 +03:00"),
        ("startOf('2026-03-29T12:00:00Z', 'day', 'Asia/Beirut')", "2026-03-28T22:00:00.000Z"),
    ],
)
def test_a_clock_that_jumps_has_one_reading(source: str, expected: str) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("date('tomorrow')", "date(): needs a date such as '2026-03-01T09:30:00Z', not 'tomorrow'"),
        ("date(5)", "needs a date such as '2026-03-01T09:30:00Z', not a number"),
        ("date('2026-13-01')", "'2026-13-01' is not a date: month must be in 1..12"),
        ("date('2026-02-29')", "'2026-02-29' is not a date: day is out of range for month"),
        ("date('0000-01-01')", "is not a date"),
        ("date('2026-01-01T24:00')", "is not a date"),
        ("date('2026-01-01T00:00:60Z')", "is not a date"),
        ("date('2026-01-01T00:00:00+24:00')", "there is no offset '+24:00'"),
        ("date('2026-01-01T00:00:00+01:60')", "there is no offset '+01:60'"),
        ("date('2026-W01-1')", "needs a date"),
        (
            "date('1' + '0'.replace('0', '000000000000000000000000000000000000000000000000000000000000000000'))",
            "needs a date",
        ),
        ("date('0001-01-01T00:00:00+05:00')", "the date is outside of the years 1 to 9999"),
        (
            "date('2026-01-01', 'Mars/Olympus')",
            "there is no time zone 'Mars/Olympus'; write for example 'Europe/Zurich'",
        ),
        ("date('2026-01-01', '../../etc/passwd')", "there is no time zone"),
        ("date('2026-01-01', '')", "there is no time zone ''"),
        ("date('2026-01-01', 'America')", "there is no time zone 'America'"),
        ("date('2026-01-01', long)", "there is no time zone 'xxxx"),
        ("date('2026-01-01', 1)", "needs text, not a number"),
        ("format('2026-01-01', 'YYYY-MM-DD')", "the pattern has unknown letters 'YYYY'; write yyyy-MM-dd"),
        ("format('2026-01-01', 'yyyyy')", "the pattern has unknown letters 'yyyyy'; there is yyyy yy MMMM"),
        ("format('2026-01-01', '[at')", "'[' is not closed in the pattern"),
        ("format('2026-01-01', long)", "the pattern is longer than 100 characters"),
        ("format('2026-01-01', 5)", "needs text, not a number"),
        ("format('9999-12-31T23:00:00Z', 'yyyy', 'Asia/Tokyo')", "outside of the years"),
        ("parse('2026', 'MM')", "'2026' goes on after the pattern at character 3"),
        ("parse('01', 'MM')", "the pattern needs yyyy to be parsed"),
        ("parse('x', 'yyyy')", "'x' has no yyyy (year) at character 1"),
        ("parse('2026-x', 'yyyy-MM')", "has no MM (month) at character 6"),
        ("parse('2026 x', 'yyyy hh')", "has no hh (hour) at character 6"),
        ("parse('2026/01', 'yyyy-MM')", "has no '-' at character 5"),
        ("parse('2026 Foo', 'yyyy MMM')", "has no MMM (such as Jan) at character 6"),
        ("parse('2026 xx', 'yyyy a')", "has no a (such as AM) at character 6"),
        ("parse('2026 x', 'yyyy Z')", "has no offset (Z or +01:00) at character 6"),
        ("parse('2026 13', 'yyyy h')", "hour must be in 1..12"),
        ("parse('2026 13', 'yyyy MM')", "is not a date"),
        ("parse('26', 'yy')", "'yy' can be written but not parsed; use yyyy"),
        ("parse(long, 'yyyy')", "the text is longer than 200 characters"),
        ("addDays('9999-12-31', 1)", "outside of the years"),
        ("addDays('2026-01-01', 9223372036854775807)", "outside of the years"),
        ("addDays('2026-01-01', 9000000000, 'Asia/Tokyo')", "outside of the years"),
        ("addMonths('2026-01-01', 9223372036854775807)", "outside of the years"),
        ("addMonths('2026-01-01', 0.5)", "needs a whole number"),
        ("addDays('2026-01-01', 'x')", "needs a number, not text"),
        ("diff('2026-01-01', '2026-01-02', 'eons')", "there is no unit 'eons'; there is millisecond"),
        ("startOf('0001-01-01', 'week', 'America/New_York')", "outside of the years"),
        ("startOf('0001-01-01', 'day', 'Asia/Tokyo')", "outside of the years"),
        ("now()", "now() is not known here"),
    ],
)
def test_an_error_of_a_date_says_what_is_wrong(source: str, words: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        compile_expression(source).evaluate({"long": "x" * 300})
    assert words in raised.value.message
    assert raised.value.position == 0


instants = st.integers(-2_000_000_000_000, 7_000_000_000_000).map(
    lambda millis: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)
)
zones = st.sampled_from(
    ["UTC", "Europe/Zurich", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Asia/Beirut"]
)


@QUICK
@given(date=instants, zone=zones)
def test_a_date_survives_its_own_texts(date: datetime, zone: str) -> None:
    scope = {"d": date.isoformat(), "zone": zone}
    canonical = value("date(d)", scope)
    assert value("date(date(d))", scope) == canonical
    local = date.astimezone(ZoneInfo(zone)).isoformat()
    if (date.astimezone(ZoneInfo(zone)).utcoffset() or timedelta(0)).seconds % 60 == 0:
        assert value("date(d)", {"d": local}) == canonical
        written = "format(d, 'yyyy-MM-dd HH:mm:ss.SSS Z', zone).parse('yyyy-MM-dd HH:mm:ss.SSS Z')"
        assert value(written, scope) == canonical


@QUICK
@given(first=instants, second=instants)
def test_dates_compare_as_texts(first: datetime, second: datetime) -> None:
    scope = {"a": first.isoformat(), "b": second.isoformat()}
    assert value("date(a) < date(b)", scope) is (first < second)
    assert value("diff(a, b)", scope) == -int(str(value("diff(b, a)", scope)))
    assert value("addSeconds(b, diff(a, b) / 1000)", scope) == value("date(a)", scope)


@QUICK
@given(date=instants, zone=zones, unit=st.sampled_from(["minute", "hour", "day", "week", "month", "quarter", "year"]))
def test_a_start_is_not_after_its_date_and_is_its_own_start(date: datetime, zone: str, unit: str) -> None:
    scope = {"d": date.isoformat(), "zone": zone, "unit": unit}
    assert value("startOf(d, unit, zone) <= date(d)", scope) is True
    assert value("startOf(startOf(d, unit, zone), unit, zone) == startOf(d, unit, zone)", scope) is True
