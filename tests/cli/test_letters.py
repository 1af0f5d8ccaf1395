"""`detent resources` and `detent dead-letters`, against a server with an action of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.program import started
from tests.cli.served import Served

pytestmark = pytest.mark.slow

SHOP = """
from detent import Link, Linked, action

@action("shop.make")
def make(id: str) -> Linked:
    return Linked(id, [Link("monday", "item", id, url="https://m.example/" + id)])
"""
MAKE = 'name: make\ntasks: {a: {action: shop.make, with: {id: "{{trigger.body.id}}"}}}\n'
STRICT = """
name: strict
trigger: {type: event, event: order.paid}
trigger_schema: {type: object, required: [order]}
tasks: {a: {action: core.echo}}
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("shop")
    for name, text in {"shop.py": SHOP, "make.yaml": MAKE, "strict.yaml": STRICT}.items():
        (folder / name).write_text(text)
    with started(folder, "serve", "--port", "0", "--import", "shop") as server:
        found = Served(folder, server.wait_for(r"answers at (http://\S+)")[1])
        found.says("apply", "make.yaml", "strict.yaml")
        yield found


def test_a_resource_is_found_and_shown_with_its_run(shop: Served) -> None:
    run = shop.tells("trigger", "make", "-d", '{"id": "i1"}', "--wait")
    assert "monday item i1  https://m.example/i1" in shop.says("runs", "show", run["id"])
    [found] = shop.tells("resources", "monday", "item", "i1")
    assert found["run_id"] == run["id"]
    assert run["id"] in shop.says("resources", "monday")
    assert shop.tells("resources", "slack") == []
    again = shop.says("trigger", "make", "-d", '{"id": "i1"}', "--wait", code=1)
    assert ("RESOURCE_LINK_CONFLICT_OTHER_EXECUTION" in again, run["id"] in again) == (True, True)


def test_dead_letters_are_listed_shown_requeued_and_purged(shop: Served) -> None:
    for number in range(3):
        shop.says("events", "send", "order.paid", "-d", f'{{"n": {number}}}')
    letters = shop.tells("dead-letters", "list", "--kind", "event", "--state", "open")
    assert len(letters) == 3
    newest = letters[0]["id"]
    assert newest in shop.says("dead-letters", "list", "--workflow", "strict", "-n", "1")
    shown = shop.says("dead-letters", "show", newest)
    assert ("strict" in shown, '"n": 2' in shown) == (True, True)
    assert shop.says("dead-letters", "requeue", "--kind", "event", "--dry-run").strip() == "3 match"
    assert "Nothing is done without --yes" in shop.says("dead-letters", "requeue", "--kind", "event", code=1)
    (shop.folder / "strict.yaml").write_text(STRICT.replace("required: [order]", "required: [n]"))
    shop.says("apply", "strict.yaml")
    [requeued] = shop.tells("dead-letters", "requeue", newest)
    assert requeued["result"].startswith("run_")
    assert requeued["result"] in shop.says("dead-letters", "requeue", newest, code=1), "it was requeued before"
    assert "2 requeued, 0 refused" in shop.says("dead-letters", "requeue", "--kind", "event", "--yes")
    assert shop.says("dead-letters", "requeue", "--kind", "event", "--yes").strip() == "0 match"
    assert newest in shop.says("dead-letters", "purge", newest)
    assert shop.tells("dead-letters", "purge", "--all", "--yes")["done"] == 2
    assert shop.tells("dead-letters", "list") == []


def test_what_is_missing_or_too_much_is_said(shop: Served) -> None:
    assert "name dead letters, a filter" in shop.says("dead-letters", "purge", code=2)
    assert "cannot be combined" in shop.says("dead-letters", "purge", "dlt_1", "--all", code=2)
    assert "there is no dead letter" in shop.says("dead-letters", "show", "dlt_1", code=1)
