"""Folders of workflow files on the command line: planned, applied, pruned, exported, and filled with values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.program import detent

SHOP = ("--database", "sqlite:///shop.db")
ORDERS = """\
# Orders of the shop
name: orders
tasks:
  pay: {action: core.echo}     # first
  ship: {needs: [pay], workflow: parcel}
"""
PARCEL: dict[str, Any] = {
    "id": "parcel",
    "displayName": "Parcel",
    "startNode": "pack",
    "nodes": [{"id": "pack", "actionType": "core.echo"}],
}


@pytest.fixture
def files(folder: Path) -> Path:
    """A folder with two workflows, one of which starts the other, and files that are none."""
    made = folder / "files"
    (made / "deep" / ".hidden").mkdir(parents=True)
    (made / "orders.yaml").write_text(ORDERS)
    (made / "deep" / "parcel.json").write_text(json.dumps(PARCEL))
    for name in ("orders.test.yaml", "values.yaml", "prod.values.yaml", "deep/.hidden/x.yaml"):
        (made / name).write_text("not: a workflow")
    return made


def says(folder: Path, *arguments: str, code: int = 0) -> str:
    done = detent(folder, *arguments, *SHOP)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_folder_is_planned_applied_and_then_unchanged(folder: Path, files: Path) -> None:
    planned = says(folder, "plan", "files", code=2)
    assert [line.split()[:2] for line in planned.splitlines() if line.startswith("create")] == [
        ["create", "parcel"],
        ["create", "orders"],
    ]
    assert "2 to create, 0 unchanged" in planned
    applied = says(folder, "apply", "files").splitlines()
    assert [line.split()[:2] for line in applied if line.startswith("created")] == [
        ["created", "parcel"],
        ["created", "orders"],
    ]
    assert says(folder, "apply", "files") == "2 unchanged\n"
    assert says(folder, "plan", "files") == "nothing to do: 2 unchanged\n"
    (files / "orders.yaml").write_text(ORDERS.replace("needs: [pay], ", "").replace("# first", "# the first"))
    assert "change   orders orders.yaml\n           - edge pay -> ship\n" in says(folder, "plan", "files", code=2)
    as_json = json.loads(detent(folder, "plan", "files", "--json", *SHOP).stdout)
    assert [one["change"] for one in as_json] == ["unchanged", "change"]
    assert says(folder, "apply", "files").splitlines()[-1] == "1 changed, 1 unchanged"


def test_nothing_is_saved_if_a_file_is_not_valid(folder: Path, files: Path) -> None:
    (files / "bad.yaml").write_text("name: bad\ntasks: {a: {ulr: x}}")
    said = says(folder, "plan", "files", code=1)
    assert "bad.yaml" in said
    assert "did you mean 'url'" in said
    assert "1 of 3 workflows cannot be saved; nothing was changed" in says(folder, "apply", "files", code=1)
    assert says(folder, "workflows", "list", "--json").strip() == "[]"
    (files / "bad.yaml").write_text("name: [")
    assert "not valid YAML" in says(folder, "plan", "files", code=1)
    (files / "bad.yaml").write_text("name: orders\ntasks: {a: {sleep: 1}}")
    assert "two files of files are the same workflow" in says(folder, "apply", "files", code=2)


def test_only_what_the_folder_manages_is_pruned_and_a_file_that_returns_reactivates(folder: Path, files: Path) -> None:
    (folder / "other.yaml").write_text("name: other\ntasks: {a: {sleep: 1}}")
    says(folder, "apply", "other.yaml")
    assert "write `folder: NAME` into" in says(folder, "apply", "files", "--prune", code=2)
    (files / "detent-folder.yaml").write_text("folder: shop\n")
    says(folder, "apply", "files", "--prune")
    (files / "orders.yaml").unlink()
    assert says(folder, "plan", "files") == "nothing to do: 1 unchanged\n"
    planned = says(folder, "plan", "files", "--prune", code=2)
    assert planned == "archive  orders\n1 to archive, 1 unchanged\n"
    assert says(folder, "apply", "files", "--prune") == "archived   orders\n1 archived, 1 unchanged\n"
    assert says(folder, "plan", "files", "--prune") == "nothing to do: 1 unchanged\n"
    states = {one["name"]: one["status"] for one in json.loads(says(folder, "workflows", "list", "--json"))}
    assert states == {"orders": "archived", "other": "active", "parcel": "active"}
    (files / "orders.yaml").write_text(ORDERS)
    assert "is archived and would be reactivated" in says(folder, "plan", "files", code=2)
    says(folder, "apply", "files")
    assert json.loads(says(folder, "workflows", "show", "orders", "--json"))["status"] == "active"


def test_a_managed_workflow_is_locked_until_it_is_unlocked(folder: Path, files: Path) -> None:
    says(folder, "apply", "files", "--folder", "shop")
    (folder / "mine.yaml").write_text(ORDERS.replace("core.echo}", "core.echo, with: {x: 1}}"))
    refused = says(folder, "apply", "mine.yaml", code=1)
    assert "managed by the files of the folder 'shop'" in refused
    assert "managed by" in says(folder, "workflows", "show", "orders")
    assert says(folder, "workflows", "unlock", "orders") == "unlocked  orders version 2\n"
    says(folder, "apply", "mine.yaml")
    assert "becomes managed by these files" in says(folder, "plan", "files", "--folder", "shop", code=2)
    assert "managed by the files" in says(folder, "plan", "files", "--folder", "elsewhere", code=1)


def test_values_of_an_environment_are_filled_in_and_comments_stay(folder: Path, files: Path) -> None:
    text = "name: call\ntasks:\n  a: {url: '${config.base}/x'}  # here\n"
    (files / "call.yaml").write_text(text)
    assert "add --values FILE" in says(folder, "plan", "files", code=1)
    (files / "values.yaml").write_text("base: https://test.example")
    says(folder, "apply", "files", "--values", "files/values.yaml")
    assert says(folder, "plan", "files", "--values", "files/values.yaml") == "nothing to do: 3 unchanged\n"
    (files / "prod.values.yaml").write_text("base: https://prod.example")
    planned = says(folder, "plan", "files", "--values", "files/prod.values.yaml", code=2)
    assert "step a: config.url: https://test.example/x -> https://prod.example/x" in planned
    says(folder, "export", "out")
    assert (folder / "out" / "call.yaml").read_text() == text.replace("'${config.base}/x'", '"https://test.example/x"')
    (files / "values.yaml").write_text("bas: 1")
    assert "config.base is not in the values" in says(folder, "plan", "files", "--values", "files/values.yaml", code=1)


def test_an_export_has_every_text_as_it_was_saved(folder: Path, files: Path) -> None:
    says(folder, "apply", "files")
    assert says(folder, "export", "out").splitlines()[-1] == "2 written, 0 unchanged"
    assert (folder / "out" / "orders.yaml").read_text() == ORDERS
    assert json.loads((folder / "out" / "parcel.json").read_text()) == PARCEL
    assert says(folder, "plan", "out") == "nothing to do: 2 unchanged\n"
    (folder / "out" / "orders.yaml").rename(folder / "out" / "mine.yml")
    assert says(folder, "export", "out") == "0 written, 2 unchanged\n"
    assert not (folder / "out" / "orders.yaml").exists()


def test_an_export_of_a_managed_folder_manages_them_again(folder: Path, files: Path) -> None:
    says(folder, "apply", "files", "--folder", "shop")
    (folder / "other.yaml").write_text("name: other\ntasks: {a: {sleep: 1}}")
    says(folder, "apply", "other.yaml")
    written = json.loads(detent(folder, "export", "out", "--folder", "shop", "--json", *SHOP).stdout)
    assert [one["name"] for one in written] == ["orders", "parcel"]
    assert (folder / "out" / "detent-folder.yaml").read_text() == "folder: shop\n"
    assert says(folder, "plan", "out", "--prune") == "nothing to do: 2 unchanged\n"


def test_a_secret_is_not_exported(folder: Path) -> None:
    trigger = "trigger: {type: webhook, signature: {preset: github, secrets: [hush-hush]}}\n"
    (folder / "w.yaml").write_text(f"name: w\n{trigger}tasks: {{a: {{sleep: 1}}}}\n")
    says(folder, "apply", "w.yaml")
    assert "the secret of its trigger is not exported" in says(folder, "export", "out")
    assert "hush" not in (folder / "out" / "w.yaml").read_text()


def test_names_that_differ_in_case_only_get_files_of_their_own(folder: Path) -> None:
    for number, name in enumerate(("Order Paid", "order paid", "order-paid", "values", "Überfällig", "注文")):
        (folder / f"{number}.yaml").write_text(yaml.safe_dump({"name": name, "tasks": {"a": {"sleep": 1}}}))
        says(folder, "apply", f"{number}.yaml")
    says(folder, "export", "out")
    names = sorted(path.name for path in (folder / "out").iterdir())
    assert len(names) == 6
    assert "uberfallig.yaml" in names
    assert says(folder, "plan", "out") == "nothing to do: 6 unchanged\n"


def test_a_large_folder_is_applied_once_and_exported_as_it_was(folder: Path) -> None:
    made = folder / "many"
    made.mkdir()
    for number in range(200):
        tasks = {f"s{step}": {"sleep": step + 1} for step in range(5)}
        text = f"# workflow {number}\n" + yaml.safe_dump({"name": f"w{number:03}", "tasks": tasks}, sort_keys=False)
        (made / f"w{number:03}.yaml").write_text(text)
    assert says(folder, "apply", "many").splitlines()[-1] == "200 created"
    assert says(folder, "apply", "many") == "200 unchanged\n"
    says(folder, "export", "out")
    assert {path.name: path.read_text() for path in (folder / "out").iterdir()} == {
        path.name: path.read_text() for path in made.iterdir()
    }
    assert says(folder, "plan", "out") == "nothing to do: 200 unchanged\n"


def test_a_file_is_converted_and_what_cannot_be_is_named(folder: Path) -> None:
    (folder / "orders.yaml").write_text(ORDERS)
    done = detent(folder, "convert", "orders.yaml", "--to", "graph")
    assert (done.returncode, done.stderr) == (0, "warning: comments are not converted\n")
    assert [node["id"] for node in yaml.safe_load(done.stdout)["nodes"]] == ["pay", "ship"]
    assert detent(folder, "convert", "orders.yaml", "--to", "steps").stdout == ORDERS
    assert detent(folder, "convert", "orders.yaml", "--to", "graph", "-o", "orders.json").returncode == 0
    back = json.loads(detent(folder, "convert", "orders.json", "--to", "steps", "--json").stdout)
    there = json.loads(detent(folder, "convert", "orders.yaml", "--to", "graph", "--json").stdout)
    assert back["fingerprint"] == there["fingerprint"]
    joined = {**PARCEL, "nodes": [{**PARCEL["nodes"][0], "onFailure": "end"}, {"id": "end", "actionType": "core.echo"}]}
    (folder / "parcel.json").write_text(json.dumps(joined))
    refused = detent(folder, "convert", "parcel.json", "--to", "steps")
    assert refused.returncode == 2
    assert "nodes.end: the edge from 'pack': is taken if no other edge" in refused.stderr
    assert "must be one of" in detent(folder, "convert", "orders.yaml", "--to", "tree").stderr


def test_a_folder_is_applied_alone(folder: Path, files: Path) -> None:
    assert "applied alone" in says(folder, "apply", "files", "files/orders.yaml", code=2)
    assert "is for a folder" in says(folder, "apply", "files/orders.yaml", "--prune", code=2)
    assert "is not a folder" in says(folder, "plan", "files/orders.yaml", code=1)
    assert "must be the id of a folder" in says(folder, "plan", "files", "--folder", "a/b", code=1)
