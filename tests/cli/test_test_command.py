"""`detent test`, `detent run --dry` and `detent runs export`: exit codes, and what they print."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.program import detent

pytestmark = pytest.mark.slow

ORDER = """
name: order
tasks:
  get: {url: "https://shop.example/orders/{{trigger.body.id}}", method: GET}
  each: {needs: [get], for_each: "{{tasks.get.body.lines}}", url: "https://shop.example/ship/{{item.sku}}"}
  bye: {needs: [each], action: core.echo, with: {text: "{{trigger.body.id}}"}}
tests:
  - name: it ships
    input: {id: 7}
    answers: {get: {lines: [{sku: a}]}, each: {ok: true}}
    expect: {status: completed, requests: {each: {url: https://shop.example/ship/a}}}
"""


def write(folder: Path, text: str = ORDER, name: str = "order.yaml") -> None:
    (folder / name).write_text(text)


def test_tests_that_pass_are_exit_code_0_and_one_that_fails_1(folder: Path) -> None:
    write(folder)
    done = detent(folder, "test")
    assert (done.returncode, "✓ order.yaml: it ships" in done.stdout) == (0, True), done.stdout + done.stderr
    write(folder, ORDER.replace("status: completed", "status: failed"), "worse.yaml")
    failed = detent(folder, "test", "--junit", "report.xml")
    assert failed.returncode == 1
    assert "status: expected failed, was completed" in failed.stdout
    assert "1 passed, 1 failed" in failed.stdout
    root = ElementTree.parse(folder / "report.xml").getroot()
    assert [suite.get("failures") for suite in root] == ["0", "1"]
    assert detent(folder, "test", "-k", "ORDER.yaml").returncode == 0
    assert detent(folder, "test", "order.yaml").returncode == 0


def test_a_file_that_is_not_valid_or_no_test_is_exit_code_2(folder: Path) -> None:
    write(folder, ORDER.replace("each: {ok", "eahc: {ok"), "bad.yaml")
    bad = detent(folder, "test", "bad.yaml")
    assert bad.returncode == 2
    assert "tests[0].answers.eahc" in bad.stderr
    assert "did you mean 'each'?" in bad.stderr
    write(folder, "name: x\ntasks: {a: {sleep: 1s}}\n", "none.yaml")
    for arguments in (["none.yaml"], ["nothing.yaml"], ["-k", "nothing", "none.yaml"]):
        assert detent(folder, "test", *arguments).returncode == 2


def test_a_dry_run_prints_requests_and_stores_nothing(folder: Path) -> None:
    write(folder)
    answer = 'get={"lines": [{"sku": "a"}]}'
    done = detent(folder, "run", "order.yaml", "--dry", "-i", '{"id": 7}', "--answer", answer)
    assert done.returncode == 0, done.stderr
    assert "GET https://shop.example/orders/7" in done.stdout
    assert "POST https://shop.example/ship/a" in done.stdout
    assert "get  success (pinned)" in done.stdout
    assert [path.name for path in folder.iterdir()] == ["order.yaml"]
    document = json.loads(detent(folder, "run", "order.yaml", "--dry", "--json").stdout)
    assert (document["status"], document["problems"][0][:4]) == ("failed", "get:")
    assert detent(folder, "run", "order.yaml", "--dry", "--answer", "gte=1").returncode == 2
    assert detent(folder, "run", "order.yaml", "--dry", "--fast").returncode == 2
    assert detent(folder, "run", "order.yaml", "--json").returncode == 2


def test_a_past_run_answers_a_dry_run_and_becomes_a_test(folder: Path) -> None:
    steps = [
        "  a: {action: core.echo, with: {x: '{{trigger.body.x}}'}}",
        "  b: {needs: [a], wait_for_webhook: {timeout: 1h}}",
    ]
    text = "\n".join(["name: echo", "tasks:", *steps])
    write(folder, text, "echo.yaml")
    place = ("--database", f"sqlite:///{folder}/runs.db")
    assert detent(folder, "run", "echo.yaml", "-i", '{"x": 5}', "--answer", 'b={"ok": 1}', *place).returncode == 0
    [run] = json.loads(detent(folder, "runs", "list", "--json", *place).stdout)
    dry = detent(folder, "run", "echo.yaml", "--dry", "--from", run["id"], "-i", '{"x": 6}', *place)
    assert dry.returncode == 0, dry.stderr
    assert "b  success (run)" in dry.stdout
    options = ("--as", "test-yaml", "--workflow", "echo.yaml", "-o", "echo.test.yaml")
    kept = detent(folder, "runs", "export", run["id"], *options, *place)
    assert "`detent test echo.test.yaml` runs it" in kept.stdout
    assert detent(folder, "test", "echo.test.yaml").returncode == 0
    assert detent(folder, "runs", "export", run["id"], *options, *place).returncode == 2
    whole = json.loads(detent(folder, "runs", "export", run["id"], *place).stdout)
    assert set(whole) == {"run", "definition", "journal"}
    assert "speedrun(" in detent(folder, "runs", "export", run["id"], "--as", "test", *place).stdout
