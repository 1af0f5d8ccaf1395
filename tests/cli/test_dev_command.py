"""`detent dev`: a newcomer sees real HTTP steps, a sleep and a callback succeed, and can go on from there."""

from __future__ import annotations

import json
import re
import signal
import urllib.request
from pathlib import Path

import pytest

from detent.examples import EXAMPLES
from tests.cli.program import detent, started

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_all_examples_complete_within_a_minute_and_it_leaves_gently(folder: Path, how: signal.Signals) -> None:
    with started(folder, "dev", "--port", "0") as dev:
        base = dev.wait_for(r"page +(http://127\.0\.0\.1:\d+)")[1]
        dev.wait_for("Try it", patience=60)
        wanted = sorted(example.name for example in EXAMPLES for _ in example.inputs)
        assert sorted(re.findall(r"completed  (\S+)", dev.text)) == wanted
        assert "steps may call this machine" in dev.text
        trigger = f"{base}/api/v1/workflows/order-processing/trigger"
        assert f"curl {trigger} -d" in dev.text
        with urllib.request.urlopen(trigger, data=b'{"order_id": 7}') as answer:
            run = json.load(answer)["data"]["run_id"]
        dev.wait_for(rf"completed  order-processing .*{run}")
        assert (folder / "detent.db").exists()
        assert dev.stop(how) == 0
        assert "stopped" in dev.text
        assert "Traceback" not in dev.text
    if how is signal.SIGTERM:
        with started(folder, "dev", "--port", "0") as again:
            again.wait_for("Try it")
            assert "completed  " not in again.text, "the examples have run in this database"
            assert again.stop() == 0


def test_commands_typed_beside_it_find_its_engine(folder: Path) -> None:
    (folder / "echo.yaml").write_text("name: echo\ntasks:\n  a: {action: core.echo, with: {x: 1}}\n")
    with started(folder, "dev", "--port", "0", "--no-examples") as dev:
        dev.wait_for("Try it")
        assert "example" not in dev.text
        assert "order-processing" not in dev.text
        assert detent(folder, "apply", "echo.yaml").stdout.split() == ["created", "echo", "version", "1"]
        run = detent(folder, "trigger", "echo").stdout.strip()
        dev.wait_for(rf"completed  echo .*{run}")
        assert run in detent(folder, "runs", "list").stdout
        assert json.loads(detent(folder, "runs", "show", run, "--json").stdout)["output"] == {"x": 1}


@pytest.mark.parametrize("other", ["postgresql://nobody@127.0.0.1:1/none", "memory://"])
def test_a_setting_that_names_no_sqlite_file_is_left_alone_and_it_says_so(folder: Path, other: str) -> None:
    with started(folder, "dev", "--port", "0", "--no-examples", DETENT_DATABASE_URL=other) as dev:
        dev.wait_for(r"uses sqlite:///detent\.db instead")
        dev.wait_for("Try it")
        assert (folder / "detent.db").exists()


def test_a_sqlite_file_of_the_settings_is_used(folder: Path) -> None:
    variables = {"DETENT_DATABASE_URL": "sqlite:///mine.db"}
    with started(folder, "dev", "--port", "0", "--no-examples", **variables) as dev:
        dev.wait_for("Try it")
        assert (folder / "mine.db").exists()
        assert not (folder / "detent.db").exists()


def test_it_starts_again_on_what_it_left_behind(folder: Path) -> None:
    for _ in range(2):
        with started(folder, "dev", "--port", "0", "--no-examples") as dev:
            dev.wait_for("Try it")
            assert dev.stop() == 0
