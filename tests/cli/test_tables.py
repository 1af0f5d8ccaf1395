"""Lists fit the terminal: what may give is cut or left out, ids never; off a terminal nothing is."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from detent.cli.main import _with_values
from detent.cli.options import read_labels, read_moment, read_seconds
from detent.cli.output import terminal as tables
from detent.cli.output.journal import lines_of
from detent.cli.output.terminal import Column, ago, local_and_ago, one_line, show_table
from detent.clock import SystemClock
from detent.errors import InvalidInput
from detent.instant import as_datetime

COLUMNS = (
    Column("run"),
    Column("workflow", may_shrink=True),
    Column("took", right=True),
    Column("error", may_shrink=True),
)
ID = "run_01m7h0cc29ekvs1bgyvj1nnhm6"
ROWS = [[ID, "order-processing-of-the-shop", "1 ms", "no money left"], [ID, "echo", "12.0 s", ""]]


def printed(monkeypatch: pytest.MonkeyPatch, width: int, *, terminal: bool = True) -> list[str]:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=width, color_system=None, soft_wrap=True)
    monkeypatch.setattr(tables, "out", console)
    show_table(COLUMNS, ROWS, nothing="none")
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [200, 100, 80, 60, 50])
def test_no_line_is_wider_than_the_terminal_and_ids_are_whole(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    title, *lines = printed(monkeypatch, width)
    assert title.startswith("run")
    assert max(map(len, (title, *lines))) <= width
    assert all(line.startswith(ID) for line in lines)


def test_what_gives_is_cut_before_it_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(monkeypatch, 66)[1] == f"{ID}  order-proc…    1 ms  no money left"
    assert "error" not in printed(monkeypatch, 50)[0]


def test_off_a_terminal_lines_are_whole_and_have_no_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(monkeypatch, 40, terminal=False) == [
        f"{ID}  order-processing-of-the-shop    1 ms  no money left",
        f"{ID}  echo                          12.0 s",
    ]


def test_how_far_away_a_time_is_is_said_shortly() -> None:
    now = as_datetime(SystemClock().wall())
    for seconds, said in ((0.2, "just now"), (7, "7 s ago"), (301, "5m ago"), (7300, "2h ago"), (-130, "in 2m")):
        assert ago((now - timedelta(seconds=seconds)).isoformat()) == said
    assert ago((now - timedelta(days=3)).isoformat()).startswith("20")
    assert ago((now + timedelta(hours=23, minutes=30, seconds=20)).isoformat()) == "in 23h 30m"
    assert local_and_ago((now + timedelta(hours=47, minutes=30)).isoformat()).endswith("(in 1d 23h)")
    assert local_and_ago((now - timedelta(days=3)).isoformat()).endswith("(3d ago)")


def test_times_are_instants_or_lengths_from_now() -> None:
    now = as_datetime(SystemClock().wall())
    assert abs(read_moment("1h", "--since", ago=True) - (now - timedelta(hours=1))) < timedelta(seconds=30)
    assert abs(read_moment("10m", "--at", ago=False) - (now + timedelta(minutes=10))) < timedelta(seconds=30)
    assert read_moment("2026-02-22T10:00:00+01:00", "--since", ago=True) == datetime(2026, 2, 22, 9, tzinfo=UTC)
    assert (read_seconds("1.5", "--wait"), read_seconds("2m", "--wait")) == (1.5, 120)
    for read in (lambda: read_moment("soon", "--at", ago=False), lambda: read_seconds("soon", "--wait")):
        with pytest.raises(InvalidInput, match="invalid option"):
            read()


def test_labels_are_written_either_way() -> None:
    assert read_labels(["team=shop", "region:eu", "url=a:b"]) == {"team": "shop", "region": "eu", "url": "a:b"}


def test_an_option_that_may_stand_alone_gets_the_value_it_then_means() -> None:
    bare = {"--wait": "forever"}
    assert _with_values(["echo", "--wait"], bare) == ["echo", "--wait=forever"]
    assert _with_values(["--wait", "echo"], bare) == ["--wait=forever", "echo"]
    assert _with_values(["echo", "--wait", "5"], bare) == ["echo", "--wait", "5"]


def test_what_comes_from_elsewhere_cannot_move_the_cursor() -> None:
    assert one_line("no\x1b[2J\n  money") == "no\ufffd[2J money"
    entry = dict.fromkeys(("result", "duration_ms", "retry_at", "by", "run_status")) | {
        "at": "2026-02-22T10:00:00Z", "kind": "ended", "step": "a", "attempt": 2, "status": "failed",
        "error": {"message": "no\x1b[2J money"}, "skipped": ["b"], "failed": {}, "sleep_until": {}, "wait_until": {},
    }  # fmt: skip
    first, second = lines_of(entry)
    assert (first.words, first.error) == ("failed in attempt 2", "no\ufffd[2J money")
    assert (second.step, second.words) == ("b", "skipped")
