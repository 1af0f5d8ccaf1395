"""Policies decide per step and per class of errors what an exception does to a run. A step may also decide itself.

python examples/python/exception_handling.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import repeat

from detent import Workflow, heroes, reattempt, step
from detent.testing import speedrun


class InvalidCard(Exception):
    pass


class RateLimited(Exception):
    def __init__(self, retry_after: float) -> None:
        super().__init__(f"slow down for {retry_after:g} s")
        self.retry_after = retry_after


class OutOfStock(Exception):
    pass


@dataclass
class Buyer:
    id: int
    #: The answers of the payment gateway, in order: an exception, or None for success.
    gateway: Iterator[Exception | None] = field(default_factory=lambda: iter([]))
    in_stock: bool = True


BUYERS = {
    "1": Buyer(1, iter([ConnectionError("gateway is away"), RateLimited(90), None])),
    "2": Buyer(2, repeat(InvalidCard("expired"))),
    "3": Buyer(3, in_stock=False),
    "4": Buyer(4, repeat(ConnectionError("gateway is away"))),
}
heroes.register("Buyer", load=BUYERS.get, cls=Buyer)


class PaymentWorkflow(Workflow):
    hero: Buyer

    @step(on_exception=reattempt(max=5, wait="10s", then="pause"))
    def initiate_payment(self) -> str:
        try:
            answer = next(self.hero.gateway, None)
            if answer is not None:
                raise answer
        except InvalidCard:
            self.cancel("the card is not valid")
        except RateLimited as error:
            self.reattempt(wait=error.retry_after)
        return "paid"

    @step(on_exception="skip")
    def send_receipt(self) -> None:
        raise OSError("the printer is on fire")  # the order does not depend on the receipt

    @step(on_exception={OutOfStock: "cancel", Exception: "pause"})
    def update_inventory(self) -> None:
        if not self.hero.in_stock:
            raise OutOfStock("the last one is gone")


def main() -> None:
    for buyer in BUYERS.values():
        run = speedrun(PaymentWorkflow, hero=buyer)
        print(f"buyer {buyer.id}:", run)


if __name__ == "__main__":
    main()
