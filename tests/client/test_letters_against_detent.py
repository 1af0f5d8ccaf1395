"""Dead letters and resources through a client of either face, before a real Detent."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from detent import Link, Linked, action
from detent.client import Conflict, InvalidRequest, NotFound
from detent.errors import InvalidInput

pytestmark = pytest.mark.slow

STRICT = """
name: strict
trigger_schema: {type: object, required: [order]}
tasks: {a: {action: core.echo}}
"""
MAKE = 'name: make\ntasks: {a: {action: client.make, with: {id: "{{trigger.body.id}}"}}}\n'


@action("client.make")
def make(id: str) -> Linked:  # noqa: A002
    return Linked(id, [Link("monday", "item", id, url="https://m.example")])


@pytest.fixture
def client(detent_url: str, connect: Any) -> Any:
    client = connect(detent_url)
    client.workflows.create(STRICT)
    client.workflows.create(MAKE)
    client.triggers.create("strict", "event", {"event": "order.paid"})
    return client


def test_letters_are_listed_read_requeued_and_purged(client: Any) -> None:
    for number in range(3):
        client.send_event("order.paid", {"wrong": number})
    found = list(client.dead_letters.list(kind="event", state="open", workflow="strict", limit=2))
    assert len(found) == 3
    whole = client.dead_letters.get(found[2].id)
    assert whole.payload["body"] == {"wrong": 0}
    assert client.dead_letters.bulk("requeue", kind="event").matched == 3
    client.workflows.save("name: strict\ntasks: {a: {action: core.echo}}\n")
    requeued = client.dead_letters.requeue(whole.id)
    assert client.run(requeued.result).result(20) == {}
    with pytest.raises(Conflict, match=requeued.result):
        client.dead_letters.requeue(whole.id)
    done = client.dead_letters.bulk("requeue", dry_run=False, limit=1, before=datetime(2100, 1, 1, tzinfo=UTC))
    assert (done.done, done.more) == (1, True)
    assert client.dead_letters.purge(whole.id).id == whole.id
    with pytest.raises(NotFound):
        client.dead_letters.get(whole.id)
    with pytest.raises(InvalidInput, match="everything=True"):
        client.dead_letters.bulk("purge")
    assert client.dead_letters.bulk("purge", dry_run=False, everything=True).done == 2


def test_resources_are_found_and_part_of_their_run(client: Any) -> None:
    runs = [client.start("make", {"id": f"i{number}"}) for number in range(3)]
    for run in runs:
        run.wait(300)
    assert [one.id for one in client.resources(system="monday", limit=2)] == ["i0", "i1", "i2"]
    [found] = client.resources(system="monday", type="item", id="i1")
    assert (found.run_id, found.step, found.url) == (runs[1].id, "a", "https://m.example")
    [own] = runs[1].get(include=["resources"], limit=5).resources
    assert own == found
    assert runs[1].get().resources is None
    with pytest.raises(InvalidRequest) as caught:
        list(client.resources(id="i1"))
    assert caught.value.problems[0].field == "id"
