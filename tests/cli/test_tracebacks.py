"""Where the code of an action or of a step failed: every command that shows the run shows it, and so does the log."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.program import detent, started

pytestmark = pytest.mark.slow

CODE = """\
import asyncio

import detent
from detent import Run, Workflow, step, workflow


@detent.action("shop.pay")
def pay() -> int:
    return refuse()


def refuse() -> int:
    raise ValueError("the card was refused")


@workflow(on_exception="fail")
async def checkout(run: Run) -> int:
    return await run.step(refuse, retry=0)


class Leaving(Workflow):
    @step(on_exception="cancel")
    def pay(self) -> int:
        return refuse()


class Several(Workflow):
    @step(on_exception="cancel")
    async def pay(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(refuse))


@workflow(on_exception="fail")
async def parent(run: Run) -> int:
    return await run.child(child)


@workflow(on_exception="fail")
async def child(run: Run) -> int:
    return refuse()
"""
FLOW = "name: paying\ntasks:\n  charge: {action: shop.pay, retries: 0}\n"
#: The line of user code that raised, as Python shows it.
PLACE = re.compile(r'File "\S+shop\.py", line 13, in refuse[\s|]+raise ValueError\("the card was refused"\)')


TARGETS = [("paying.yaml", "--import", "shop"), ("shop:checkout",), ("shop:Leaving",), ("shop:Several",)]


@pytest.fixture
def shop(folder: Path) -> Path:
    (folder / "shop.py").write_text(CODE)
    (folder / "paying.yaml").write_text(FLOW)
    return folder


@pytest.mark.parametrize("target", TARGETS)
def test_every_view_of_a_failed_run_shows_the_line_that_raised(shop: Path, target: tuple[str, ...]) -> None:
    done = detent(shop, "run", *target)
    assert done.returncode == 1, done.stdout + done.stderr
    assert PLACE.search(done.stdout), done.stdout
    assert "detent/steps/" not in done.stdout
    found, kept = re.search(r"run_\w+", done.stdout), re.search(r"kept: (\S+)", done.stdout)
    assert found
    assert kept
    where = (found[0], "--database", f"sqlite:///{kept[1]}")
    assert PLACE.search(detent(shop, "runs", "show", *where).stdout)
    assert PLACE.search(detent(shop, "runs", "history", *where, "--traceback").stdout)
    assert not PLACE.search(detent(shop, "runs", "history", *where).stdout)


def test_the_log_shows_the_line_that_raised(shop: Path) -> None:
    with started(shop, "serve", "--import", "shop", "--port", "0") as server:
        url = server.wait_for(r"answers at (http://\S+)")[1]
        detent(shop, "apply", "paying.yaml", "--import", "shop", "--url", url)
        for workflow, step in (("paying", "charge"), ("checkout", "refuse"), ("Leaving", "pay"), ("Several", "pay")):
            run = detent(shop, "trigger", workflow, "--url", url).stdout.strip()
            line = json.loads(
                server.wait_for(rf'\{{"run": "{run}"[^\n]*"step": "{step}"[^\n]*"step\.raised"[^\n]*\}}')[0]
            )
            assert PLACE.search(line["traceback"]), line


def test_words_between_colons_stay_as_they_are(shop: Path) -> None:
    assert "\nparent: ChildFailed: child:child: run_" in detent(shop, "run", "shop:parent").stdout
