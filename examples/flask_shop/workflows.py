"""The workflow of an order: `detent worker --import workflows` runs it."""

from models import Order, Session
from sqlalchemy import update

from detent import Workflow, heroes, step

heroes.sqlalchemy(Session, Order)


class Fulfilment(Workflow):
    """Pack an order, then ship it. An order has one open run of it."""

    name = "fulfilment"
    hero: Order

    @step
    def pack(self):
        self.mark("packed")

    @step
    def ship(self):
        self.mark("shipped")
        return {"shipped": self.hero.item}

    def mark(self, status):
        with Session.begin() as session:
            session.execute(update(Order).where(Order.id == self.hero.id).values(status=status))
