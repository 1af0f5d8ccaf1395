"""Files in the graph form on the command line: checked, drawn, run and saved like all others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from detent.forms.graph.schema import SCHEMA
from tests.cli.program import detent
from tests.forms.graphs import FANOUT_FANIN, document, edge, node


@pytest.fixture(params=["json", "yaml"])
def file(request: pytest.FixtureRequest, folder: Path) -> str:
    is_json = request.param == "json"
    text = FANOUT_FANIN if is_json else yaml.safe_dump(json.loads(FANOUT_FANIN), sort_keys=False)
    name = f"fanout.{request.param}"
    (folder / name).write_text(text)
    return name


def test_a_graph_file_is_checked_drawn_run_and_saved(folder: Path, file: str) -> None:
    checked = detent(folder, "validate", file)
    assert (checked.returncode, checked.stdout) == (0, f"✓ {file}: fanout-fanin, 4 steps\n")
    assert detent(folder, "graph", file).stdout == (
        "Fan-out/Fan-in Example\n"
        "● A    action core.echo\n"
        "├─● B  action core.echo  (when true)\n"
        "└─● C  action core.echo  (when false)\n"
        "  ● D  action core.echo  (or after B)\n"
    )
    ran = detent(folder, "run", file)
    assert ran.returncode == 0
    assert "C  skipped" in ran.stdout
    assert '"msg": "Join"' in ran.stdout
    saved = [detent(folder, "apply", file, "--database", "sqlite:///w.db").stdout for _ in range(2)]
    assert saved == ["created    fanout-fanin version 1\n", "unchanged  fanout-fanin version 1\n"]


def test_every_problem_of_a_graph_file_is_printed_with_its_place(folder: Path) -> None:
    wrong = document(node("a", edge("b", "sometimes"), edge("c")), node("b", timeot=5))
    (folder / "w.json").write_text(json.dumps(wrong))
    done = detent(folder, "validate", "w.json")
    assert done.returncode == 2
    lines = [line.strip().partition(": ")[0] for line in done.stderr.splitlines()[1:]]
    assert sorted(lines) == ["nodes.a.edges[0].when", "nodes.a.edges[1].targetNode", "nodes.b.timeot"]


def test_a_workflow_is_applied_after_those_that_it_starts(folder: Path) -> None:
    calls = {"first": ["second", "third"], "second": ["third"], "third": []}
    for name, children in calls.items():
        nodes = [{"id": child, "workflowId": child} for child in children] or [node("a")]
        written = {**document(*nodes, startNodes=[one["id"] for one in nodes]), "id": name}
        (folder / f"{name}.json").write_text(json.dumps(written))
    done = detent(folder, "apply", "first.json", "second.json", "third.json")
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["created", "third"],
        ["created", "second"],
        ["created", "first"],
    ], done.stderr


def test_a_file_that_cannot_be_published_is_named(folder: Path) -> None:
    (folder / "w.json").write_text(json.dumps(document({"id": "a", "workflowId": "nowhere"})))
    done = detent(folder, "apply", "w.json")
    assert (done.returncode, done.stdout) == (2, "✗ w.json\n")
    assert "nodes.a.workflowId: there is no workflow 'nowhere'" in done.stderr


def test_the_schema_of_the_graph_form_is_printed(folder: Path) -> None:
    done = detent(folder, "schema", "graph")
    assert (done.returncode, json.loads(done.stdout)) == (0, SCHEMA)


def test_a_form_without_a_schema_is_refused_with_those_that_have_one(folder: Path) -> None:
    done = detent(folder, "schema", "steps")
    assert done.returncode != 0
    assert "there is one of: graph" in done.stderr
