"""When a schedule is due: to the second, over every jump of the clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import example, given, settings
from hypothesis import strategies as st

from detent.forms.schedule import MOST_SLOTS, Between, Missed, jittered, missed, next_slots, slots_between
from detent.instant import SECOND, Instant, iso

MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
ZURICH, NEW_YORK, LORD_HOWE = "Europe/Zurich", "America/New_York", "Australia/Lord_Howe"
ZONES = (ZURICH, NEW_YORK, LORD_HOWE, "UTC", "Africa/Cairo", "Asia/Kathmandu", "America/Santiago")


def at(text: str) -> Instant:
    """`2026-03-29 01:00` or `2026-03-29 01:00:30`, UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND


def upcoming(cron: str, zone: str, after: str, count: int) -> list[str]:
    return [iso(slot)[:16].replace("T", " ") for slot in next_slots(cron, zone, at(after), count)]


# The clocks go forward: 02:00 -> 03:00 in Zurich at 01:00 UTC and in New York at 07:00 UTC; 02:00 -> 02:30 on Lord
# Howe Island at 15:30 UTC of the day before.
GAPS = [
    ("30 2 * * *", ZURICH, "2026-03-28 12:00", ["2026-03-29 01:00", "2026-03-30 00:30"]),
    ("30 2 * * *", NEW_YORK, "2026-03-07 12:00", ["2026-03-08 07:00", "2026-03-09 06:30"]),
    ("15 2 * * *", LORD_HOWE, "2026-10-03 00:00", ["2026-10-03 15:30", "2026-10-04 15:15"]),
    ("0,15,30 2 * * *", ZURICH, "2026-03-28 12:00", ["2026-03-29 01:00", "2026-03-30 00:00"]),
    ("0 2,3 * * *", ZURICH, "2026-03-28 12:00", ["2026-03-29 01:00", "2026-03-30 00:00"]),
    ("0 2,3 * * *", NEW_YORK, "2026-03-07 12:00", ["2026-03-08 07:00", "2026-03-09 06:00"]),
    ("0 2,3 * * *", LORD_HOWE, "2026-10-03 00:00", ["2026-10-03 15:30", "2026-10-03 16:00", "2026-10-04 15:00"]),
    ("0 30 2 * * *", ZURICH, "2026-03-28 12:00", ["2026-03-29 01:00", "2026-03-30 00:30"]),
    ("0 * * * *", ZURICH, "2026-03-28 23:30", ["2026-03-29 00:00", "2026-03-29 01:00", "2026-03-29 02:00"]),
    ("0 * * * *", NEW_YORK, "2026-03-08 05:30", ["2026-03-08 06:00", "2026-03-08 07:00", "2026-03-08 08:00"]),
    ("0 * * * *", LORD_HOWE, "2026-10-03 14:00", ["2026-10-03 14:30", "2026-10-03 16:00", "2026-10-03 17:00"]),
    ("*/20 * * * *", LORD_HOWE, "2026-10-03 15:00", ["2026-10-03 15:10", "2026-10-03 15:40", "2026-10-03 16:00"]),
    ("*/30 2 * * *", ZURICH, "2026-03-28 12:00", ["2026-03-30 00:00", "2026-03-30 00:30"]),
    ("*/30 2 * * *", NEW_YORK, "2026-03-07 12:00", ["2026-03-09 06:00", "2026-03-09 06:30"]),
    ("*/30 2 * * *", LORD_HOWE, "2026-10-03 00:00", ["2026-10-03 15:30", "2026-10-04 15:00"]),
    ("*/30 3 * * *", LORD_HOWE, "2026-10-03 00:00", ["2026-10-03 16:00", "2026-10-03 16:30", "2026-10-04 16:00"]),
    ("30 0 * * *", "Africa/Cairo", "2026-04-23 12:00", ["2026-04-23 22:00", "2026-04-24 21:30"]),
]

