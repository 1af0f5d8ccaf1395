"""A step that raises: the log of the server says so, and so does every command that shows its run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tests.cli.program import Program, started
from tests.cli.served import Served

pytestmark = pytest.mark.slow

STORY = "the card was refused because " + "of this and of that and " * 20
CODE = f"""\
from detent import Workflow, step, workflow


class Paying(Workflow):
    may_proceed_without_hero = True

    @step
    def welcome(self):
        return "hello"

    @step
    def charge(self):
        raise ValueError({STORY!r})


class Leaving(Workflow):
    @step
    def look(self):
        self.cancel("nobody wants it")


@workflow
async def approval(run):
    return await run.signal("ok")
"""


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Program]]:
    folder = tmp_path_factory.mktemp("troubled")
    (folder / "shop.py").write_text(CODE)
    with started(folder, "serve", "--import", "shop", "--port", "0") as server:
        yield Served(folder, server.wait_for(r"answers at (http://\S+)")[1]), server


def test_a_paused_run_says_why_wherever_it_is_looked_at(troubled: tuple[Served, Program]) -> None:
    served, server = troubled
    run = served.tells("trigger", "Paying", "--hero", "User:7")["run_id"]
    line = json.loads(server.wait_for(r'\{.*"run.paused".*\}')[0])
    assert (line["run"], line["step"], line["level"]) == (run, "charge", "warning")
    assert line["error"] == f"ValueError: {STORY}"
    assert "raise ValueError" in line["traceback"]
    listed = served.says("runs", "list", "Paying")
    assert re.search(r"paused .* User:7 +charge: ValueError: the card was refused", listed)
    shown = served.says("runs", "show", run)
    assert re.search(r"^✓ welcome  success  ", shown, re.MULTILINE)
    assert re.search(r"^◷ charge   scheduled", shown, re.MULTILINE)
    assert f"\n    ValueError: {STORY.strip()}\n" in shown
    history = served.says("runs", "history", run)
    assert re.match(r"ended +step +attempt +state +outcome ", history)


def test_a_run_that_its_code_cancelled_says_why(troubled: tuple[Served, Program]) -> None:
    served, _ = troubled
    run = served.tells("trigger", "Leaving", "--wait", code=1)
    assert run["error"] == "look: nobody wants it"
    assert "look: nobody wants it" in served.says("runs", "show", run["id"])
    assert "Step 'look' cancelled it: nobody wants it." in served.says("runs", "why", run["id"])
    assert "look  cancelled the run: nobody wants it" in served.says("logs", run["id"])


def test_the_data_of_a_signal_may_stand_behind_its_name(troubled: tuple[Served, Program]) -> None:
    served, _ = troubled
    run = served.tells("trigger", "approval")["run_id"]
    assert "given twice" in served.says("runs", "signal", run, "ok", "1", "--data", "2", code=2)
    served.says("runs", "signal", run, "ok", '{"by": 1}')
    assert served.tells("runs", "wait", run)["output"] == {"by": 1}
