"""One class has what all onboardings of a company share. Each subclass adds its own steps and changes no other class.

python examples/python/inheritance.py
"""

from __future__ import annotations

from dataclasses import dataclass

from detent import Workflow, cancel_if, days, heroes, step
from detent.testing import speedrun


@dataclass
class Member:
    id: int
    name: str
    deactivated: bool = False
    subscription_expired: bool = False


MEMBERS = {"1": Member(1, "Ann"), "2": Member(2, "Ben", deactivated=True), "3": Member(3, "Cleo", False, True)}
heroes.register("Member", load=MEMBERS.get, cls=Member)


class BaseOnboarding(Workflow, abstract=True):
    """An abstract class: it has a step, but is not a workflow itself."""

    queue = "workflows"
    hero: Member

    @cancel_if
    def deactivated(self) -> bool:
        return self.hero.deactivated

    @step
    def say_hello(self) -> str:
        return f"hello {self.hero.name}"


class PremiumOnboarding(BaseOnboarding):
    queue = "premium"
    cancel_if(lambda self: self.hero.subscription_expired)

    @step
    def send_premium_welcome(self) -> str:
        return f"{self.hero.name}, here is your gold card"

    step("check_identity", lambda self: True, before_step="say_hello")


class GentleOnboarding(BaseOnboarding):
    @step(wait=days(1))
    def say_hello(self) -> str:
        return super().say_hello() + ", take your time"


def main() -> None:
    for member in MEMBERS.values():
        print(member.name, speedrun(PremiumOnboarding, hero=member))
    print(speedrun(GentleOnboarding, hero=MEMBERS["1"]).output)


if __name__ == "__main__":
    main()
