"""A run whose hero is deleted is cancelled before its next step, unless its class allows it to go on.

python examples/python/hero_deletion.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from detent import Workflow, days, heroes, step
from detent.testing import speedrun


@dataclass
class Account:
    id: int


ACCOUNTS = {"1": Account(1)}
ARCHIVED: list[str] = []


@heroes.loader("Account", cls=Account)
async def load(account: str) -> Account | None:
    return ACCOUNTS.get(account)


class ChargeWorkflow(Workflow):
    hero: Account

    @step
    def close_the_books(self) -> None:
        ACCOUNTS.pop(str(self.hero.id), None)  # as if another program deleted the account

    @step(wait=days(30))
    def charge(self) -> None:
        raise AssertionError("nobody is left to be charged")


class DataCleanupWorkflow(Workflow):
    may_proceed_without_hero = True
    hero: Account | None

    @step
    def cleanup(self) -> dict[str, Any]:
        ARCHIVED.append(f"account {self.hero_id}")
        return {"hero": self.hero, "hero_id": self.hero_id}


def main() -> None:
    print(speedrun(ChargeWorkflow, hero=("Account", 1)))
    print(speedrun(DataCleanupWorkflow, hero=("Account", 1)), ARCHIVED)


if __name__ == "__main__":
    main()
