"""`python manage.py test`: test the views without a worker, and the workflow with a crash at every moment."""

import json

from django.db import connection, transaction
from django.test import TransactionTestCase

from detent.errors import AlreadyActive
from detent.testing import crash_matrix
from shop.models import Order
from shop.views import place_order
from shop.workflows import Fulfilment


class StartsOfRuns(TransactionTestCase):
    """Starts are rows in the database of the orders."""

    def starts(self):
        table = "detent_outbox" if connection.vendor == "sqlite" else "detent.run"
        with connection.cursor() as cursor:
            cursor.execute(f"select count(*) from {table}")
            return cursor.fetchone()[0]

    def test_an_order_is_kept_together_with_its_run(self):
        before = self.starts()
        answer = self.client.post("/orders", json.dumps({"item": "tea"}), content_type="application/json")
        self.assertEqual(answer.status_code, 201)
        self.assertEqual(Order.objects.get().run, answer.json()["run"])
        self.assertEqual(self.starts(), before + 1)

    def test_an_order_that_fails_leaves_neither_an_order_nor_a_run(self):
        before = self.starts()
        answer = self.client.post("/orders/broken", json.dumps({"item": "tea"}), content_type="application/json")
        self.assertEqual(answer.status_code, 402)
        self.assertEqual(Order.objects.count(), 0)
        self.assertEqual(self.starts(), before)

    def test_an_order_has_one_run_at_a_time(self):
        from detent import sync

        if connection.vendor == "sqlite":
            self.skipTest("on SQLite the node that fetches the start finds that out")
        with transaction.atomic():
            order = place_order("tea")
        with self.assertRaises(AlreadyActive) as refused:
            sync.start(Fulfilment, hero=order, using="default")
        self.assertEqual(refused.exception.run, order.run)

    def test_an_order_is_shipped_wherever_the_worker_dies(self):
        order = Order.objects.create(item="tea")
        report = crash_matrix(Fulfilment, hero=order)
        self.assertEqual(report.ending.output, {"shipped": "tea"})
        self.assertEqual(set(report.ran_twice), {"pack", "ship"})  # both may run twice: they write the same status
        order.refresh_from_db()
        self.assertEqual(order.status, "shipped")