# The clocks go back: 03:00 -> 02:00 in Zurich at 01:00 UTC, 02:00 -> 01:00 in New York at 06:00 UTC; 02:00 -> 01:30 on
# Lord Howe Island at 15:00 UTC of the day before.
OVERLAPS = [
    ("30 2 * * *", ZURICH, "2026-10-24 12:00", ["2026-10-25 00:30", "2026-10-26 01:30"]),
    ("30 1 * * *", NEW_YORK, "2026-10-31 12:00", ["2026-11-01 05:30", "2026-11-02 06:30"]),
    ("45 1 * * *", LORD_HOWE, "2026-04-04 00:00", ["2026-04-04 14:45", "2026-04-05 15:15"]),
    ("0 30 2 * * *", ZURICH, "2026-10-24 12:00", ["2026-10-25 00:30", "2026-10-26 01:30"]),
    ("30 2 * * *", ZURICH, "2026-10-25 00:45", ["2026-10-26 01:30"]),
    ("30 2 * * *", ZURICH, "2026-10-25 01:15", ["2026-10-26 01:30"]),
    ("45 1 * * *", LORD_HOWE, "2026-04-04 15:05", ["2026-04-05 15:15"]),
    ("0 * * * *", ZURICH, "2026-10-24 23:30", ["2026-10-25 00:00", "2026-10-25 01:00", "2026-10-25 02:00"]),
    ("0 * * * *", NEW_YORK, "2026-11-01 04:30", ["2026-11-01 05:00", "2026-11-01 06:00", "2026-11-01 07:00"]),
    ("0 * * * *", LORD_HOWE, "2026-04-04 13:30", ["2026-04-04 14:00", "2026-04-04 15:30", "2026-04-04 16:30"]),
    (
        "*/30 1 * * *",
        LORD_HOWE,
        "2026-04-04 13:30",
        ["2026-04-04 14:00", "2026-04-04 14:30", "2026-04-04 15:00", "2026-04-05 14:30"],
    ),
    ("*/15 2 * * *", LORD_HOWE, "2026-04-04 15:10", ["2026-04-04 15:30", "2026-04-04 15:45", "2026-04-04 16:00"]),
    (
        "*/30 2 * * *",
        ZURICH,
        "2026-10-24 12:00",
        ["2026-10-25 00:00", "2026-10-25 00:30", "2026-10-25 01:00", "2026-10-25 01:30", "2026-10-26 01:00"],
    ),
    (
        "*/30 1 * * *",
        NEW_YORK,
        "2026-10-31 12:00",
        ["2026-11-01 05:00", "2026-11-01 05:30", "2026-11-01 06:00", "2026-11-01 06:30", "2026-11-02 06:00"],
    ),
    ("*/30 2 * * *", ZURICH, "2026-10-25 00:30", ["2026-10-25 01:00", "2026-10-25 01:30", "2026-10-26 01:00"]),
    ("*/30 2 * 10 7L", ZURICH, "2026-10-25 01:00", ["2026-10-25 01:30", "2027-10-31 00:00", "2027-10-31 00:30"]),
]


@pytest.mark.case("C8")
@pytest.mark.parametrize(("cron", "zone", "after", "slots"), GAPS + OVERLAPS)
def test_a_schedule_is_due_as_its_rule_says_when_the_clock_jumps(
    cron: str, zone: str, after: str, slots: list[str]
) -> None:
    assert upcoming(cron, zone, after, len(slots)) == slots


@pytest.mark.parametrize(("cron", "zone", "after", "slots"), GAPS + OVERLAPS)
def test_looking_back_finds_the_same_slots(cron: str, zone: str, after: str, slots: list[str]) -> None:
    found = slots_between(cron, zone, at(after), at(slots[-1]))
    assert [iso(slot)[:16].replace("T", " ") for slot in found.slots] == slots
    assert not found.more


