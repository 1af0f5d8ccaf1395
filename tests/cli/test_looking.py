"""Looking, against a server: lists, one run, why it waits, its journal line by line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import Program, detent, environment, free_port, started
from tests.cli.served import Served

pytestmark = pytest.mark.slow

SHORT = "name: short\ntasks:\n  a: {sleep: 2s}\n  b: {needs: [a], sleep: 2s}\n"


def test_a_start_takes_its_input_from_a_file_or_from_what_is_typed_into_it(served: Served) -> None:
    (served.folder / "given.json").write_text('{"x": 5}')
    for flag, given in (("@given.json", None), ("-", '{"x": 5}')):
        told = served.says("trigger", "echo", "--input", flag, "--wait", given=given)
        assert ("✓ completed" in told, '"x": 5' in told) == (True, True)


def test_the_same_request_id_starts_once_and_labels_and_hero_are_kept(served: Served) -> None:
    flags = ("trigger", "echo", "--request-id", "order-7", "--label", "region=eu", "--hero", "order:7")
    first, second = served.tells(*flags), served.tells(*flags)
    assert first["run_id"] == second["run_id"]
    run = served.tells("runs", "show", first["run_id"])
    assert (run["request_id"], run["hero"], run["labels"]) == (
        "order-7", {"type": "order", "id": "7"}, {"team": "shop", "region": "eu"},
    )  # fmt: skip
    assert [one["id"] for one in served.tells("runs", "list", "--request-id", "order-7")] == [run["id"]]
    assert [one["id"] for one in served.tells("runs", "list", "--hero", "order:7")] == [run["id"]]
    assert [one["id"] for one in served.tells("runs", "list", "--label", "region=eu", "--since", "1h")] == [run["id"]]
    assert served.tells("runs", "list", "--label", "region=eu", "--until", "1h") == []
    assert re.search(
        r"labels +team=shop  region=eu|labels +region=eu  team=shop", served.says("runs", "show", run["id"])
    )


def test_a_start_for_later_is_pending_until_then(served: Served) -> None:
    started_ = served.tells("trigger", "echo", "--at", "10m")
    assert (started_["status"], started_["started_at"]) == ("pending", None)
    assert "has not started yet" in served.says("runs", "why", started_["run_id"])
    assert "is not a valid time" in served.says("trigger", "echo", "--at", "tomorrow", code=2)


def test_waiting_ends_with_the_run_and_its_exit_code_says_how(served: Served) -> None:
    told = served.says("trigger", "fail", "--wait", code=1)
    assert ("✗ failed" in told, "no money left" in told) == (True, True)
    assert served.tells("trigger", "fail", "--wait", code=1)["tasks"]["bad"]["status"] == "failed"
    assert "the run is still running" in served.says("trigger", "nap", "--wait", "1", code=1)
    run = served.tells("trigger", "echo")["run_id"]
    assert "✓ completed" in served.says("runs", "wait", run, "--timeout", "30")


def test_a_list_is_as_long_as_it_was_asked_for(served: Served) -> None:
    for _ in range(3):
        served.says("trigger", "fail", "--wait", code=1)
    assert len(served.tells("runs", "list", "fail", "--limit", "2")) == 2
    assert served.tells("runs", "list", "-w", "fail") == served.tells("runs", "list", "fail")
    everything = served.tells("runs", "list", "fail", "--all")
    assert len(everything) >= 3
    assert {one["status"] for one in everything} == {"failed"}
    assert served.tells("runs", "list", "fail", "--status", "completed") == []
    line = served.says("runs", "list", "fail", "-n", "1")
    assert re.fullmatch(r"run_\S+  ✗ failed  .*bad: no money left\n", line)
    assert "must be one of" in served.says("runs", "list", "--status", "broken", code=2)


def test_why_tells_the_chain_from_what_blocks_to_what_waits(served: Served) -> None:
    run = served.tells("trigger", "approval")["run_id"]
    lines = served.says("runs", "why", run).splitlines()
    assert [re.sub(r" until .*", "", line).strip()[:34] for line in lines[1:]] == [
        "◇ Step 'ask' waits for its callbac",
        "└ Step 'ship' waits for step 'ask'",
        "└ Step 'bill' waits for step 'ship",
    ]
    assert served.tells("runs", "why", run)["reasons"][0]["kind"] == "callback"
    assert "/wh/" in served.says("runs", "show", run)


def test_logs_show_what_steps_log_between_the_entries_of_the_journal(served: Served) -> None:
    text = "name: chatty\ntasks:\n  say: {action: core.log, with: {message: 'hello\\x1b[2J', n: 3}}\n"
    text += "  warn: {needs: [say], action: core.log, with: {message: careful, level: warning}}\n"
    (served.folder / "chatty.yaml").write_text(text)
    served.says("apply", "chatty.yaml")
    run = served.tells("trigger", "chatty", "--wait")["id"]

    def words(*options: str) -> list[str]:
        return [re.sub(r" +", " ", line.split("  ", 1)[1]) for line in served.says("logs", run, *options).splitlines()]

    whole = words()
    assert whole[1].startswith("│ say hello")
    assert "\x1b" not in whole[1]
    assert whole[1].endswith("n=3")
    assert [line.split(" ")[0:2] for line in whole[1:5]] == [["│", "say"], ["✓", "say"], ["│", "warn"], ["✓", "warn"]]
    assert words("--step", "warn", "--level", "warning", "-f")[1:3] == ["│ warn careful", whole[4]]
    assert not [line for line in words("--level", "error") if line.startswith("│")]
    last = json.loads(served.says("logs", run, "--json", "--step", "warn").splitlines()[0])
    assert (last["message"], last["level"]) == ("careful", "warning")
    assert "must be debug, info, warning, error, not 'loud'" in served.says("logs", run, "--level", "loud", code=2)


def test_logs_tell_what_happened_in_order_and_each_entry_as_a_document(served: Served) -> None:
    run = served.tells("trigger", "fail", "--wait", code=1)["id"]
    lines = [re.sub(r" +", " ", line.split("  ", 1)[1]) for line in served.says("logs", run).splitlines()]
    assert [re.sub(r"\d+ ms", "0 ms", line) for line in lines] == [
        "● run of fail begins",
        "✓ good success 0 ms",
        "✗ bad failed 0 ms no money left",
        "✗ run failed",
    ]
    entries = [json.loads(line) for line in served.says("logs", run, "--json").splitlines()]
    assert [entry["seq"] for entry in entries] == [1, 2]
    assert [json.loads(line)["seq"] for line in served.says("logs", run, "--json", "--since", "1").splitlines()] == [2]
    assert "there is no run" in served.says("logs", "run_nobody", code=1)


def test_workflows_are_listed_shown_disabled_enabled_and_deleted(served: Served) -> None:
    text = "name: mine\ndescription: Mine\nlabels: {of: me}\ntasks:\n  a: {action: core.echo}\n"
    for words in (text, text.replace("Mine", "Mine still")):
        (served.folder / "mine.yaml").write_text(words)
        served.says("apply", "mine.yaml")
    assert [one["name"] for one in served.tells("workflows", "list", "--label", "of=me")] == ["mine"]
    assert re.search(r"^mine +2  enabled  api +1  .*  Mine still$", served.says("workflows", "list"), re.MULTILINE)
    assert "core.echo" in served.says("workflows", "show", "mine")
    assert [one["version"] for one in served.tells("workflows", "versions", "mine")] == [2, 1]
    assert "current" in served.says("workflows", "versions", "mine")
    assert served.says("workflows", "disable", "mine") == "mine  disabled\n"
    assert [one["name"] for one in served.tells("workflows", "list", "--disabled")] == ["mine"]
    assert "is disabled" in served.says("trigger", "mine", code=1)
    assert served.says("workflows", "enable", "mine") == "mine  enabled\n"
    assert "Nothing is done without --yes" in served.says("workflows", "delete", "mine", code=1)
    assert served.says("workflows", "delete", "mine", "--yes") == "deleted  mine\n"
    assert "there is no workflow 'mine'" in served.says("workflows", "show", "mine", code=1)


def test_a_server_that_is_started_anew_does_not_end_who_follows_a_run(folder: Path) -> None:
    port = str(free_port())
    (folder / "short.yaml").write_text(SHORT)
    with started(folder, "serve", "--port", port) as server:
        server.wait_for("answers at")
        detent(folder, "apply", "short.yaml")
        run = detent(folder, "trigger", "short").stdout.strip()
        with started(folder, "logs", run, "-f") as following:
            following.wait_for("run of short begins")
            server.stop()
            with started(folder, "serve", "--port", port) as again:
                again.wait_for("answers at")
                _ends_well(following)


def _ends_well(following: Program) -> None:
    following.wait_for("run completed")
    assert following.process.wait(timeout=300) == 0
    assert following.text.count("success") == 2


def test_a_run_is_kept_as_a_test_that_passes(served: Served) -> None:
    run = served.tells("trigger", "echo", "--input", '{"x": 5}', "--wait")["id"]
    file = served.folder / "test_kept.py"
    assert "wrote test_kept.py" in served.says("runs", "show", run, "--as-test", "--output", "test_kept.py")
    assert served.says("runs", "show", run, "--as-test") == file.read_text()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", file.name],
        cwd=served.folder, env=environment(served.folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 passed" in done.stdout, done.stdout
    assert "File exists" in served.says("runs", "show", run, "--as-test", "--output", "test_kept.py", code=2)


def test_an_expression_is_tried_on_a_run(served: Served) -> None:
    given = '{"items": [{"sku": "a", "qty": 1}, {"sku": "b", "qty": 0}]}'
    run = served.tells("trigger", "echo", "--input", given)["run_id"]
    chosen = "trigger.body.items.filter(i => i.qty > 0).map(i => i.sku)"
    assert served.says("eval", chosen, "--run", run) == '["a"]\n'
    assert served.says("eval", "{{trigger.body.items[0].sku}}-{{run.id}}", "--run", run) == f'"a-{run}"\n'
    assert served.tells("eval", chosen, "--run", run)["language"] == 2
    told = served.says("eval", "1 + trigger.body.itmes", "--run", run, code=1)
    assert "'itmes' is not in trigger.body; did you mean 'items'?" in told
    assert "  1 + trigger.body.itmes\n      ^" in told
    assert "no step 'nothing'" in served.says("eval", "1", "--run", run, "--step", "nothing", code=2)


GREETS = "name: greets\ntitle: Greetings\ntasks:\n  hello: {action: core.echo, with: {text: Hello}}\n"


def test_a_change_is_drafted_compared_published_and_taken_back(served: Served) -> None:
    file = served.folder / "greets.yaml"
    file.write_text(GREETS)
    served.says("apply", "greets.yaml")
    file.write_text(GREETS.replace("Hello", "Welcome"))
    assert "detent workflows publish greets" in served.says("apply", "--draft", "greets.yaml")
    shown = served.says("workflows", "diff", "greets")
    assert re.search(r"~ hello\n +config.with.text\n +- Hello\n +\+ Welcome", shown), shown
    assert "can be published" in served.says("workflows", "draft", "greets")
    assert "published  greets version 2 current" in served.says("workflows", "publish", "greets")
    assert "unchanged" in served.says("workflows", "publish", "greets")
    assert [one["version"] for one in served.tells("workflows", "versions", "greets")] == [2, 1]
    assert "nothing differs" in served.says("workflows", "diff", "greets", "1", "1")
    assert "version 1 current" in served.says("workflows", "activate", "greets", "1")
    started_ = served.tells("trigger", "greets", "--version", "2", "--wait")
    assert started_["version"] == 2
    assert "must be the number of a version" in served.says("trigger", "greets", "--version", "new", code=2)
    assert "version" in served.says("workflows", "show", "greets", "--version", "2")
    assert "Nothing is done without --yes" in served.says("workflows", "archive", "greets", code=1)
    assert "greets  archived" in served.says("workflows", "archive", "greets", "--yes")
    assert [one["name"] for one in served.tells("workflows", "list", "--status", "archived")] == ["greets"]
    assert "not Active" in served.says("trigger", "greets", code=1)
    assert "greets  active" in served.says("workflows", "reactivate", "greets")
    file.write_text(GREETS.replace("Hello", "Good morning"))
    assert "published  greets version 3" in served.says("apply", "--draft", "--publish", "greets.yaml")
    served.says("apply", "--draft", "greets.yaml")
    assert "discarded" in served.says("workflows", "draft", "greets", "--discard", "--yes")
    assert "has no draft" in served.says("workflows", "draft", "greets", code=1)
