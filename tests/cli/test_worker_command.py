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


def test_a_server_begins_anew_when_its_code_changes_and_answers_again(shop: Path) -> None:
    file = shop / "shop" / "workflows.py"
    with started(shop, "serve", "--import", "shop.workflows", "--port", "0", "--reload") as server:
        url = server.wait_for(r"answers at (http://\S+)")[1]
        assert "Signup" in detent(shop, "workflows", "list", "--url", url).stdout
        file.write_text(CODE.replace("class Signup", "class Welcome"))
        pattern = r"(?s)restarting: shop/workflows.py changed.*stopping.*answers at (http://\S+)"
        url = server.wait_for(pattern)[1]
        assert "Welcome" in detent(shop, "workflows", "list", "--url", url).stdout
        assert server.stop() == 0
    assert "what to watch" in detent(shop, "serve", "--reload").stderr


def test_a_worker_without_modules_says_that_it_runs_workflow_files_only(shop: Path) -> None:
    with started(shop, "worker") as worker:
        worker.wait_for(r"(?s)no modules are named.*the worker is ready")
        assert worker.stop() == 0


def test_a_workflow_in_python_is_drawn_by_its_module_and_name(shop: Path) -> None:
    assert "welcome" in detent(shop, "graph", "shop.workflows:Signup").stdout
    unknown = detent(shop, "graph", "shop.workflows:Nothing")
    assert (unknown.returncode, "has no workflow 'Nothing'; it has Signup, checkout" in unknown.stderr) == (2, True)


@pytest.mark.parametrize("command", ["run", "validate", "graph"])
def test_whoever_gives_a_python_file_is_told_what_to_type(shop: Path, command: str) -> None:
    done = detent(shop, command, "shop/workflows.py")
    assert done.returncode == 2
    assert "`detent run shop.workflows:NAME`" in done.stderr
    assert "`detent serve --import shop.workflows`" in done.stderr


@pytest.mark.parametrize(
    ("address", "told"),
    [("", "--database: must not be empty"), ("postgresql+psycopg://a@b/c", "write postgresql://...")],
)
def test_an_address_of_a_database_that_cannot_be_used_says_what_to_write(folder: Path, address: str, told: str) -> None:
    assert told in detent(folder, "runs", "list", "--database", address).stderr
