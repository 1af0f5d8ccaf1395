"""`pytest`: test the views without a worker, and the workflow with a crash at every moment."""

import models
from app import app
from sqlalchemy import inspect, text
from workflows import Fulfilment

from detent.testing import crash_matrix


def starts():
    """Return how many starts are in the shop's own database."""
    is_sqlite = models.engine.dialect.name == "sqlite"
    table, schema = ("detent_outbox", None) if is_sqlite else ("run", "detent")
    if not inspect(models.engine).has_table(table, schema=schema):
        return 0
    with models.engine.connect() as connection:
        return connection.execute(text(f"select count(*) from {schema + '.' if schema else ''}{table}")).scalar_one()


def orders():
    with models.Session() as session:
        return session.query(models.Order).count()


def test_an_order_is_kept_together_with_its_run():
    before = starts(), orders()
    answer = app.test_client().post("/orders", json={"item": "tea"})
    assert answer.status_code == 201
    assert answer.json["run"].startswith("run_")
    assert (starts(), orders()) == (before[0] + 1, before[1] + 1)


def test_an_order_that_fails_leaves_neither_an_order_nor_a_run():
    before = starts(), orders()
    answer = app.test_client().post("/orders/broken", json={"item": "tea"})
    assert answer.status_code == 402
    assert (starts(), orders()) == before


def test_an_order_is_shipped_wherever_the_worker_dies():
    with models.Session.begin() as session:
        order = models.Order(item="tea")
        session.add(order)
        session.flush()
        number = order.id
    report = crash_matrix(Fulfilment, hero=("Order", number))
    assert report.ending.output == {"shipped": "tea"}
    assert set(report.ran_twice) == {"pack", "ship"}  # both may run twice: they write the same status
