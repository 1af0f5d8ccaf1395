"""Find the runs that an error paused, by their workflow and hero, and resume them at the failed step.

python examples/python/resuming_paused.py
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import detent
from detent import Workflow, heroes, step


@dataclass
class Subscriber:
    id: int


ANN = Subscriber(1)
heroes.register("Subscriber", load={"1": ANN}.get, cls=Subscriber)
BROKEN = {"printer": True}


class InvoiceWorkflow(Workflow):
    allow_multiple = True  # a subscriber may have many at a time

    @step
    def count(self) -> int:
        return sum(self.input)

    @step
    def send_invoice(self) -> str:
        if BROKEN["printer"]:
            raise ConnectionError("the printer does not answer")
        return f"{self.results['count']} EUR, please"


async def main() -> None:
    async with detent.node("memory://"):
        runs = [await detent.start(InvoiceWorkflow, hero=ANN, input=[20, number]) for number in range(3)]
        while await detent.runs(InvoiceWorkflow, hero=ANN).paused().count() < len(runs):
            await asyncio.sleep(0.01)
        print("why:", (await runs[0].why()).reasons[0].message)
        BROKEN["printer"] = False
        for run in await detent.runs(InvoiceWorkflow).for_hero(ANN).paused().handles():
            await run.resume()
        print([await run.result(timeout=10) for run in runs])


if __name__ == "__main__":
    asyncio.run(main())
