"""A durable function: plain control flow whose steps, sleeps and waits survive the process.

python examples/python/checkout.py
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import detent
from detent import Run, StepContext, StepFailed, WaitTimeout, gather, step, workflow
from detent.testing import speedrun_async


@dataclass
class Order:
    id: str
    amount: int


@step(retry=3)
async def charge(order: Order, context: StepContext) -> str:
    # Every attempt has the same key, so the bank charges once.
    return f"{order.amount} EUR for {order.id}, attempt {context.attempt}"


def pack(order: Order) -> str:
    return f"{order.id} is packed"


def send_invoice(order: Order, charged: str) -> str:
    return f"invoice: {charged}"


def refund(order: Order) -> str:
    return f"{order.id} is refunded"


def ship(order: Order) -> str:
    if order.id.startswith("lost"):
        raise LookupError("nobody knows that address")
    return f"{order.id} is shipped"


@workflow
async def checkout(run: Run, order: Order) -> list[str]:
    """Charge the order, and ask a person if the amount is large. Pack and invoice in parallel. Ship, or refund."""
    charged = await run.step(charge, order)
    if order.amount > 100:
        try:
            answer = await run.wait("approval", timeout="3d")
        except WaitTimeout:
            answer = {"ok": False}
        if not answer["ok"]:
            return [await run.step(refund, order)]
    packed, invoiced = await gather(run.step(pack, order), run.step(send_invoice, order, charged))
    try:
        shipped = await run.step(ship, order)
    except StepFailed:  # plain code undoes the steps before
        return [await run.step(refund, order)]
    await run.sleep("14d")
    return [packed, invoiced, shipped, "how do you like it?"]


async def main() -> None:
    async with detent.node("memory://"):
        run = await detent.start(checkout, Order("o1", 500))
        while not (waiting := (await run.get()).callbacks):
            await asyncio.sleep(0.01)
        print("waits for", waiting[0].step.removeprefix("@wait:"))
        await run.cancel()
    print(await speedrun_async(checkout, Order("o2", 50)))
    print((await speedrun_async(checkout, Order("o3", 500), answers={"approval": {"ok": True}})).output)
    print((await speedrun_async(checkout, Order("o4", 500), answers={"approval": TimeoutError})).output)
    print((await speedrun_async(checkout, Order("lost-5", 20))).output)


if __name__ == "__main__":
    asyncio.run(main())
