"""`detent run module:Name`: workflows in Python, here and now."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path

import pytest

from tests.cli.program import PATIENCE, detent, started

pytestmark = pytest.mark.slow

CODE = """\
from detent import Run, Workflow, days, step, workflow


class Signup(Workflow):
    queue = "onboarding"

    @step
    def welcome(self):
        return f"hello {self.hero_type} {self.hero_id}, {self.input['plan']}"

    @step(wait=days(2))
    def remind(self):
        return {"after": self.results["welcome"]}


class Paying(Workflow):
    name = "paying"

    @step
    def charge(self):
        raise ValueError("the card was refused")


def charge(amount: int) -> int:
    return 2 * amount


@workflow
async def checkout(run: Run, amount: int) -> dict:
    paid = await run.step(charge, amount)
    await run.sleep("3d")
    answer = await run.wait("approval", timeout="1h")
    told = await run.signal("paid")
    return {"paid": paid, "answer": answer, "told": told}


@workflow
async def family(run: Run) -> str:
    return await run.child(napping)


@workflow
async def napping(run: Run) -> str:
    await run.sleep("30d")
    return "awake"
"""
ONE = """\
from detent import Workflow, step


class Greeting(Workflow):
    @step
    def greet(self):
        return "hello"
"""


@pytest.fixture
def shop(folder: Path) -> Path:
    (folder / "shop").mkdir()
    (folder / "shop" / "__init__.py").write_text("from shop.workflows import Signup\n")
    (folder / "shop" / "workflows.py").write_text(CODE)
    (folder / "greetings.py").write_text(ONE)
    (folder / "empty.py").write_text("")
    return folder


def test_a_class_runs_for_a_hero_with_its_waits_jumped_over(shop: Path) -> None:
    done = detent(shop, "run", "shop.workflows:Signup", "--hero", "User:7", "-d", '{"plan": "free"}', "--fast")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^Signup run_", done.stdout)
    assert re.search(r"welcome +success", done.stdout)
    assert re.search(r"remind +success", done.stdout)
    assert "completed in 2d" in done.stdout
    assert '"after": "hello User 7, free"' in done.stdout
    assert not (shop / "detent.db").exists()


def test_a_module_with_one_workflow_needs_no_name(shop: Path) -> None:
    done = detent(shop, "run", "greetings", TMPDIR=str(shop))
    assert (done.returncode, '"hello"' in done.stdout) == (0, True), done.stdout + done.stderr
    assert [path.name for path in shop.iterdir() if path.name.startswith("detent-run-")] == []


def test_a_workflow_is_found_by_its_own_name_and_where_it_was_imported_to(shop: Path) -> None:
    assert "charge" in detent(shop, "graph", "shop.workflows:paying").stdout
    assert "welcome" in detent(shop, "graph", "shop:Signup").stdout
    assert "welcome" in detent(shop, "graph", "shop").stdout


def test_a_function_gets_its_answers_and_signals(shop: Path) -> None:
    done = detent(
        shop, "run", "shop.workflows:checkout", "--input", '{"amount": 21}', "--fast",
        "--answer", 'approval={"ok": true}', "--answer", 'paid="by card"',
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^charge +success", done.stdout, re.MULTILINE)
    assert '"paid": 42' in done.stdout
    assert '"ok": true' in done.stdout
    assert '"told": "by card"' in done.stdout
    assert re.search(r"completed in 3d", done.stdout)


def test_a_function_that_waits_says_how_to_answer_it(shop: Path) -> None:
    (shop / "asks.py").write_text(
        "from detent import Run, workflow\n@workflow\nasync def asks(run: Run):\n    return await run.signal('paid')\n"
    )
    with started(shop, "run", "asks", TMPDIR=str(shop)) as program:
        words = program.wait_for(r"paid waits for a signal: detent (runs signal run_\S+ paid --url http://\S+)")[1]
        assert detent(shop, *words.split(), '"by hand"').returncode == 0
        program.wait_for(r'completed in[^"]*"by hand"')
        assert program.process.wait(timeout=120) == 0


def test_the_clock_jumps_over_the_sleeps_of_children_too(shop: Path) -> None:
    done = detent(shop, "run", "shop.workflows:family", "--fast")
    assert (done.returncode, "completed in 30d" in done.stdout, "awake" in done.stdout) == (0, True, True), done.stdout


#: A child is on record before its own run is written. Here every run but the first is there at the second look only.
LATE = """\
from detent.commands.runs import RunCommands
from detent.errors import NotFound
from shop.workflows import family

