"""The files that `detent init` writes. NAME stands for the name of the project or workflow."""

from __future__ import annotations

from typing import Final

IGNORED: Final = "detent.db*"

_SETTINGS: Final = """\
# Settings of Detent for this folder. A flag or a variable such as DETENT_PORT is stronger.
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
    """A run is about its hero, and keeps only the type and the id: before each step the hero is loaded anew. Ask your
    database here; None says that the user is gone, which cancels the run."""
    return USERS.get(id)


class Signup(Workflow):
    """A class: its steps are done one after the other, however often the machine is started anew meanwhile."""

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
    """A step of a function is a function: its result is kept, and read again after a crash."""
    return f"receipt for {amount}"


@workflow
async def checkout(run: Run, amount: int) -> dict[str, object]:
    """A function: any Python between its steps."""
    receipt = await run.step(charge, amount, retry=3)
    if amount > 100:
        answer = await run.wait("approval", timeout="3d")  # somebody calls its URL
        return {"receipt": receipt, "approved": answer}
    return {"receipt": receipt}
'''
_TESTS: Final = '''\
"""Tests of the workflows: days pass in a moment, and every crash is tried."""

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
    assert set(report.ran_twice) <= {"welcome", "remind", "complete"}  # effects are done at least once
'''
_README: Final = """\
# NAME

    pytest                   # tries the workflows of workflows.py: days pass in a moment, every crash is tried
    detent serve --reload    # runs them, and begins anew when you change them; its settings are in detent.toml

While it serves, in another terminal:

    detent trigger signup --hero User:7
    detent trigger checkout --input '{"amount": 50}' --wait

`detent graph workflows:Signup` draws one. In production leave out `--reload`.
"""
_STEPS: Final = """\
# A workflow is a list of steps. `detent run NAME.yaml` runs it here and now.
name: NAME
description: Says hello, takes a breath, and sums up.

tasks:
  # A step does one thing. What stands in double braces is filled in when the step runs;
  # `trigger.body` is what the run was started with, `??` gives what to take if it is missing.
  greet:
    action: core.echo
    with:
      text: "Hello, {{trigger.body.name ?? 'world'}}"

  # `needs` says what must have ended before. A sleep survives a restart, be it two seconds or two weeks.
  breathe:
    needs: [greet]
    sleep: 2s

  # The result of a step is there for those after it. Instead of an action, a step may call a URL:
  #   url: "https://example.org/orders/{{trigger.body.id}}"
  #   method: GET
  # or wait until somebody calls it back:
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
- `detent trigger NAME --input '{"name": "Ada"}' --wait` starts a run of it, and shows how it goes.
"""
DJANGO: Final = """\
In settings.py:
    INSTALLED_APPS = [..., "detent.contrib.django"]
    DETENT = {"HEROES": ["shop.Order"]}        # models that runs are about

Put workflows into workflows.py of any app; they are found by themselves. In a view:
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
    """A project in Python."""
    return {
        "workflows.py": _WORKFLOWS,
        "test_workflows.py": _TESTS,
        "detent.toml": f'{_SETTINGS}import = ["workflows"]\n',
        "README.md": _README.replace("NAME", name),
    }


def steps_project(name: str) -> dict[str, str]:
    """A project of one workflow file."""
    return {
        f"{name}.yaml": _STEPS.replace("NAME", name),
        "detent.toml": _SETTINGS,
        "README.md": _STEPS_README.replace("NAME", name),
    }
