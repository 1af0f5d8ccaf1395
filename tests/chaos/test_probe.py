"""A node is killed while its payments are under way: the probe of the shipped connector says which of them happened."""

from __future__ import annotations

import json
import signal
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.cli.program import PATIENCE, detent, started

pytestmark = pytest.mark.slow

WORKFLOW = {
    "name": "payout",
    "tasks": {
        "pay": {
            "action": "stripe.create-payment-intent",
            "with": {"amount": "{{ trigger.body.amount }}", "currency": "eur"},
            "on_crash": "probe",
        },
        "book": {"needs": ["pay"], "action": "core.echo", "with": {"paid": "{{ tasks.pay.output.paymentIntentId }}"}},
    },
}


class Bank:
    """A server with the shape of Stripe's. It charges again for every request: it recognises no idempotency key.

    Until it is `open`, it answers no payment: one of 1 was charged by then, any other was not."""

    def __init__(self) -> None:
        self.charges: list[dict[str, Any]] = []
        self.held: list[int] = []
        self.open = threading.Event()
        self.arrived = threading.Condition()

    def pay(self, form: dict[str, list[str]]) -> dict[str, Any] | None:
        amount = int(form["amount"][0])
        is_held = not self.open.is_set()
        if is_held and amount != 1:
            self._hold(amount)
            return None
        charge = {
            "id": f"pi_{len(self.charges)}",
            "status": "succeeded",
            "amount": amount,
            "currency": form["currency"][0],
            "metadata": {"detent_key": form["metadata[detent_key]"][0]},
        }
        self.charges.append(charge)
        if is_held:
            self._hold(amount)
            return None
        return charge

    def _hold(self, amount: int) -> None:
        with self.arrived:
            self.held.append(amount)
            self.arrived.notify_all()
        self.open.wait(PATIENCE)

    def wait_for(self, payments: int) -> None:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.held) == payments, PATIENCE), self.held


@contextmanager
def bank_at_work() -> Iterator[tuple[Bank, str]]:
    bank = Bank()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            self._answer(bank.pay(parse_qs(self.rfile.read(size).decode())))

        def do_GET(self) -> None:
            asked = parse_qs(urlsplit(self.path).query)
            assert int(asked["created[gte]"][0]) <= time.time()
            self._answer({"object": "list", "data": list(bank.charges), "has_more": False})

        def _answer(self, body: Any) -> None:
            self.close_connection = True
            if body is None:
                return
            raw = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield bank, f"http://127.0.0.1:{server.server_port}"
    finally:
        bank.open.set()
        server.shutdown()
        thread.join()
        server.server_close()


def ask(url: str, method: str, path: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/api/v1{path}", data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)["data"]


@pytest.mark.case("A21")
def test_a_payment_whose_node_was_killed_is_charged_once_and_the_journal_says_how_it_is_known(tmp_path: Path) -> None:
    with bank_at_work() as (bank, address):
        given = {
            "CONNECTOR_STRIPE_URL": address,
            "CONNECTOR_STRIPE_TOKEN": "sk_test_123456",
            "DETENT_EGRESS_ALLOW": "127.0.0.0/8",
            "DETENT_LEASE_SECONDS": "3",
        }
        with started(tmp_path, "serve", "--port", "0", **given) as first:
            url = first.wait_for(r"answers at (http://\S+)")[1]
            ask(url, "PUT", "/workflows/payout", WORKFLOW)
            runs = [ask(url, "POST", "/workflows/payout/trigger", {"amount": one})["run_id"] for one in (1, 2)]
            bank.wait_for(2)
            first.stop(signal.SIGKILL)
        bank.open.set()
        with started(tmp_path, "serve", "--port", "0", **given) as second:
            url = second.wait_for(r"answers at (http://\S+)")[1]
            charged, lost = (ask(url, "GET", f"/runs/{run}?wait=60") for run in runs)
            shown = detent(tmp_path, "logs", runs[0], "--url", url).stdout
            second.stop()
    assert (charged["status"], lost["status"]) == ("completed", "completed")
    assert sorted(one["amount"] for one in bank.charges) == [1, 2], "each was charged once"
    probe = "stripe.check-payment-intent"
    [only] = charged["tasks"]["pay"]["attempts"]
    assert (only["attempt"], only["status"], only["probe"]) == (1, "success", {"action": probe, "answer": "happened"})
    assert charged["tasks"]["book"]["output"] == {"paid": "pi_0"}
    # A node that is stalled for longer than its lease is replaced too, before its request has left.
    tried = lost["tasks"]["pay"]["attempts"]
    *gone, again = tried
    assert gone, tried
    assert all((one["error"]["code"], one["probe"]["answer"]) == ("did_not_happen",) * 2 for one in gone), tried
    assert (again["attempt"], again["status"], again["probe"]) == (len(tried), "success", None), tried
    assert f"{probe} says: it happened" in shown