get, seen = RunCommands.get, []

async def late(self, run):
    if run not in seen:
        seen.append(run)
        if len(seen) > 1:
            raise NotFound(run)
    return await get(self, run)

RunCommands.get = late
"""


def test_a_child_that_is_not_written_yet_is_waited_for(shop: Path) -> None:
    (shop / "late.py").write_text(LATE)
    done = detent(shop, "run", "late:family", "--fast")
    assert (done.returncode, "awake" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_run_that_its_code_paused_is_shown_with_its_reason_and_kept(shop: Path) -> None:
    done = detent(shop, "run", "shop.workflows:Paying", TMPDIR=str(shop))
    assert done.returncode == 1
    assert "paused" in done.stdout
    assert "an exception in step 'charge'" in done.stdout
    assert 'workflows.py", line 21, in charge' in done.stdout
    assert "ValueError: the card was refused" in done.stdout
    assert "sequence.py" not in done.stdout
    [database] = re.findall(r"kept: (\S+)", done.stdout)
    assert f"detent worker shop.workflows --database sqlite:///{database}" in done.stdout
    listed = detent(shop, "runs", "list", "--database", f"sqlite:///{database}")
    assert re.search(r"paying +‖ paused", listed.stdout)


def test_an_interrupted_run_in_python_is_kept(shop: Path) -> None:
    with started(shop, "run", "shop.workflows:napping", TMPDIR=str(shop)) as program:
        program.wait_for(r"@sleep +sleeping")
        assert program.stop(signal.SIGINT) == 1
        assert "kept: " in program.text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["shop.workflow:Signup"], "there is no module 'shop.workflow' in {folder}; "),
        (["nothing.here:Signup"], "there is no module 'nothing' in {folder}; "),
        (["greeting"], "there is no file and no module 'greeting' in {folder}; "),
        (["shop.workflows.Signup"], "'shop.workflows' is a module; write shop.workflows:Signup"),
        (["shop.workflows:Sign"], "the module shop.workflows has no workflow 'Sign'; it has Paying, Signup, checkout"),
        (["shop.workflows:charge"], "shop.workflows:charge is not a workflow; the module has Paying, Signup, checkout"),
        (
            ["shop.workflows"],
            "the module shop.workflows has several workflows; name one of them: shop.workflows:Paying, shop.workf",
        ),
        (["empty"], "the module empty has no workflow; one is a class of detent.Workflow or a function with @workflow"),
        (["shop/workflows.py"], "is Python: write shop.workflows:NAME"),
        (["shop/workflows.py:Signup"], "is Python: write shop.workflows:Signup"),
        (["greetings", "--hero", "User"], "--hero: 'User' is not a valid hero; write for example User:7"),
        (["greetings", "--answer", "ask={}"], "this workflow waits for nothing"),
        (["shop.workflows:checkout", "--fast"], "amount"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_cannot_be_run_is_told_in_a_few_words(shop: Path, words: list[str], told: str) -> None:
    done = detent(shop, "run", *words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert told.format(folder=shop) in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert "Traceback" not in done.stderr


def test_a_module_that_breaks_is_shown_with_its_place(shop: Path) -> None:
    (shop / "broken.py").write_text("import nothing_of_that_name\n")
    done = detent(shop, "run", "broken:Signup")
    assert done.returncode == 2
    assert 'broken.py", line 1' in done.stderr
    assert "there is no module" not in done.stderr


def test_a_private_run_leaves_queues_and_outboxes_of_the_settings_alone(shop: Path) -> None:
    (shop / "detent.toml").write_text('queues = ["mail"]\noutbox_urls = ["sqlite:///shop.db"]\n')
    done = detent(shop, "run", "shop.workflows:Signup", "--hero", "User:7", "-d", '{"plan": "free"}', "--fast")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (shop / "shop.db").exists()


def test_parent_and_child_name_each_other(shop: Path) -> None:
    with started(shop, "serve", "--port", "0", "--import", "shop.workflows") as server:
        server.wait_for(r"answers at (http://\S+)")
        parent = detent(shop, "trigger", "family").stdout.strip()
        until = time.monotonic() + PATIENCE
        while not (found := re.search(r"children +(run_\w+) +\S+ \w+ +napping", show(shop, parent))):
            assert time.monotonic() < until, show(shop, parent)
        child = found[1]
        assert re.search(rf"parent +{parent} +\S+ running +family", show(shop, child))
        assert "children" not in show(shop, child)


def show(shop: Path, run: str) -> str:
    return detent(shop, "runs", "show", run).stdout
