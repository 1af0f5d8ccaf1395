"""The workflow of an order, a durable function. The node inside the web application runs it."""

from models import Order, Session
from sqlalchemy import update

from detent import Run, workflow

EXPENSIVE = 100


def change(order, **values):
    """Change the row of an order. A step may run twice after a crash; this writes the same values again."""
    with Session.begin() as session:
        session.execute(update(Order).where(Order.id == order).values(**values))


@workflow(name="fulfilment")
async def fulfilment(run: Run, order: int, price: int) -> dict:
    """Pack an order, wait for an approval if it is expensive, and ship it."""
    await run.step(change, order, status="packed")
    if price > EXPENSIVE:
        decision = await run.callback("decision")
        await run.step(change, order, status="waits", approval=decision.url)
        answer = await run.wait("decision", timeout="3d")
        if not answer.get("approved"):
            await run.step(change, order, status="refused")
            return {"refused": order}
    await run.step(change, order, status="shipped")
    return {"shipped": order}
