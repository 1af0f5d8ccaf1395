"""The shop with Detent inside: one process, one command, `uvicorn app:app`."""

from fastapi import FastAPI, HTTPException
from fastapi.responses import JSONResponse
from models import Base, Order, Session, engine
from pydantic import BaseModel, Field
from workflows import fulfilment

import detent

mounted = detent.asgi()  # its settings are in detent.toml
app = FastAPI(lifespan=mounted.lifespan)
app.mount("/detent", mounted)
Base.metadata.create_all(engine)


class NewOrder(BaseModel):
    """What a customer sends."""

    item: str = Field(max_length=100)
    price: int = Field(default=5, ge=0, le=1_000_000)


def place_order(session, new):
    """Create an order and start the run that fulfils it."""
    order = Order(item=new.item, price=new.price)
    session.add(order)
    session.flush()  # sets its id
    order.run = detent.sync.start(fulfilment, order.id, order.price, connection=session).id
    return order


@app.post("/orders", status_code=201)
def create(new: NewOrder):
    """Store an order and the start of its run in one transaction. FastAPI runs `def` in a thread, so it may block."""
    with Session.begin() as session:
        order = place_order(session, new)
        return {"order": order.id, "run": order.run}


@app.post("/orders/broken")
def create_and_fail(new: NewOrder):
    """Fail the payment after the start of the run. The order and the run are rolled back."""
    try:
        with Session.begin() as session:
            raise PaymentFailed(place_order(session, new).run)
    except PaymentFailed as error:
        return JSONResponse({"error": "payment failed", "run": str(error)}, 402)


@app.get("/orders/{number}")
def show(number: int):
    """Show an order, with the address that takes the decision about it while it waits."""
    with Session() as session:
        order = session.get(Order, number)
        if order is None:
            raise HTTPException(404)
        return {"item": order.item, "status": order.status, "run": order.run, "approval": order.approval}


class PaymentFailed(Exception):
    """The card was declined."""
