"""Where the code of an action or of a function's step failed: every command that shows the run shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.program import detent

pytestmark = pytest.mark.slow

CODE = """\
import detent
from detent import Run, workflow


@detent.action("shop.pay")
def pay() -> int:
    return refuse()


def refuse() -> int:
    raise ValueError("the card was refused")


@workflow(on_exception="fail")
async def checkout(run: Run) -> int:
    return await run.step(refuse, retry=0)
"""
FLOW = "name: paying\ntasks:\n  charge: {action: shop.pay, retries: 0}\n"
#: The line of user code that raised, as Python shows it.
PLACE = re.compile(r'File "\S+shop\.py", line 11, in refuse\s+raise ValueError\("the card was refused"\)')


@pytest.fixture
def shop(folder: Path) -> Path:
    (folder / "shop.py").write_text(CODE)
    (folder / "paying.yaml").write_text(FLOW)
    return folder


@pytest.mark.parametrize("target", [("paying.yaml", "--import", "shop"), ("shop:checkout",)])
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
