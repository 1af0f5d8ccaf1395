"""`detent waits`: the inbox on the command line, and decisions by it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.program import detent
from tests.cli.served import Served

pytestmark = pytest.mark.slow

EXPENSE = """\
name: expense
tasks:
  approve:
    approve:
      title: Expense of {{trigger.body.amount}} EUR
      form: {type: object, properties: {cost_center: {type: string}}, required: [cost_center]}
      timeout: 2d
  pay: {needs: [approve], if: tasks.approve.output.approved, action: core.echo}
"""


def test_approvals_are_listed_and_decided(served: Served) -> None:
    (served.folder / "expense.yaml").write_text(EXPENSE)
    served.says("apply", "expense.yaml")
    first, second = (served.tells("trigger", "expense", "--input", '{"amount": 120}')["run_id"] for _ in range(2))
    listed = ""
    while not (first in listed and second in listed):  # the engine opens them
        listed = served.says("waits", "list", "--workflow", "expense")
    assert "Expense of 120 EUR" in listed
    while listed.count("approve waits for a person") < 2:  # the engine parks them
        listed = served.says("runs", "list", "expense", "--stage", "person")
    assert {one["run"]["id"] for one in served.tells("waits", "list", "--mine", "--workflow", "expense")} == {
        first, second,
    }  # fmt: skip
    told = served.says("waits", "answer", first, "approve", "--approve", code=2)
    assert "cost_center" in told
    given = ("--approve", "--body", '{"cost_center": "R&D"}', "--comment", "fine")
    assert "the run goes on" in served.says("waits", "answer", first, "approve", *given)
    assert "the run goes on" in served.says("waits", "answer", second, "approve", "--reject")
    assert re.search(r"approve +success .* approved by \S+: fine", served.says("runs", "show", first))
    assert re.search(r"approve +success .* rejected by \S+\n", served.says("runs", "show", second))
    assert served.tells("waits", "list", "--workflow", "expense") == []


def test_what_contradicts_itself_is_refused_before_anything_is_sent(served: Served) -> None:
    told = served.says("waits", "answer", "run_nobody", "approve", "--approve", "--reject", code=2)
    assert "approved or rejected, not both" in told
    told = served.says("waits", "answer", "run_nobody", "approve", "--comment", "fine", code=2)
    assert "belongs to --approve or --reject" in told


def test_an_answer_says_that_no_engine_goes_on_with_it(tmp_path: Path) -> None:
    (tmp_path / "ask.yaml").write_text("name: ask\ntasks:\n  wait: {wait_for_webhook: {}}\n")
    assert detent(tmp_path, "apply", "ask.yaml").returncode == 0
    run = json.loads(detent(tmp_path, "trigger", "ask", "--json").stdout)["run_id"]
    told = detent(tmp_path, "waits", "answer", run, "wait", "--body", "1")
    assert (told.returncode, told.stdout) == (0, "wait: accepted; the run goes on\n")
    assert "no engine is running on this database; the run goes on when one starts" in told.stderr
