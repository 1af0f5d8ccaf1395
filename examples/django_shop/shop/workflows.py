"""The workflow of an order. Detent loads this module because it is named `workflows`."""

from detent import Workflow, step
from shop.models import Order


class Fulfilment(Workflow):
    """Pack an order, then ship it. An order has one open run of it."""

    name = "fulfilment"
    hero: Order

    @step
    def pack(self):
        self.hero.status = "packed"
        self.hero.save(update_fields=["status"])

    @step
    def ship(self):
        self.hero.status = "shipped"
        self.hero.save(update_fields=["status"])
        return {"shipped": self.hero.item}