FIXED = ["30 2 * * *", "0 0 * * 1", "15,45 1-3 * * *", "0 12 29 2 *", "5 4 * * 0", "59 23 L * *", "0 30 2 * * *"]
BY_REAL_TIME = ["0 * * * *", "*/7 * * * *", "*/20 1 * * *", "* 0 * * *", "30 */2 * * *", "*/10 2-3 * 3,10 *"]
instants = st.integers(at("1990-01-01 00:00"), at("2045-01-01 00:00"))
around_jumps = st.builds(
    lambda jump, off: at(jump) + off,
    st.sampled_from(["2026-03-29 01:00", "2026-10-25 01:00", "2026-03-08 07:00", "2026-11-01 06:00"])
    | st.sampled_from(["2026-10-03 15:30", "2026-04-04 15:00", "2026-04-23 22:00", "2026-10-29 21:00"]),
    st.integers(-5 * HOUR, 3 * HOUR),
)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(BY_REAL_TIME), st.sampled_from(ZONES), instants | around_jumps)
@example("*/20 1 * * *", LORD_HOWE, at("2026-04-04 14:59"))
def test_a_schedule_by_real_time_is_due_whenever_the_clock_shows_its_time(cron: str, zone: str, after: Instant) -> None:
    """Every minute of six hours, asked one by one."""
    times = CronSim(cron, datetime(2000, 1, 1))  # noqa: DTZ001 - a wall has no zone
    first = after // MINUTE * MINUTE + MINUTE
    shown = [first + number * MINUTE for number in range(360)]
    due = []
    for instant in shown:
        wall = datetime.fromtimestamp(instant // SECOND, ZoneInfo(zone))
        days = times.match_day(wall.date()) and wall.month in times.months
        if days and wall.hour in times.hours and wall.minute in times.minutes:
            due.append(instant)
    assert slots_between(cron, zone, after, shown[-1]) == Between(due, False)
    assert next_slots(cron, zone, after, len(due)) == due


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(FIXED), st.sampled_from([ZURICH, NEW_YORK, "UTC", "Africa/Cairo"]), instants)
def test_a_schedule_with_fixed_times_is_due_when_cronsim_says(cron: str, zone: str, after: Instant) -> None:
    # The second time of day is left out: there cronsim would go back to the first.
    start = datetime.fromtimestamp(after // SECOND, ZoneInfo(zone)).replace(hour=12, fold=0)
    five = " ".join(cron.split()[-5:])
    simulated = CronSim(five, start)
    expected = [int(next(simulated).timestamp()) * SECOND for _ in range(5)]
    assert next_slots(cron, zone, int(start.timestamp()) * SECOND, 5) == expected


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(FIXED + BY_REAL_TIME), st.sampled_from(ZONES), instants | around_jumps)
def test_every_slot_follows_the_one_before_wherever_one_begins(cron: str, zone: str, after: Instant) -> None:
    slots = next_slots(cron, zone, after, 6)
    assert slots == sorted(set(slots))
    assert slots[0] > after
    for before, slot in zip([after, *slots], slots, strict=False):
        assert next_slots(cron, zone, before) == [slot]
        assert next_slots(cron, zone, slot - 1) == [slot]
        assert slots_between(cron, zone, before, slot) == Between([slot], False)


def test_no_slot_is_found_where_there_is_none() -> None:
    assert slots_between("0 0 * * *", "UTC", at("2026-01-01 00:00"), at("2026-01-01 23:59")) == Between([], False)
    assert slots_between("0 0 * * *", "UTC", at("2026-01-02 00:00"), at("2026-01-01 00:00")) == Between([], False)


def test_the_newest_slots_are_kept_when_there_are_too_many() -> None:
    found = slots_between("* * * * *", "UTC", at("2026-01-01 00:00"), at("2026-01-01 01:00"), most=3)
    assert found == Between([at("2026-01-01 00:58"), at("2026-01-01 00:59"), at("2026-01-01 01:00")], True)
    whole = slots_between("* * * * *", "UTC", at("2026-01-01 00:00"), at("2026-01-01 00:03"), most=3)
    assert whole == Between([at("2026-01-01 00:01"), at("2026-01-01 00:02"), at("2026-01-01 00:03")], False)


LONG = [
    ("0 0 29 2 *", "2096-03-01 00:00", ["2104-02-29 00:00"]),
    ("0 0 1 1 *", "9998-06-01 00:00", ["9999-01-01 00:00"]),
    ("0 0 1 1 *", "9999-06-01 00:00", []),
    ("* * * * *", "9999-12-31 23:59", []),
]


@pytest.mark.parametrize(("cron", "after", "slots"), LONG)
def test_a_slot_far_away_is_found_or_there_is_none(cron: str, after: str, slots: list[str]) -> None:
    assert upcoming(cron, "UTC", after, 1) == slots


@pytest.mark.parametrize(("cron", "last"), [("* */5 2 * 3 7L", "01:55:59"), ("*/5 2 * 3 7L", "01:55:00")])
def test_a_schedule_that_names_only_times_the_clock_jumps_over_ends(cron: str, last: str) -> None:
    assert next_slots(cron, ZURICH, at("2026-01-01 00:00"), 5) == []
    # Zurich has jumped over them since 1981.
    assert slots_between(cron, ZURICH, 0, at("2026-01-01 00:00")).slots[-1] == at(f"1980-03-30 {last}")


@pytest.mark.parametrize("instant", [2**62, -(2**62), at("9999-12-31 23:59:59"), at("0001-01-01 00:00")])
@pytest.mark.parametrize("zone", [ZURICH, "UTC", LORD_HOWE])
def test_an_instant_beyond_the_calendar_is_no_error(instant: Instant, zone: str) -> None:
    assert len(next_slots("* * * * *", zone, instant, 3)) <= 3
    assert len(slots_between("* * * * *", zone, instant - 10 * MINUTE, instant).slots) <= 11


