"""`detent init`: write a small project to begin with."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Annotated, Final

import typer
from rich.markup import escape

from detent.cli.options import wrong
from detent.cli.output.terminal import out
from detent.errors import InvalidInput

# The files that `detent init` writes. NAME is replaced by the name of the project or workflow.


IGNORED: Final = "detent.db*"

_SETTINGS: Final = """\
# Settings of Detent for this folder. A flag, or a variable such as DETENT_PORT, overrides them.
database_url = "sqlite:///detent.db"
port = 8080
"""
_WORKFLOWS: Final = '''\
"""The workflows of this project. Detent loads this module because detent.toml names it."""

from dataclasses import dataclass

from detent import Run, Workflow, days, heroes, reattempt, step, workflow


@dataclass
class User:
    id: str
    name: str
    is_active: bool = False


USERS = {"7": User("7", "Ada"), "8": User("8", "Bob", is_active=True)}


@heroes.loader("User", User)
def load_user(id: str) -> User | None:
    """Load a user for a run. The run stores only the type and the id of its hero, and loads the hero before each step.
    Query your database here. If this returns None, the user is gone, and the run is cancelled."""
    return USERS.get(id)


class Signup(Workflow):
    """A workflow class: its steps run one after the other, over any number of restarts of the machine."""

    name = "signup"
    hero: User

    @step
    def welcome(self) -> str:
        return f"Welcome, {self.hero.name}!"

    @step(wait=days(2), skip_if=lambda self: self.hero.is_active)
    def remind(self) -> str:
        return f"Are you still there, {self.hero.name}?"

    @step(on_exception=reattempt(max=5, wait="1m"))
    def complete(self) -> str:
        return self.results["welcome"]


async def charge(amount: int) -> str:
    """A step of a durable function. Its result is stored, and read again after a crash."""
    return f"receipt for {amount}"


@workflow
async def checkout(run: Run, amount: int) -> dict[str, object]:
    """A durable function: it may use any Python between its steps."""
    receipt = await run.step(charge, amount, retry=3)
    if amount > 100:
        answer = await run.wait("approval", timeout="3d")  # until its URL is called
        return {"receipt": receipt, "approved": answer}
    return {"receipt": receipt}
'''
_TESTS: Final = '''\
"""Tests of the workflows: days pass in a moment, and every possible crash is tested."""

from detent.testing import crash_matrix, speedrun
from workflows import USERS, Signup, checkout


def test_a_quiet_user_is_reminded_after_two_days():
    run = speedrun(Signup, hero=USERS["7"])
    assert run.route == ["welcome", "remind", "complete"]
    assert run.slept.days == 2
    assert run.output == "Welcome, Ada!"


def test_an_active_user_is_left_alone():
    assert speedrun(Signup, hero=USERS["8"]).route == ["welcome", "remind:skipped", "complete"]


def test_a_large_sum_needs_an_approval():
    run = speedrun(checkout, 250, answers={"approval": {"by": "Eve"}})
    assert run.output == {"receipt": "receipt for 250", "approved": {"by": "Eve"}}


def test_wherever_the_process_dies_the_end_is_the_same():
    report = crash_matrix(Signup, hero=USERS["7"])
    assert report.ending.status == "completed"
    assert set(report.ran_twice) <= {"welcome", "remind", "complete"}  # effects happen at least once
'''
_README: Final = """\
# NAME

    pip install pytest       # once, where it is missing
    pytest                   # tests the workflows of workflows.py: days pass in a moment, every crash is tested
    detent serve --reload    # runs them, and restarts when you change them; its settings are in detent.toml

While it serves, in another terminal:

    detent trigger signup --hero User:7
    detent trigger checkout --input '{"amount": 50}' --wait

