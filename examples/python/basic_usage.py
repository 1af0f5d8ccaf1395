"""A signup: a mail at once, a reminder two days later, and a week after that onboarding is complete.

python examples/python/basic_usage.py
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import detent
from detent import Workflow, days, heroes, step
from detent.testing import speedrun_async


@dataclass
class User:
    id: int
    email: str
    onboarding_completed: bool = False


USERS = {"1": User(1, "ann@example.com")}
heroes.register("User", load=USERS.get, cls=User)


class SignupWorkflow(Workflow):
    hero: User

    @step
    async def send_welcome_email(self) -> str:
        return f"welcome, {self.hero.email}"

    @step(wait=days(2))
    def send_reminder(self) -> str:
        return f"remember us, {self.hero.email}"

    @step(wait=days(7))
    def complete_onboarding(self) -> None:
        self.hero.onboarding_completed = True


async def main() -> None:
    ann = USERS["1"]
    async with detent.node("memory://"):
        run = await detent.start(SignupWorkflow, hero=ann)
        print("started:", await run.status())
        try:
            await detent.start(SignupWorkflow, hero=ann)
        except detent.AlreadyActive as error:
            print("one at a time:", error)
        await run.cancel()
    # A speedrun takes no real time: nine days pass at once.
    print(await speedrun_async(SignupWorkflow, hero=ann))
    print("onboarded:", ann.onboarding_completed)


if __name__ == "__main__":
    asyncio.run(main())