def test_a_year_of_seconds_is_asked_for_in_time() -> None:
    found = slots_between("* * * * * *", ZURICH, at("2025-06-01 00:00"), at("2026-06-01 00:00"))
    assert (len(found.slots), found.more) == (MOST_SLOTS, True)
    assert len(next_slots("* * * * *", ZURICH, 0, 10**9)) == MOST_SLOTS


NOW = at("2026-01-01 12:00:02")
HOURS = [at(f"2026-01-01 {hour:02}:00") for hour in range(6, 13)]


@pytest.mark.parametrize(
    ("policy", "slots", "window", "to_start"),
    [
        (Missed.LAST, HOURS, 86400, HOURS[-1:]),
        (Missed.LAST, HOURS[:-1], 86400, [HOURS[-2]]),
        (Missed.LAST, HOURS[:-1], 1800, []),
        (Missed.ALL, HOURS, 86400, HOURS),
        (Missed.ALL, HOURS[:-1], 86400, HOURS[:-1]),
        (Missed.ALL, HOURS, 3 * 3600 + 2, HOURS[-4:]),
        (Missed.ALL, HOURS, 3 * 3600 + 1, HOURS[-3:]),
        (Missed.ALL, HOURS, 1, HOURS[-1:]),
        (Missed.NONE, HOURS, 86400, HOURS[-1:]),
        (Missed.NONE, HOURS[:-1], 86400, []),
        (Missed.ALL, [], 86400, []),
        (Missed.LAST, [], 86400, []),
    ],
)
def test_missed_slots_are_caught_up_as_the_policy_says(
    policy: Missed, slots: list[Instant], window: float, to_start: list[Instant]
) -> None:
    assert missed(policy, slots, NOW, window, grace=10) == (to_start, len(slots) - len(to_start))


@pytest.mark.parametrize("policy", Missed)
def test_every_slot_that_is_on_time_starts(policy: Missed) -> None:
    slots = [NOW - seconds * SECOND for seconds in (4, 3, 2, 1, 0)]
    late = slots[:1] if policy is Missed.ALL else []
    assert missed(policy, slots, NOW, 86400, grace=3).to_start == late + slots[1:]


def test_jitter_is_the_same_each_time_and_spreads() -> None:
    slot = at("2026-01-01 00:00")
    late = [jittered(bytes([number]) * 16, slot, 60) - slot for number in range(200)]
    assert late == [jittered(bytes([number]) * 16, slot, 60) - slot for number in range(200)]
    assert all(0 <= one < 60 * SECOND for one in late)
    assert min(late) < 5 * SECOND
    assert max(late) > 55 * SECOND
    assert len(set(late)) == 200


def test_jitter_differs_from_slot_to_slot() -> None:
    slots = [at("2026-01-01 00:00") + day * DAY for day in range(50)]
    assert len({jittered(b"x" * 16, slot, 60) - slot for slot in slots}) == 50


@pytest.mark.parametrize("jitter", [0, -1])
def test_without_jitter_a_slot_is_itself(jitter: float) -> None:
    assert jittered(b"x" * 16, 5, jitter) == 5


def test_jitter_never_reaches_its_length() -> None:
    assert all(jittered(bytes([n]) * 16, -5, 0.000001) == -5 for n in range(50))


def test_an_unknown_zone_is_an_error() -> None:
    with pytest.raises(KeyError):
        next_slots("* * * * *", "Europe/Atlantis", 0)


def test_a_slot_is_a_whole_second_whenever_one_asks() -> None:
    after = at("2026-01-01 00:00") + 1
    assert next_slots("* * * * * *", "UTC", after) == [at("2026-01-01 00:00:01")]
    assert slots_between("* * * * * *", "UTC", after - 2, after).slots == [at("2026-01-01 00:00")]
    assert timedelta(microseconds=next_slots("0 0 * * *", ZURICH, after)[0]).microseconds == 0


def test_an_interval_is_due_at_its_multiples_whatever_the_zone_and_the_direction() -> None:
    noon = at("2026-03-29 12:00")
    for zone in ZONES:
        assert next_slots("@every 1h30m", zone, noon, 3) == [noon + 90 * MINUTE * n for n in (1, 2, 3)]
        assert next_slots("@every 1h30m", zone, noon - 1, 1) == [noon]
        found = slots_between("@every 1h30m", zone, noon - 4 * HOUR, noon + HOUR)
        assert found == Between([noon - 180 * MINUTE, noon - 90 * MINUTE, noon], False)
    newest = slots_between("@every 1s", "UTC", 0, noon, 3)
    assert newest == Between([noon - 2 * SECOND, noon - SECOND, noon], True)
