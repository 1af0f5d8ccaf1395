"""Rehearsals and moves on the command line: what a file would do, a publish that looks first, runs that move."""

from __future__ import annotations

import re
import time
from io import StringIO

import pytest
from rich.console import Console

from detent.cli.commands.files import rehearse
from detent.client import Client
from tests.cli.program import PATIENCE
from tests.cli.served import WAIT, Served

pytestmark = pytest.mark.slow

MORE = WAIT + "  note: {action: core.echo}\n"
LESS = "name: approval\ntasks:\n  ship: {action: core.echo, with: {x: '{{trigger.body.missing}}'}}\n"


@pytest.fixture(scope="module")
def waiting(served: Served) -> list[str]:
    """Two runs that wait for their callback."""
    runs = [served.tells("trigger", "approval", "--label", "batch=moves")["run_id"] for _ in range(2)]
    until = time.monotonic() + PATIENCE
    while any(served.tells("runs", "show", run)["tasks"]["ask"]["status"] != "waiting" for run in runs):
        assert time.monotonic() < until
    for name, text in (("more", MORE), ("less", LESS)):
        (served.folder / f"{name}.yaml").write_text(text)
    return runs


def test_a_file_is_rehearsed_over_recorded_runs(served: Served, waiting: list[str]) -> None:
    said = served.says("rehearse", "more.yaml")
    assert said.startswith("approval, as version 2: 2 runs rehearsed, 0 finished and 2 in flight\n")
    assert "same path 2   another path 0   would fail 0\n" in said
    assert "2 in flight: same path, new: note" in said
    assert "2 of 2 runs in flight can be moved\n     2 can move  version 1 at ask, begins note\n" in said
    said = served.says("rehearse", "less.yaml", "--days", "1")
    assert "same path 0   another path 0   would fail 2\n" in said
    assert "ship fails: " in said
    assert "'ask' is waiting for its callback, and version 2 has no step of that name" in said
    assert served.tells("rehearse", "less.yaml")["failing"] == 2


def test_the_progress_of_a_rehearsal_is_shown_on_a_terminal_only(
    served: Served, waiting: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    with Client(served.url) as client:
        for is_terminal in (True, False):
            shown = StringIO()
            console = Console(file=shown, force_terminal=is_terminal, force_interactive=is_terminal, width=80)
            monkeypatch.setattr(rehearse, "err", console)
            with rehearse.show_progress() as progress:
                client.workflows.rehearse(served.folder / "more.yaml", progress=progress)
            texts.append(shown.getvalue())
    # A slow reader gets the latest progress only, so it may be that of any stage.
    assert re.search(r"(be moved|in flight|finished runs): \d of \d", texts[0])
    assert texts[1] == ""


def test_a_publish_rehearses_the_draft_and_a_strict_one_is_refused(served: Served, waiting: list[str]) -> None:
    served.says("apply", "--draft", "less.yaml")
    said = served.says("workflows", "publish", "approval", "--strict", code=1)
    assert "would fail 2\n" in said
    assert "error: the draft of 'approval' was not published as version 2: 2 of 2 rehearsed runs would fail" in said
    assert "add --rehearse" in served.says("workflows", "publish", "approval", "--days", "3", code=2)
    served.says("apply", "--draft", "more.yaml")
    said = served.says("workflows", "publish", "approval", "--rehearse", "--no-activate")
    assert said.startswith("approval, as version 2: 2 runs rehearsed")
    assert said.splitlines()[-1].startswith("published  approval version 2 not current")


def test_runs_are_moved_by_their_ids_and_by_a_filter(served: Served, waiting: list[str]) -> None:
    served.says("apply", "more.yaml")
    first, second = waiting
    assert "give ids of runs" in served.says("runs", "move", code=2)
    assert "--all-matching" in served.says("runs", "move", "--workflow", "approval", code=2)
    assert "'x' is not OLD=NEW" in served.says("runs", "move", first, "--rename", "x", code=2)
    to = ("--to", "2")
    assert served.says("runs", "move", first, *to, "--dry-run") == (f"can move {first}, version 1 to 2, begins note\n")
    assert served.tells("runs", "move", first, *to)["movable"]
    refused = served.says("runs", "move", first, *to, code=1)
    assert "the run has version 2 already" in refused
    which = ("--workflow", "approval", "--label", "batch=moves", "--all-matching", *to)
    counted = served.says("runs", "move", *which, "--dry-run")
    assert counted.endswith("1 of 2 runs can be moved to version 2\n")
    assert "the run has version 2 already" in counted
    asked = served.says("runs", "move", *which, code=1)
    assert "Move 1 of 2 runs to version 2? Nothing is done without --yes." in asked
    assert served.says("runs", "move", *which, "--yes").endswith("sent: 1 of 2\n")
    until = time.monotonic() + PATIENCE
    while served.tells("runs", "show", second)["version"] != 2:
        assert time.monotonic() < until
    assert served.tells("runs", "move", *which)["movable"] == 0
