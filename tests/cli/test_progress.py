"""What a person sees of a run: a tree on a terminal that fits it, one line per change elsewhere."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any

import pytest
from rich.console import Console

from detent.cli.output.progress import LineView, LiveView, detail, step_rows
from detent.cli.output.terminal import duration
from detent.graph.draw import outline
from detent.graph.model import Edge, Graph, Step, StepKind
from detent.instant import iso

NOW = 1_800_000_000_000_000
SECOND = 1_000_000


def step(status: str, **facts: Any) -> dict[str, Any]:
    return {
        "status": status,
        "type": "action",
        "attempts": [],
        "started_at": None if status == "pending" else iso(NOW - SECOND),
        "finished_at": None,
        "duration_ms": None,
        "error": None,
        **facts,
    }


def chain(count: int) -> Graph:
    names = [f"step-{number}" for number in range(count)]
    steps = tuple(Step(name, StepKind.ACTION, {"action": "core.echo"}) for name in names)
    return Graph(steps, tuple(Edge(a, b) for a, b in pairwise(names)))


def terminal(height: int = 20) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=100, height=height, color_system=None)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_terminal_shows_what_a_durable_function_asks_for_as_it_goes_on() -> None:
    console = terminal()
    view = LiveView(console, [("checkout", "")], lambda: NOW)
    view.show({"tasks": {"checkout": step("running")}})
    view.show({"tasks": {"checkout": step("waiting"), "@sleep": step("sleeping", until=iso(NOW + 2 * SECOND))}})
    view.close()
    assert "@sleep" in shown(console)
    assert "2.0 s left" in shown(console)


def test_a_terminal_shows_each_step_with_its_state_time_and_reason() -> None:
    console = terminal()
    view = LiveView(console, outline(chain(4)), lambda: NOW)
    view.show(
        {
            "tasks": {
                "step-0": step("success", duration_ms=45.0, finished_at=iso(NOW), status_code=201),
                "step-1": step("scheduled", attempt=3, next_at=iso(NOW + 2 * SECOND)),
                "step-2": step("failed", error={"message": "no\n  way"}),
                "step-3": step("scheduled", next_at=iso(NOW + 5 * SECOND)),
            }
        }
    )
    view.close()
    text = shown(console)
    assert "again in 5.0 s" not in text, "it was not begun before"
    for words in (
        "in 5.0 s",
        "✓ step-0  success",
        "45 ms",
        "201",
        "attempt 3, again in 2.0 s",
        "✗ step-2",
        "no way",
        "step-3",
    ):
        assert words in text


def test_a_graph_that_is_higher_than_the_terminal_shows_where_something_happens() -> None:
    console = terminal(height=20)
    view = LiveView(console, outline(chain(300)), lambda: NOW)
    steps = {f"step-{number}": step("success", duration_ms=1.0) for number in range(300)}
    view.show({"tasks": steps | {"step-250": step("running")}})
    view.close()
    text = shown(console)
    assert "step-250" in text
    assert "299 more steps, 299 of all have ended" in text
    assert text.count("step-") < 20


def test_elsewhere_a_line_is_written_for_each_change_and_only_then() -> None:
    console = Console(file=io.StringIO(), width=100)
    view = LineView(console, lambda: NOW)
    for status in ("pending", "running", "running", "success"):
        view.show({"tasks": {"a": step(status, duration_ms=3.0 if status == "success" else None)}})
    assert [line.split()[:2] for line in shown(console).splitlines()] == [["a", "running"], ["a", "success"]]


def test_names_and_messages_cannot_change_how_the_screen_looks() -> None:
    console = Console(file=io.StringIO(), width=100)
    LineView(console, lambda: NOW).show(
        {"tasks": {"a": step("failed", error={"message": "[red]x[/] [/bad] \x1b[2J\x9b2J"})}}
    )
    assert "[red]x[/] [/bad]" in shown(console)
    assert not {"\x1b", "\x9b"} & set(shown(console))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0004, "0 ms"),
        (0.25, "250 ms"),
        (0.9999, "1.0 s"),
        (59.96, "1m"),
        (90, "1m 30s"),
        (3600, "1h"),
        (90_061, "1d 1h"),
    ],
)
def test_a_length_of_time_is_said_shortly(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_a_step_that_sleeps_says_how_long_it_still_does() -> None:
    assert detail(step("sleeping", until=iso(NOW + 3 * SECOND)), NOW) == "3.0 s left"
    assert detail(step("waiting", until=iso(NOW + 3600 * SECOND)), NOW) == "at most 1h more"


LONG = "ValueError: " + "a long story " * 60
TASKS = {"welcome": step("success", duration_ms=2.0), "charge": step("scheduled", attempt=2, error={"message": LONG})}


def test_a_long_error_squeezes_neither_names_nor_statuses_on_a_terminal() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=40, height=20, color_system=None)
    view = LiveView(console, [(name, "") for name in TASKS], lambda: NOW)
    view.show({"tasks": TASKS})
    view.close()
    assert "✓ welcome  success" in shown(console)
    assert "◷ charge   scheduled" in shown(console)


def test_the_steps_of_a_run_that_is_shown_have_their_errors_whole_and_on_lines_of_their_own() -> None:
    rows = [row.plain for row in step_rows({"tasks": TASKS}, [(name, "") for name in TASKS], NOW, below=True)]
    assert rows == [
        "✓ welcome  success     2 ms",
        "◷ charge   scheduled  1.0 s  attempt 2",
        f"    {LONG.strip()}",
    ]
