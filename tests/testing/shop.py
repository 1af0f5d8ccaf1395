"""Workflows of every form, about one small shop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from detent.python.classes.workflow import Workflow
from detent.python.decorators import cancel_if, step
from detent.python.flow import reattempt
from detent.python.functions.run import Run
from detent.python.functions.workflow import workflow
from detent.steps.actions import action
from detent.values.durations import days

ORDER = """
name: order
tasks:
  reserve: {action: core.echo, with: {item: "{{trigger.body.item}}"}}
  cool-off: {needs: [reserve], sleep: 3d}
  approve: {needs: [cool-off], wait_for_webhook: {}}
  bill: {needs: [approve], action: core.echo, with: {by: "{{tasks.approve.body.by}}"}}
  pack: {needs: [approve], action: core.echo}
  gift:
    needs: [approve]
    if: "(tasks.approve.body.gift ?? false) == true"
    action: core.echo
  done: {needs: [bill, pack], action: core.echo, with: {by: "{{tasks.bill.output.by}}"}}
"""


@action("testing.shop.stock")
def stock(item: str) -> int:
    return len(item)


@dataclass
class User:
    id: int = 7
    name: str = "Ada"
    is_active: bool = False
    is_gone: bool = False
    mails: list[str] = field(default_factory=list)


@dataclass
class SignupState:
    sent: int = 0


class Signup(Workflow):
    """Welcomes, reminds after two days, and completes a week later."""

    name = "testing-signup"
    hero: User
    state: SignupState

    @cancel_if
    def gone(self) -> bool:
        return self.hero.is_gone

    @step
    async def welcome(self) -> str:
        self.state.sent += 1
        self.hero.mails.append("welcome")
        await asyncio.sleep(1)
        return f"Hello, {self.hero.name}"

    @step(wait=days(2), skip_if=lambda self: self.hero.is_active)
    def remind(self) -> None:
        self.state.sent += 1
        self.hero.mails.append("remind")

    @step(wait=days(7), on_exception=reattempt(max=3, wait="1h", factor=1))
    def complete(self) -> dict[str, Any]:
        self.hero.mails.append("complete")
        return {"sent": self.state.sent, "said": self.results["welcome"]}


async def charge(amount: int) -> int:
    return amount * 100


def ship(amount: int) -> str:
    return f"shipped {amount}"


def invoice(amount: int) -> str:
    return f"invoiced {amount}"


@workflow(name="testing-checkout")
async def checkout(run: Run, amount: int) -> list[Any]:
    """Charges, sleeps, asks, and does two things at once."""
    cents = await run.step(charge, amount)
    await run.sleep("3d")
    approved = await run.wait("approval", timeout="1h")
    both = await asyncio.gather(run.step(ship, amount), run.step(invoice, amount))
    paid = await run.signal("paid")
    return [cents, approved, *both, paid]


@workflow(name="testing-child")
async def child(run: Run, number: int) -> str:
    """Sleeps and says its number."""
    await run.sleep("1d")
    return f"child says {number}"


@workflow(name="testing-parent")
async def parent(run: Run, number: int) -> list[Any]:
    """Has two children, one after the other."""
    return [await run.child(child, number), await run.child(child, number + 1)]
