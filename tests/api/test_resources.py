"""Resources of other systems over HTTP: in the document of their run, and found by what they are."""

from __future__ import annotations

from typing import Any

from detent import ActionContext, Link, action
from tests.api.conftest import EVERY_DATABASE
from tests.api.server import Detent

MAKE = """
name: make
tasks:
  make: {action: resources.make, with: {ids: "{{trigger.body.ids}}", system: "{{trigger.body.system ?? 'monday'}}"}}
"""
PLACE = "/api/v1/resources"


@action("resources.make")
def make(ids: list[str], system: str, context: ActionContext) -> int:
    for id_ in ids:
        context.links.add(Link(system, "item", id_, url=f"https://{system}.example/{id_}"))
    return len(ids)


@EVERY_DATABASE
async def test_a_run_shows_its_resources_and_another_run_that_links_one_fails(detent: Detent) -> None:
    await detent.save(MAKE)
    run = await detent.ended(await detent.start("make", {"ids": ["a", "b", "c"]}))
    assert run["status"] == "completed", run["error"]
    whole = (await detent.call("GET", f"/api/v1/runs/{run['id']}?include=resources&limit=2")).json["data"]
    assert whole["more"] == ["resources"]
    [first, _] = whole["resources"]
    linked_at = first.pop("linked_at")
    assert linked_at >= run["started_at"]
    assert first == {
        "system": "monday",
        "type": "item",
        "id": "a",
        "url": "https://monday.example/a",
        "run_id": run["id"],
        "step": "make",
    }
    rest = (await detent.call("GET", f"/api/v1/runs/{run['id']}?include=resources&limit=2&offset=2")).json["data"]
    assert ([one["id"] for one in rest["resources"]], rest["more"]) == (["c"], [])
    pages = [(await detent.call("GET", f"{PLACE}?run={run['id']}&limit=2")).json]
    pages.append((await detent.call("GET", f"{PLACE}?run={run['id']}&limit=2&cursor={pages[0]['next_cursor']}")).json)
    assert [[one["id"] for one in page["data"]] for page in pages] == [["a", "b"], ["c"]]
    assert pages[1]["next_cursor"] is None
    both = await detent.call("GET", f"{PLACE}?run={run['id']}&system=monday")
    assert (both.status, "cannot be used together" in both.text) == (400, True)
    other = await detent.ended(await detent.start("make", {"ids": ["z", "b"]}))
    error = other["tasks"]["make"]["error"]
    assert (other["status"], error["code"], error["detail"]["run_id"]) == ("failed", "WFENG003", run["id"])
    [owner] = (await detent.call("GET", f"{PLACE}?system=monday&type=item&id=b")).json["data"]
    assert owner["run_id"] == run["id"]


async def test_resources_are_listed_in_pages_and_narrowed(api: Detent) -> None:
    await api.save(MAKE)
    await api.ended(await api.start("make", {"ids": ["1", "2", "ü/?&"]}))
    await api.ended(await api.start("make", {"ids": ["9"], "system": "slack"}))
    found: list[Any] = []
    cursor = ""
    while True:
        page = (await api.call("GET", f"{PLACE}?limit=2{cursor}")).json
        found += [(one["system"], one["id"]) for one in page["data"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert found == [("monday", "1"), ("monday", "2"), ("monday", "ü/?&"), ("slack", "9")]
    assert [one["id"] for one in (await api.call("GET", f"{PLACE}?system=slack")).json["data"]] == ["9"]
    exact = await api.call("GET", PLACE, params={"system": "monday", "type": "item", "id": "ü/?&"})
    assert len(exact.json["data"]) == 1
    assert (await api.call("GET", f"{PLACE}?system=monday&type=board")).json["data"] == []


WRONG = (
    ("id=1", "id", "together with system and type"),
    ("type=item", "type", "together with system"),
    ("system=a&id=1", "id", "together with system and type"),
    ("system=", "system", "must have 1 to"),
    ("systen=monday", "systen", "did you mean"),
    ("cursor=nonsense", "cursor", "not a cursor of this list"),
)


async def test_a_wrong_query_says_what_is_wrong(api: Detent) -> None:
    for query, field, words in WRONG:
        answer = await api.call("GET", f"{PLACE}?{query}")
        assert answer.status == 400, query
        [problem] = answer.json["details"]["validation_errors"]
        assert (problem["field"], words in problem["message"]) == (field, True), problem
