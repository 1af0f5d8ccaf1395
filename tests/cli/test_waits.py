"""`detent waits`: the inbox on the command line, and decisions by it."""

from __future__ import annotations

import re

import pytest

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
