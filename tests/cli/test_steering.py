"""Steering, against a server: many runs at once, runs done again, doubts resolved, triggers and events."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import PATIENCE, detent, started
from tests.cli.served import Served

pytestmark = pytest.mark.slow

CRON = """\
name: nightly
trigger: {type: cron, cron_expression: "0 3 * * *", timezone: Europe/Berlin}
tasks:
  a: {action: core.echo}
"""
SLOW = "import time\n\nimport detent\n\n\n@detent.action('shop.slow')\ndef slow() -> None:\n    time.sleep(60)\n"
DOUBT = (
    "name: doubt\ntasks:\n  charge: {action: shop.slow, on_crash: ask}\n  ship: {needs: [charge], action: core.echo}\n"
)


def naps(served: Served, count: int, label: str) -> list[str]:
    return [served.tells("trigger", "nap", "--label", f"batch={label}")["run_id"] for _ in range(count)]


def test_several_runs_are_steered_by_their_ids_and_one_that_cannot_be_is_told(served: Served) -> None:
    first, second = naps(served, 2, "ids")
    assert served.says("runs", "pause", first, second).count("paused") == 2
    assert {one["status"] for one in served.tells("runs", "resume", first, second)} == {"running"}
    told = served.says("runs", "cancel", first, "run_nobody", second, code=1)
    assert (told.count("cancelled"), "there is no run 'run_nobody'" in told) == (2, True)


def test_a_run_is_got_past_a_step_and_finished(served: Served) -> None:
    first, second = naps(served, 2, "flow")
    assert "no step 'b'; did you mean 'a'?" in served.says("runs", "skip", first, "--step", "b", code=1)
    assert "it sleeps" in served.says("runs", "reattempt", first, "--step", "a", "--wait", "10m", code=1)
    assert "--wait" in served.says("runs", "reattempt", first, "--wait", "soon", code=2)
    assert served.tells("runs", "skip", first)["tasks"]["a"]["status"] == "skipped"
    assert "skipped by api" in served.says("logs", first)
    assert "completed" in served.says("runs", "finish", second)
    assert "finished by api" in served.says("logs", second)


def test_many_runs_are_counted_first_and_steered_when_that_is_meant(served: Served) -> None:
    naps(served, 3, "many")
    which = ("--workflow", "nap", "--label", "batch=many")
    assert "--all-matching" in served.says("runs", "cancel", *which, code=2)
    assert "give ids of runs" in served.says("runs", "cancel", code=2)
    assert "3 runs match. Cancel them? Nothing is done" in served.says(
        "runs", "cancel", *which, "--all-matching", code=1
    )
    assert served.tells("runs", "list", "nap", "--label", "batch=many", "--status", "cancelled") == []
    assert served.says("runs", "cancel", *which, "--all-matching", "--yes") == "cancel: 3 of 3\n"
    until = time.monotonic() + PATIENCE
    while len(served.tells("runs", "list", "nap", "--label", "batch=many", "--status", "cancelled")) < 3:
        assert time.monotonic() < until
    assert served.says("runs", "cancel", *which, "--all-matching", "--yes") == "no run matches\n"


def test_a_dry_run_of_a_retry_says_of_each_run_what_is_kept_and_what_runs_again(served: Served) -> None:
    runs = [served.tells("trigger", "fail", "--wait", "--label", "batch=dry", code=1)["id"] for _ in range(2)]
    kept = "version 1: keeps good; runs again bad"
    assert served.says("runs", "retry", runs[0], "--dry-run") == f"{runs[0]}  {kept}\n"
    assert served.tells("runs", "retry", runs[0], "--current", "--dry-run")["again"] == ["bad"]
    which = ("--label", "batch=dry", "--all-matching", "--dry-run")
    told = served.says("runs", "retry", *which, "--current")
    assert told.splitlines() == [f"{run}  {kept}" for run in runs] + ["2 runs match"]
    assert served.says("runs", "retry", runs[1]).startswith("run_")
    told = served.says("runs", "retry", *which)
    assert "it was run again already" in told
    assert runs[1] not in [one["run_id"] for one in served.tells("runs", "retry", *which)["previews"]]
    assert served.says("runs", "retry", *which, "--status", "completed") == "no run matches\n"


def test_a_run_is_retried_rerun_and_forked_as_a_new_run_that_says_so(served: Served) -> None:
    run = served.tells("trigger", "fail", "--wait", code=1)["id"]
    made = {
        "retry": served.says("runs", "retry", run).strip(),
        "rerun": served.says("runs", "rerun", run, "--input", '{"x": 2}').strip(),
        "fork": served.says("runs", "fork", run, "--step", "bad", "--output", '{"paid": true}').strip(),
    }
    for kind, id_ in made.items():
        served.says("runs", "wait", id_, code=0 if kind == "fork" else 1)
        origin = served.tells("runs", "show", id_)["origin"]
        assert (origin["run_id"], origin["kind"]) == (run, kind)
        assert f"{run} by {kind}" in served.says("runs", "show", id_)
    assert served.tells("runs", "show", made["rerun"])["input"]["body"] == {"x": 2}
    assert "reused from the run before" in served.says("logs", made["retry"])
    assert "has no step 'nope'" in served.says("runs", "fork", run, "--step", "nope", code=1)
    assert "say --happened or --did-not-happen" in served.says("runs", "resolve", run, "bad", code=2)
    assert "it is not uncertain" in served.says("runs", "resolve", run, "bad", "--happened", code=1)


def test_a_step_of_which_nobody_knows_is_resolved(folder: Path) -> None:
    (folder / "shopwork.py").write_text(SLOW)
    (folder / "doubt.yaml").write_text(DOUBT)
    options = ("serve", "--port", "0", "--import", "shopwork")
    variables = {"DETENT_LEASE_SECONDS": "1", "PYTHONPATH": f"{Path(__file__).parents[2]}:{folder}"}
    with started(folder, *options, **variables) as server:
        url = server.wait_for(r"answers at (http://\S+)")[1]
        detent(folder, "apply", "doubt.yaml", "--url", url)
        run = detent(folder, "trigger", "doubt", "--url", url).stdout.strip()
        _wait_for(folder, run, url, lambda found: found["tasks"]["charge"]["status"] == "running")
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(timeout=300)
    with started(folder, *options, **variables) as server:
        url = server.wait_for(r"answers at (http://\S+)")[1]
        _wait_for(folder, run, url, lambda found: found["status"] == "paused")
        assert "It is unknown whether step 'charge' happened" in detent(folder, "runs", "why", run, "--url", url).stdout
        done = detent(folder, "runs", "resolve", run, "charge", "--happened", "--output", "7", "--url", url)
        assert done.returncode == 0, done.stderr
        assert (
            _wait_for(folder, run, url, lambda found: found["status"] == "completed")["tasks"]["charge"]["output"] == 7
        )


def _wait_for(folder: Path, run: str, url: str, is_there: Any) -> Any:
    until = time.monotonic() + PATIENCE
    while not is_there(found := json.loads(detent(folder, "runs", "show", run, "--json", "--url", url).stdout)):
        assert time.monotonic() < until, found
    return found


def test_a_schedule_is_looked_at_paused_fired_filled_and_replayed(served: Served) -> None:
    (served.folder / "nightly.yaml").write_text(CRON)
    served.says("apply", "nightly.yaml")
    [trigger] = served.tells("triggers", "list", "nightly")
    id_ = trigger["id"]
    assert re.match(rf"{id_}  nightly  cron  enabled  0 3 \* \* \* Europe/Berlin  ", served.says("triggers", "list"))
    assert "Europe/Berlin" in served.says("triggers", "show", id_)
    assert len(served.says("triggers", "next", id_, "--count", "3").splitlines()) == 3
    assert len(served.tells("triggers", "next", id_)) == 10
    assert served.says("triggers", "pause", id_, "--note", "over the holidays") == f"{id_}  paused\n"
    assert served.tells("triggers", "show", id_)["note"] == "over the holidays"
    assert [one["id"] for one in served.tells("triggers", "list", "--paused")] == [id_]
    assert served.says("triggers", "resume", id_).startswith(f"{id_}  enabled  next in ")
    assert re.match(r"fir_\S+  started  run_\S+", served.says("triggers", "fire", id_, "--input", '{"by": "hand"}'))
    past = ("triggers", "backfill", id_, "--from", "3d", "--to", "0s")
    assert "3 slots have not fired. Fire now? Nothing is done" in served.says(*past, code=1)
    assert served.says(*past, "--yes").endswith("3 firings made\n")
    assert served.says(*past, "--yes") == "every slot in that range has fired\n"
    firings = served.tells("triggers", "firings", id_)
    assert len(firings) == 4
    assert len(served.says("triggers", "firings", id_, "--limit", "2").splitlines()) == 2
    first = firings[-1]["id"]
    assert served.tells("triggers", "replay", id_, first)["replay_of"] == first
    assert "is part of the definition" in served.says("triggers", "delete", id_, "--yes", code=1)


def test_a_trigger_is_made_from_a_file_hears_an_event_and_is_deleted(served: Served) -> None:
    (served.folder / "made.yaml").write_text("workflow: echo\ntype: event\nconfig: {event: order.*}\n")
    id_ = served.says("triggers", "create", "made.yaml").strip()
    sent = served.says("events", "send", "order.paid", "--data", '{"x": 3}', "--id", "evt-1")
    run = re.search(rf"{id_}  started  (run_\S+)", sent)
    assert run, sent
    assert (
        served.tells("events", "send", "order.paid", "--data", '{"x": 3}', "--id", "evt-1")["firings"][0]["run_id"]
        == run[1]
    )
    assert "✓ completed" in served.says("runs", "wait", run[1])
    assert served.tells("runs", "list", "--trigger", id_)[0]["id"] == run[1]
    assert "no trigger listens" in served.says("events", "send", "nobody.cares")
    assert "Nothing is done without --yes" in served.says("triggers", "delete", id_, code=1)
    assert served.says("triggers", "delete", id_, "--yes") == f"deleted  {id_}\n"
    (served.folder / "made.yaml").write_text("workflow: echo\ntype: cron\nconfig: {cron_expression: often}\n")
    assert "cron_expression" in served.says("triggers", "create", "made.yaml", code=2)