`detent graph workflows:Signup` draws one. In production leave out `--reload`.
"""
_APP: Final = '''\
"""A web application with Detent inside it: `uvicorn app:app` serves both and runs the workflows."""

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field

import detent
from detent.client import NotFound
from workflows import checkout

mounted = detent.asgi()  # its settings are in detent.toml
app = FastAPI(lifespan=mounted.lifespan)  # starts Detent with the application, and drains it at the end
app.mount("/detent", mounted)  # its API, its callback URLs and its web page


class Purchase(BaseModel):
    amount: int = Field(ge=1, le=1_000_000)


@app.post("/purchases", status_code=202)
async def buy(purchase: Purchase) -> dict[str, str]:
    run = await detent.start(checkout, purchase.amount)
    return {"run": run.id}


@app.get("/purchases/{run}")
async def look(run: str) -> dict[str, object]:
    try:
        found = await detent.RunHandle(run).get()
    except NotFound:
        raise HTTPException(404, f"there is no purchase {run!r}") from None
    return {"status": found.status, "output": found.output}
'''
_APP_SETTINGS: Final = """\
# Settings of Detent for this folder. A variable such as DETENT_BASE_URL overrides them.
database_url = "sqlite:///detent.db"
base_url = "http://127.0.0.1:8000/detent"  # where it is reached, with the path of the mount
import = ["workflows"]
"""
_APP_README: Final = """\
# NAME

    pip install fastapi pytest    # once, where they are missing
    pytest                        # tests the workflows of workflows.py: days pass in a moment, every crash is tested
    uvicorn app:app               # serves the application and runs the workflows, in one process

While it serves, in another terminal in this folder:

    curl localhost:8000/purchases -H 'content-type: application/json' -d '{"amount": 50}'
    detent runs list
    detent keys create me --role admin    # a key to sign in with at http://127.0.0.1:8000/detent

A purchase above 100 waits for an approval: `detent runs show RUN` has the address that takes it.
"""
_STEPS: Final = """\
# A workflow is a list of steps. `detent run NAME.yaml` runs it here and now.
name: NAME
description: Says hello, takes a breath, and sums up.

tasks:
  # A step does one thing. The expression in double braces is evaluated when the step runs;
  # `trigger.body` is the input of the run, `??` is followed by a value for a missing input.
  greet:
    action: core.echo
    with:
      text: "Hello, {{trigger.body.name ?? 'world'}}"

  # `needs` lists the steps that must end before this one. A sleep survives a restart, of two seconds or two weeks.
  breathe:
    needs: [greet]
    sleep: 2s

  # Later steps can read the result of a step. Instead of an action, a step may call a URL:
  #   url: "https://example.org/orders/{{trigger.body.id}}"
  #   method: GET
  # or wait for a callback:
  #   wait_for_webhook: {timeout: 1h}
  sum-up:
    needs: [breathe]
    action: core.echo
    with:
      said: "{{tasks.greet.output.text}}"
"""
_STEPS_README: Final = """\
# NAME
- `detent run NAME.yaml` runs the workflow here and now.
- `detent serve` serves the API and runs workflows; its settings are in `detent.toml`.
- `detent apply NAME.yaml`, in another terminal, saves the workflow there.
- `detent trigger NAME --input '{"name": "Ada"}' --wait` starts a run of it, and shows its progress.
"""
DJANGO: Final = """\
In settings.py:
    INSTALLED_APPS = [..., "detent.contrib.django"]
    DETENT = {"HEROES": ["shop.Order"]}        # models that runs are about

Put workflows into workflows.py of any app; Detent finds them. In a view:
    with transaction.atomic():
        order = Order.objects.create(...)
        detent.sync.start(Fulfilment, hero=order, using="default")

Then:
    python manage.py detent_migrate            # makes the tables
    python manage.py detent_worker             # runs the workflows
"""
FLASK: Final = """\
Where the app is made:
    import detent
    detent.configure("postgresql://user@host/name")    # or leave it to detent.toml
    import workflows                                   # your classes and functions

In a view:
    run = detent.sync.start(Signup, hero=("User", user.id))
    return {"run": run.id}, 202

Beside the app:
    detent migrate                             # makes the tables
    detent worker workflows                    # runs the workflows
