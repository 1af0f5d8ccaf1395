"""Files in the rule form on the command line: checked, drawn, run, tested and saved like all others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from detent.forms.rules.schema import SCHEMA
from tests.cli.program import detent
from tests.forms.rules import action, edge, rule, start, when

RULE = rule(
    action("Is it large?", "condition", action_config={"expression": "total > 100"}),
    action("Ask", action_config={"text": "Order {{number}} of {{ before.customer ?? 'nobody' }}"}),
    action("Ship", action_config={"text": "ship {{number}}"}),
    edges=[
        start("is-it-large"),
        edge("is-it-large", "ask", "true_branch"),
        edge("is-it-large", "ship", "false_branch"),
    ],
    name="Large orders",
    trigger_conditions=when(("status", "changed_to", "paid")),
    tests=[{"name": "a small one", "input": {"total": 5, "number": 1}, "expect": {"ran": ["ship"]}}],
)


@pytest.fixture(params=["json", "yaml"])
def file(request: pytest.FixtureRequest, folder: Path) -> str:
    text = json.dumps(RULE) if request.param == "json" else yaml.safe_dump(RULE, sort_keys=False)
    name = f"rule.{request.param}"
    (folder / name).write_text(text)
    return name


def output(folder: Path, file: str, given: Any) -> Any:
    ran = detent(folder, "run", file, "--fast", "--input", json.dumps(given))
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.partition("output ")[2])


def test_a_rule_file_is_checked_drawn_run_and_saved(folder: Path, file: str) -> None:
    checked = detent(folder, "validate", file)
    assert (checked.returncode, checked.stdout) == (0, f"✓ {file}: large-orders, 3 steps\n")
    assert detent(folder, "graph", file).stdout == (
        "Large orders\n"
        "● is-it-large  Is it large?: condition total > 100\n"
        "├─● ask        Ask: action core.echo  (when steps['is-it-large'].output == true)\n"
        "└─● ship       Ship: action core.echo  (when steps['is-it-large'].output == false)\n"
    )
    assert output(folder, file, {"total": 50, "number": "A-7"}) == {"text": "ship A-7"}
    event = {"operation": "update", "before": {"customer": "Ann"}, "after": {"total": 150, "number": "A-8"}}
    assert output(folder, file, event) == {"text": "Order A-8 of Ann"}
    saved = [detent(folder, "apply", file, "--database", "sqlite:///w.db").stdout for _ in range(2)]
    assert saved == ["created    large-orders version 1\n", "unchanged  large-orders version 1\n"]
    tested = detent(folder, "test", file)
    assert tested.returncode == 0, tested.stdout


def test_every_problem_of_a_rule_file_is_printed_with_its_place(folder: Path) -> None:
    wrong = rule(action("a", timeot=5), edges=[start(), edge("a", "temp:4")], trigger_type="sometimes")
    (folder / "w.json").write_text(json.dumps(wrong))
    done = detent(folder, "validate", "w.json")
    assert done.returncode == 2
    lines = [line.strip().partition(": ")[0] for line in done.stderr.splitlines()[1:]]
    assert sorted(lines) == ["actions[0].timeot", "edges[1].target_action_id", "trigger_type"]


def test_the_schema_of_rules_is_printed(folder: Path) -> None:
    assert json.loads(detent(folder, "schema", "rule").stdout) == SCHEMA
