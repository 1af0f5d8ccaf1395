"""`detent triggers apply` and `create --name`: a file says which triggers there are, and may be applied again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.program import detent

ECHO = "name: echo\ntasks: {a: {action: core.echo}}\n"
FILE = """
triggers:
  - {workflow: echo, name: nightly, type: cron, cron_expression: "0 3 * * *"}
  - {workflow: echo, name: paid, type: event, event: order.paid}
"""


def run(folder: Path, *words: str) -> str:
    done = detent(folder, *words, DETENT_DATABASE_URL=f"sqlite:///{folder}/detent.db")
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed(folder: Path) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(run(folder, "triggers", "list", "--json"))}


def changes(folder: Path, *words: str) -> list[str]:
    return [line.split()[0] for line in run(folder, "triggers", "apply", "t.yaml", *words).splitlines()]


def test_a_file_of_triggers_is_applied_by_name_and_deletes_nothing_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(ECHO)
    (tmp_path / "t.yaml").write_text(FILE)
    (tmp_path / "one.yaml").write_text("workflow: echo\ntype: webhook\n")
    run(tmp_path, "apply", "w.yaml")
    assert changes(tmp_path) == ["created", "created"]
    assert changes(tmp_path) == ["unchanged", "unchanged"]
    before = listed(tmp_path)
    run(tmp_path, "triggers", "pause", before["paid"]["id"])
    (tmp_path / "t.yaml").write_text(FILE.replace("0 3", "0 4").replace("order.paid", "order.*"))
    assert changes(tmp_path) == ["changed", "changed"]
    after = listed(tmp_path)
    assert after["nightly"]["config"]["cron_expression"] == "0 4 * * *"
    assert {name: row["id"] for name, row in after.items()} == {name: row["id"] for name, row in before.items()}
    assert not after["paid"]["enabled"], "what a person has paused stays so"
    hook = run(tmp_path, "triggers", "create", "one.yaml", "--name", "hook")
    assert run(tmp_path, "triggers", "create", "one.yaml", "--name", "hook") == hook
    run(tmp_path, "triggers", "create", "one.yaml")  # without a name, and each time another one
    assert changes(tmp_path) == ["unchanged", "unchanged"]
    assert changes(tmp_path, "--prune", "--yes") == ["unchanged", "unchanged", "deleted"]
    assert set(listed(tmp_path)) == {"nightly", "paid", None}
    again = run(tmp_path, "triggers", "create", "one.yaml", "--name", "hook")
    assert again != hook
    assert set(listed(tmp_path)) == {"nightly", "paid", "hook", None}


def test_a_trigger_that_cannot_be_applied_is_named(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(ECHO)
    run(tmp_path, "apply", "w.yaml")
    database = f"sqlite:///{tmp_path}/detent.db"
    for text, said in (
        ("triggers: []", "a list of 1 to"),
        ("triggers: [{workflow: echo, type: webhook}]", "triggers[0].name"),
        (
            "triggers: [{workflow: echo, name: a, type: webhook}, {workflow: echo, name: a, type: manual}]",
            "given twice",
        ),
        ("triggers: [{workflow: echo, name: a, type: cron}]", "cron_expression"),
        ("{workflow: other, name: a, type: webhook}", "no workflow"),
    ):
        (tmp_path / "t.yaml").write_text(text)
        done = detent(tmp_path, "triggers", "apply", "t.yaml", DETENT_DATABASE_URL=database)
        assert done.returncode != 0
        assert said in done.stderr, done.stderr
    (tmp_path / "t.yaml").write_text("{workflow: echo, name: a, type: webhook}")
    run(tmp_path, "triggers", "apply", "t.yaml")
    (tmp_path / "t.yaml").write_text("{workflow: echo, name: a, type: manual}")
    done = detent(tmp_path, "triggers", "apply", "t.yaml", DETENT_DATABASE_URL=database)
    assert "is webhook and cannot become manual" in done.stderr
