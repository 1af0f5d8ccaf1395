"""Workflows whose steps are child runs, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.program import detent

CHILD = "name: child\ntasks:\n  nap: {sleep: 2d}\noutput: {n: '{{trigger.body.n}}'}\n"
PARENT = "name: parent\ntasks:\n  a: {workflow: child, with: {n: 20}}\noutput: '{{tasks.a.output.n + 1}}'\n"


def files(folder: Path) -> None:
    (folder / "child.yaml").write_text(CHILD)
    (folder / "parent.yaml").write_text(PARENT)


def test_a_workflow_is_run_together_with_the_one_it_starts(folder: Path) -> None:
    files(folder)
    done = detent(folder, "run", "parent.yaml", "--with", "child.yaml", "--fast")
    assert (done.returncode, "output 21" in done.stdout, "2d" in done.stdout) == (0, True, True), done.stdout


def test_a_child_without_its_file_fails_its_step_with_its_name(folder: Path) -> None:
    files(folder)
    done = detent(folder, "run", "parent.yaml", "--fast")
    assert done.returncode == 1
    assert "there is no workflow 'child'" in done.stdout


def test_a_file_of_a_child_that_is_not_valid_is_refused(folder: Path) -> None:
    files(folder)
    (folder / "child.yaml").write_text("name: child\ntasks: {}\nnonsense: 1\n")
    done = detent(folder, "run", "parent.yaml", "--with", "child.yaml", "--fast")
    assert (done.returncode, "nonsense" in done.stderr) == (2, True)


def test_the_family_of_a_run_is_shown_as_a_tree(folder: Path) -> None:
    (folder / "child.yaml").write_text(CHILD.replace("nap: {sleep: 2d}", "say: {action: core.echo}"))
    (folder / "parent.yaml").write_text(PARENT)
    database = f"sqlite:///{folder}/family.db"
    done = detent(folder, "run", "parent.yaml", "--with", "child.yaml", "--database", database)
    assert done.returncode == 0, done.stdout
    listed = json.loads(detent(folder, "runs", "list", "--json", "--database", database).stdout)
    [parent] = [run["id"] for run in listed if run["workflow"] == "parent"]
    [child] = [run["id"] for run in listed if run["workflow"] == "child"]
    lines = detent(folder, "runs", "tree", child, "--database", database).stdout.splitlines()
    assert parent in lines[0]
    assert child in lines[1]
    assert " a " in lines[1].replace("a  ", " a ", 1)
    tree = json.loads(detent(folder, "runs", "tree", parent, "--json", "--database", database).stdout)
    assert tree["root"]["children"][0]["parent"] == {"run_id": parent, "step": "a"}
    cut = detent(folder, "runs", "tree", parent, "--limit", "1", "--database", database)
    assert child not in cut.stdout
    assert "there may be more" in cut.stderr


def test_the_runs_of_a_map_are_in_the_tree_below_its_step(folder: Path) -> None:
    (folder / "child.yaml").write_text(CHILD.replace("nap: {sleep: 2d}", "say: {action: core.echo}"))
    many = "{for_each: '{{trigger.body.items}}', workflow: child, with: {n: '{{item}}'}}"
    (folder / "parent.yaml").write_text(f"name: parent\ntasks:\n  each: {many}\n")
    database = f"sqlite:///{folder}/family.db"
    body = json.dumps({"items": list(range(52))})
    done = detent(folder, "run", "parent.yaml", "--with", "child.yaml", "--database", database, "--input", body)
    assert done.returncode == 0, done.stdout
    listed = json.loads(detent(folder, "runs", "list", "--limit", "100", "--json", "--database", database).stdout)
    [parent] = [run["id"] for run in listed if run["workflow"] == "parent"]
    lines = detent(folder, "runs", "tree", parent, "--database", database).stdout.splitlines()
    assert parent in lines[0]
    assert "each  52 items  52 succeeded" in lines[1]
    assert "item 0  run_" in lines[2]
    assert f"and more: detent runs items {parent} each" in lines[-1]
    items = json.loads(detent(folder, "runs", "items", parent, "each", "--json", "--database", database).stdout)
    assert {item["child_run_id"] for item in items} == {run["id"] for run in listed if run["workflow"] == "child"}
    assert items[7]["child_run_id"] in detent(folder, "runs", "items", parent, "each", "--database", database).stdout
    shown = detent(folder, "runs", "show", items[0]["child_run_id"], "--database", database).stdout
    assert f"parent   {parent}" in shown
