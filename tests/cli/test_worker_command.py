"""`detent worker`: what it serves, and how it begins anew when its code changes."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.cli.program import detent, started

pytestmark = pytest.mark.slow

CODE = """\
from detent import Run, Workflow, action, step, workflow


@action("shop.stock")
def stock() -> int:
    return 3


class Signup(Workflow):
    queue = "onboarding"

    @step
    def welcome(self) -> str:
        return "hello"


@workflow
async def checkout(run: Run) -> None:
    return None
"""


@pytest.fixture
def shop(folder: Path) -> Path:
    (folder / "shop").mkdir()
    (folder / "shop" / "__init__.py").write_text("")
    (folder / "shop" / "workflows.py").write_text(CODE)
    return folder


def test_a_worker_says_which_workflows_actions_and_queues_it_serves(shop: Path) -> None:
    with started(shop, "worker", "shop.workflows", "--queues", "onboarding,mail") as worker:
        worker.wait_for("the worker is ready")
        assert "Signup" in worker.text
        assert "shop.workflows:checkout" in worker.text
        assert "shop.stock" in worker.text
        assert "onboarding, mail" in worker.text
        assert worker.stop() == 0


def test_a_mistake_in_a_module_is_shown_with_its_place(shop: Path) -> None:
    (shop / "shop" / "workflows.py").write_text("import nothing_of_that_name\n")
    done = detent(shop, "worker", "shop.workflows")
    assert done.returncode == 2
    assert 'workflows.py", line 1' in done.stderr
    assert "nothing_of_that_name" in done.stderr
    assert "importlib" not in done.stderr


def test_a_worker_begins_anew_when_its_code_changes_and_waits_for_a_mistake_to_be_mended(shop: Path) -> None:
    file = shop / "shop" / "workflows.py"
    with started(shop, "worker", "shop.workflows", "--reload") as worker:
        worker.wait_for(r"the worker is ready")
        file.write_text(CODE.replace("class Signup", "class Welcome"))
        worker.wait_for(r"(?s)restarting: shop/workflows.py changed.*stopping.*Welcome.*the worker is ready")
        file.write_text("def broken(:\n")
        worker.wait_for(r"(?s)restarting.*SyntaxError")
        file.write_text(CODE)
        worker.wait_for(r"(?s)SyntaxError.*restarting.*Signup.*the worker is ready")
        assert worker.stop(signal.SIGINT) == 0
        assert worker.text.count("restarting: ") == 3


def test_reload_needs_modules_to_watch(folder: Path) -> None:
    done = detent(folder, "worker", "--reload")
    assert (done.returncode, "name the modules" in done.stderr) == (2, True)
