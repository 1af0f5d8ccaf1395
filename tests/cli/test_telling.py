"""Heroes and stories on the command line."""

from __future__ import annotations

import re

import pytest

from tests.cli.served import Served

pytestmark = pytest.mark.slow

SIGNUP = "name: signup\none_per_hero: true\ntasks:\n  ask: {wait_for_webhook: {timeout: 1h}}\n"


def test_a_second_start_for_a_hero_is_refused_unless_it_is_allowed(served: Served) -> None:
    (served.folder / "signup.yaml").write_text(SIGNUP)
    served.says("apply", "signup.yaml")
    run = served.tells("trigger", "signup", "--hero", "user:1")["run_id"]
    told = served.says("trigger", "signup", "--hero", "user:1", code=1)
    assert f"there is an active run of 'signup' for user 1: {run}" in " ".join(told.split())
    other = served.tells("trigger", "signup", "--hero", "user:1", "--allow-multiple")["run_id"]
    found = served.tells("runs", "list", "--hero", "user:1", "--status", "active")
    assert {one["id"] for one in found} == {run, other}
    assert served.tells("runs", "list", "--hero", "user:1", "--status", "finished") == []
    assert "cannot be combined" in served.says("runs", "list", "--status", "ready,paused", code=2)


def test_a_timeline_tells_all_runs_of_a_hero(served: Served) -> None:
    for name in ("echo", "fail"):
        served.says("trigger", name, "--hero", "order:9", "--wait", code=int(name == "fail"))
    told = served.says("runs", "timeline", "order:9")
    assert told.startswith("order:9  2 runs")
    assert re.search(r"── \w+ \d{4}-\d\d-\d\d ──", told)
    lines = [line for line in told.splitlines() if "▌" in line]
    assert len([line for line in lines if "run begins  run_" in line]) == 2
    assert re.search(r"\d\d:\d\d:\d\d\.\d{3}  ▌echo  ✓ a +success", told)
    assert re.search(r"▌fail  ✗ bad +failed.*no money left", told)
    assert len(served.tells("runs", "timeline", "order:9", "-n", "3")) == 3
    assert served.says("runs", "timeline", "order:nobody") == "nothing has happened to order:nobody\n"
    assert "colon" in served.says("runs", "timeline", "order", code=2)


def test_a_history_tells_each_attempt(served: Served) -> None:
    run = served.tells("trigger", "fail", "--wait", code=1)["id"]
    told = served.says("runs", "history", run)
    assert re.search(r"good +1 +✓ completed +success", told)
    assert re.search(r"bad +1 +✗ failed +failed .*no money left", told)
    assert [row["outcome"] for row in served.tells("runs", "history", run)] == ["success", "failed"]
    waiting = served.tells("trigger", "nap")["run_id"]
    assert served.says("runs", "history", waiting) == ""
    served.says("runs", "cancel", waiting)
    assert re.search(r"a +1 +⊘ cancelled +cancelled", served.says("runs", "history", waiting))
