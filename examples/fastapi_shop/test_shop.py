"""`pytest`: test the application with its node, and the workflow with a crash at every moment."""

import time
from urllib.parse import urlsplit

import models
import pytest
from app import app
from fastapi.testclient import TestClient
from workflows import fulfilment

from detent.testing import crash_matrix


@pytest.fixture
def client():
    with TestClient(app) as found:  # `with` starts the node, and drains it
        yield found


def until(client, number, status):
    """Return the order once it has a status."""
    end = time.monotonic() + 60
    while (order := client.get(f"/orders/{number}").json())["status"] != status:
        assert time.monotonic() < end, order
        time.sleep(0.05)
    return order


def test_a_cheap_order_is_shipped_and_an_expensive_one_after_its_approval(client):
    tea = client.post("/orders", json={"item": "tea"}).json()
    piano = client.post("/orders", json={"item": "piano", "price": 900}).json()
    until(client, tea["order"], "shipped")
    waiting = until(client, piano["order"], "waits")
    assert client.post(urlsplit(waiting["approval"]).path, json={"approved": True}).status_code == 200
    until(client, piano["order"], "shipped")


def test_an_order_that_fails_leaves_neither_an_order_nor_a_run(client):
    with models.Session() as session:
        before = session.query(models.Order).count()
    assert client.post("/orders/broken", json={"item": "tea"}).status_code == 402
    with models.Session() as session:
        assert session.query(models.Order).count() == before


def test_an_order_is_shipped_wherever_the_process_dies():
    with models.Session.begin() as session:
        order = models.Order(item="piano", price=900)
        session.add(order)
        session.flush()
        number = order.id
    report = crash_matrix(fulfilment, number, 900, answers={"decision": {"approved": True}})
    assert report.ending.output == {"shipped": number}
