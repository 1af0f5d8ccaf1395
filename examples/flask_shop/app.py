"""The views of the shop. An order and its run are one transaction: both are stored, or neither."""

from flask import Flask, abort, request
from models import Base, Order, Session, engine
from workflows import Fulfilment

from detent import sync

app = Flask(__name__)
Base.metadata.create_all(engine)


def place_order(session, item):
    """Create an order and start the run that fulfils it."""
    order = Order(item=item)
    session.add(order)
    session.flush()  # sets its id
    order.run = sync.start(Fulfilment, hero=order, connection=session).id
    return order


@app.post("/orders")
def create():
    with Session.begin() as session:
        order = place_order(session, request.get_json(force=True)["item"])
        made = {"order": order.id, "run": order.run}
    return made, 201


@app.post("/orders/broken")
def create_and_fail():
    """Fail the payment after the start of the run. The order and the run are rolled back."""
    try:
        with Session.begin() as session:
            order = place_order(session, request.get_json(force=True)["item"])
            raise PaymentFailed(order.run)
    except PaymentFailed as error:
        return {"error": "payment failed", "run": str(error)}, 402


@app.get("/orders/<int:number>")
def show(number):
    with Session() as session:
        order = session.get(Order, number)
        if order is None:
            abort(404)
        return {"item": order.item, "status": order.status, "run": order.run}


class PaymentFailed(Exception):
    """The card was declined."""
