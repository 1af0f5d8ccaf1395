"""What is done about an order. Loaded by itself, because the module is named `workflows`."""

from detent import Workflow, step
from shop.models import Order


class Fulfilment(Workflow):
    """Pack it, then ship it. One at a time per order."""

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