"""


def project(name: str) -> dict[str, str]:
    """Return the files of a project in Python by name."""
    return {
        "workflows.py": _WORKFLOWS,
        "test_workflows.py": _TESTS,
        "detent.toml": f'{_SETTINGS}import = ["workflows"]\n',
        "README.md": _README.replace("NAME", name),
    }


def fastapi_project(name: str) -> dict[str, str]:
    """Return the files of a web application with Detent inside it by name."""
    return {
        "app.py": _APP,
        "workflows.py": _WORKFLOWS,
        "test_workflows.py": _TESTS,
        "detent.toml": _APP_SETTINGS,
        "README.md": _APP_README.replace("NAME", name),
    }


def steps_project(name: str) -> dict[str, str]:
    """Return the files of a project with one workflow file by name."""
    return {
        f"{name}.yaml": _STEPS.replace("NAME", name),
        "detent.toml": _SETTINGS,
        "README.md": _STEPS_README.replace("NAME", name),
    }


_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_NAME: Final = 60
_FILES: Final = (".yaml", ".yml")


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder, this one if it is left out; or a workflow file to write.")
    ] = Path(),
    name: Annotated[
        str | None, typer.Option("--name", help="The name of the project; that of the folder if it is left out.")
    ] = None,
    steps: Annotated[bool, typer.Option("--steps", help="A workflow file (YAML) instead of Python.")] = False,
    fastapi: Annotated[
        bool, typer.Option("--fastapi", help="A web application in FastAPI with Detent inside it.")
    ] = False,
    django: Annotated[bool, typer.Option("--django", help="Print what a Django project needs; write nothing.")] = False,
    flask: Annotated[bool, typer.Option("--flask", help="Print what a Flask app needs; write nothing.")] = False,
) -> None:
    """Create a project that runs without changes: workflows, their tests, settings, a README. Existing files are not
    changed."""
    if django or flask:
        out.print(escape(DJANGO if django else FLASK), end="")
        return
    if folder.suffix in _FILES:
        folder, name, steps = folder.parent, name or folder.stem, True
    if fastapi and steps:
        raise wrong("--fastapi", "is a project in Python; leave out --steps and the name of a workflow file")
    chosen = _chosen(folder, name)
    files = (fastapi_project if fastapi else steps_project if steps else project)(chosen)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            _print_file(folder / file, "wrote" if _write(folder / file, text) else "kept")
        _print_file(folder / ".gitignore", _ignore(folder / ".gitignore"))
    except OSError as error:
        raise InvalidInput(f"cannot write {error.filename or folder}: {error.strerror or error}") from None
    go = "" if folder.resolve() == Path.cwd() else f"cd {escape(quote(str(folder)))} && "
    tests = "pytest" if find_spec("pytest") else "pip install pytest && pytest"
    first = f"detent run {chosen}.yaml" if steps else tests
    serve = "uvicorn app:app" if fastapi else "detent serve"
    if fastapi and find_spec("fastapi") is None:
        serve = f"pip install fastapi && {serve}"
    out.print(f"\n[bold]Next[/]\n  {go}{first}\n  {go}{serve}")


def _chosen(folder: Path, name: str | None) -> str:
    if name is None:
        words = re.findall(r"[a-z0-9]+", folder.resolve().name.lower())
        return "-".join(words)[:_LONGEST_NAME].rstrip("-") or "hello"
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise wrong(
            "--name", f"{name!r} is not a valid name; write small letters, digits and hyphens, such as order-processing"
        )
    return name


def _write(file: Path, text: str) -> bool:
    """Create a file. Return False if it exists already."""
    try:
        with file.open("x") as new:
            new.write(text)
    except FileExistsError:
        return False
    return True


def _ignore(file: Path) -> str:
    """Exclude the database from version control: add a line to `.gitignore` if it is missing. Return what was done."""
    if _write(file, f"{IGNORED}\n"):
        return "wrote"
    old = file.read_text()
    if IGNORED in old.split():
        return "kept"
    with file.open("a") as more:
        more.write(("" if not old or old.endswith("\n") else "\n") + f"{IGNORED}\n")
    return "added to"


def _print_file(file: Path, what: str) -> None:
    colour = "bright_black" if what == "kept" else "green"
    out.print(f"[{colour}]{what:<8}[/]  {escape(str(file))}")


def add_to(app: typer.Typer) -> None:
    app.command()(init)
