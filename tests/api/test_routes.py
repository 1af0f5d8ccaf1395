"""What each route answers, and how errors look everywhere."""

from __future__ import annotations

import re

import msgspec
import pytest

from detent.api.server.guards import ALLOWED
from detent.documents.answers import Many, One
from detent.documents.lists import SearchPage
from detent.documents.runs import RunDocument, RunSummary, StartedDocument
from detent.documents.workflows import SavedWorkflowAnswer, WorkflowDocument
from tests.api.server import Detent

WORKFLOWS = "/api/v1/workflows"
RUNS = "/api/v1/runs"
ECHO = '{"name": "echo", "description": "d", "labels": {"a": "b"}, "tasks": {"a": {"action": "core.echo"}}}'
WAIT = "name: waits\ntasks:\n  w: {wait_for_webhook: {timeout: 1h}}\n"
REJECT = "name: waits\ntasks:\n  s: {sleep: 1h}\n  w: {needs: [s], wait_for_webhook: {timeout: 1h, early: reject}}\n"


async def waiting(detent: Detent, definition: str = WAIT) -> str:
    """The address of a callback of a new run."""
    await detent.save(definition)
    started = await detent.start("waits", {})
    run = await detent.until(started, lambda run: run["tasks"]["w"]["status"] in ("waiting", "pending"))
    url: str = run["callbacks"][0]["url"]
    return url


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nope", 404), ("POST", "/", 405), ("DELETE", WORKFLOWS, 405), ("PATCH", f"{WORKFLOWS}/x", 405),
     ("GET", f"{WORKFLOWS}/x/trigger", 405), ("GET", "/wh", 404), ("GET", "/api/v1", 404)],
)  # fmt: skip
async def test_a_place_or_method_that_is_not_there_is_told_in_the_form_of_every_error(
    api: Detent, method: str, path: str, status: int
) -> None:
    answer = await api.call(method, path)
    assert answer.status == status
    assert set(answer.json) == {"error", "code", "message"}


async def test_documents_have_the_shapes_that_openapi_says(detent: Detent) -> None:
    saved = await detent.call("POST", WORKFLOWS, data=ECHO)
    started = await detent.call("POST", f"{WORKFLOWS}/echo/trigger")
    run = await detent.ended(started.json["data"])
    again = await detent.call("PUT", f"{WORKFLOWS}/echo", data=ECHO)
    shown = [
        (One[WorkflowDocument], saved.json),
        (One[WorkflowDocument], (await detent.call("GET", f"{WORKFLOWS}/{saved.json['data']['id']}")).json),
        (Many[WorkflowDocument], (await detent.call("GET", WORKFLOWS)).json),
        (One[StartedDocument], started.json),
        (One[RunDocument], {"data": run}),
        (SearchPage[RunSummary], (await detent.call("GET", f"{WORKFLOWS}/echo/runs")).json),
        (One[RunDocument], (await detent.call("GET", f"{RUNS}/{run['id']}")).json),
        (SearchPage[RunSummary], (await detent.call("GET", RUNS)).json),
        (SavedWorkflowAnswer, again.json),
    ]
    for shape, document in shown:
        assert msgspec.to_builtins(msgspec.convert(document, shape)) == document
    assert started.headers["Location"].endswith(run["id"])
    assert saved.json["data"]["definition"]["tasks"] == {"a": {"action": "core.echo"}}


async def test_a_name_that_is_taken_is_a_conflict_and_put_makes_a_version_only_of_a_change(detent: Detent) -> None:
    await detent.save(ECHO)
    taken = await detent.call("POST", WORKFLOWS, data=ECHO)
    assert (taken.status, taken.json["error"], taken.json["code"]) == (409, "conflict", "name_taken")
    same = await detent.call("PUT", f"{WORKFLOWS}/echo", data=ECHO)
    assert (same.status, same.json["changed"], same.json["data"]["current_version"]) == (200, False, 1)
    other = await detent.call(
        "PUT", f"{WORKFLOWS}/echo", data=ECHO.replace('"core.echo"', '"core.echo", "with": {"x": 1}')
    )
    assert (other.status, other.json["changed"], other.json["data"]["current_version"]) == (200, True, 2)
    words = await detent.call("PUT", f"{WORKFLOWS}/echo", data=ECHO.replace('"d"', '"e"'))
    assert (words.json["changed"], words.json["data"]["definition"]["description"]) == (True, "e")
    new = await detent.call("PUT", f"{WORKFLOWS}/fresh", data=ECHO.replace('"echo"', '"fresh"'))
    assert new.status == 201
    elsewhere = await detent.call("PUT", f"{WORKFLOWS}/echo", data=ECHO.replace('"echo"', '"fresh"'))
    assert (elsewhere.status, elsewhere.json["details"]["validation_errors"][0]["field"]) == (400, "name")
    nobody = await detent.call("PUT", f"{WORKFLOWS}/wf_01h455vb4pex5vsknk084sn02q", data=ECHO)
    assert nobody.status == 404


async def test_yaml_is_taken_as_well_as_json(api: Detent) -> None:
    for kind in ("application/yaml", "text/plain"):
        answer = await api.call("PUT", f"{WORKFLOWS}/waits", data=WAIT, headers={"Content-Type": kind})
        assert answer.status in (200, 201), answer.text
    refused = await api.call("PUT", f"{WORKFLOWS}/waits", data=WAIT, headers={"Content-Type": "application/json"})
    assert refused.status == 400


async def test_lists_are_paged_without_gaps_or_repeats(detent: Detent) -> None:
    for number in range(5):
        await detent.save(ECHO.replace('"echo"', f'"w{number}"'))
    runs = [(await detent.start("w0", {}))["run_id"] for _ in range(5)]
    for place, wanted, key in (
        (WORKFLOWS, [f"w{n}" for n in range(5)], "name"),
        (f"{WORKFLOWS}/w0/runs", runs[::-1], "id"),
        (RUNS, runs[::-1], "id"),
    ):
        found: list[str] = []
        more: str | None = ""
        while more is not None:
            page = (await detent.call("GET", f"{place}?limit=2{more and f'&cursor={more}'}")).json
            found += [row[key] for row in page["data"]]
            more = page["next_cursor"]
        assert found == wanted


async def test_a_run_is_found_only_under_its_own_workflow(api: Detent) -> None:
    await api.save(ECHO)
    await api.save(ECHO.replace('"echo"', '"other"'))
    started = await api.start("echo", {})
    answer = await api.call("GET", f"{WORKFLOWS}/other/runs/{started['run_id']}")
    assert answer.status == 404


async def test_a_workflow_that_is_disabled_cannot_be_started(api: Detent) -> None:
    await api.save(ECHO.replace('"name"', '"enabled": false, "name"'))
    answer = await api.call("POST", f"{WORKFLOWS}/echo/trigger")
    assert (answer.status, answer.json["code"]) == (409, "WFENG002")
    assert answer.json["message"] == "Workflow is disabled: echo"


async def test_a_finished_run_cannot_be_cancelled(detent: Detent) -> None:
    await detent.save(ECHO)
    run = await detent.ended(await detent.start("echo", {}))
    answer = await detent.call("POST", f"{WORKFLOWS}/echo/runs/{run['id']}/cancel")
    assert (answer.status, answer.json["code"]) == (409, "WFENG002")
    assert answer.json["message"] == "Cannot cancel a finished workflow"


async def test_callbacks_are_answered_in_the_agreed_words(detent: Detent) -> None:
    url = await waiting(detent)
    taken = await detent.call("POST", url, json={"a": 1}, headers={"webhook-id": "m1"})
    assert (taken.status, taken.json) == (200, {"data": {"status": "accepted", "step": "w"}})
    again = await detent.call("POST", url, json={"a": 2}, headers={"webhook-id": "m1"})
    assert (again.status, again.json) == (200, taken.json)
    used = await detent.call("POST", url, json={"a": 2}, headers={"webhook-id": "m2"})
    assert (used.status, used.json["error"], used.json["message"]) == (409, "conflict", "Webhook already used")
    unknown = await detent.call("POST", url[:-2] + "xx")
    assert (unknown.status, unknown.json["message"]) == (404, "Webhook not found")


async def test_a_wait_that_rejects_early_callbacks_says_so_and_keeps_its_url(detent: Detent) -> None:
    url = await waiting(detent, REJECT)
    early = await detent.call("POST", url, json={})
    assert (early.status, early.json["error"]) == (400, "invalid_argument")
    assert early.json["message"] == "Wait node not active"


@pytest.mark.parametrize(
    ("kind", "sent", "kept"),
    [("application/json", b'{"a": [1]}', {"a": [1]}),
     ("application/x-www-form-urlencoded", b"a=1&b=2&b=3", {"a": "1", "b": ["2", "3"]}),
     ("application/x-www-form-urlencoded", b'{"a": 1}', {"a": 1}), ("text/plain", b"hello", "hello"),
     ("application/json", b"", None), ("application/octet-stream", b"3", 3)],
)  # fmt: skip
async def test_the_payload_of_a_callback_is_read_by_its_kind(api: Detent, kind: str, sent: bytes, kept: object) -> None:
    await api.save(WAIT)
    started = await api.start("waits", {})
    run = await api.until(started, lambda run: run["tasks"]["w"]["status"] == "waiting")
    answer = await api.call(
        "POST", run["callbacks"][0]["url"] + "?from=x", data=sent,
        headers={"Content-Type": kind, "Authorization": "Bearer secret"},
    )  # fmt: skip
    assert answer.status == 200, answer.text
    step = (await api.ended(started))["tasks"]["w"]
    assert step["body"] == kept
    assert "authorization" not in step["headers"]


@pytest.mark.case("D11")
async def test_looking_at_a_callback_url_answers_a_page_and_does_not_use_it(detent: Detent) -> None:
    url = await waiting(detent)
    for place in (url, url.replace("/wh/", "/webhook/workflow/resume/")):
        page = await detent.call("GET", place)
        assert page.status == 200
        assert "takes a POST" in page.text
    answer = await detent.call("POST", url.replace("/wh/", "/webhook/workflow/resume/"))
    assert answer.status == 200


async def test_an_engine_that_drains_starts_nothing_and_says_when_to_come_back(api: Detent) -> None:
    await api.save(ECHO)
    assert (await api.call("GET", "/health/ready")).json == {"status": "ok"}
    await api.app.drain()
    for method, place in (("POST", f"{WORKFLOWS}/echo/trigger"), ("GET", "/health/ready")):
        answer = await api.call(method, place)
        assert (answer.status, answer.json["error"]) == (503, "unavailable")
        assert int(answer.headers["Retry-After"]) >= 1
    assert (await api.call("GET", "/health/live")).status == 200


async def test_openapi_and_its_page_name_every_route_and_load_nothing_from_elsewhere(api: Detent) -> None:
    document = (await api.call("GET", "/openapi.json")).json
    assert document["openapi"].startswith("3.1")
    page = await api.call("GET", "/docs")
    assert page.status == 200
    text = re.sub("<[^>]+>", "", page.text)
    for path in document["paths"]:
        assert path in text
    assert "/wh/{token}" in document["paths"]
    assert set(re.findall(r'(?:href|src|action|url)\s*[=(]\s*"?([^#">)]*)', page.text)) <= {"", "./", "openapi.json"}
    assert not re.search("<(script|link|img|iframe|object)|@import", page.text)
    trigger = document["paths"][f"{WORKFLOWS}/{{workflow}}/trigger"]["post"]
    assert "application/json" in trigger["requestBody"]["content"]
    assert set(trigger["responses"]) >= {"201", "400", "404", "409", "413", "503"}


async def test_the_first_page_shows_workflows_and_runs_with_everything_escaped(api: Detent) -> None:
    name = "<b>x & y"
    await api.save(ECHO.replace('"echo"', f'"{name}"'))
    await api.start("%3Cb%3Ex%20&%20y", {})
    page = await api.call("GET", "/")
    assert "&lt;b&gt;x &amp; y" in page.text
    assert "<b>" not in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "null"},
    ],
)
async def test_a_page_of_another_site_cannot_start_runs(api: Detent, headers: dict[str, str]) -> None:
    await api.save(ECHO)
    answer = await api.call("POST", f"{WORKFLOWS}/echo/trigger", headers=headers)
    assert (answer.status, answer.json["error"]) == (403, "permission_denied")
    assert (await api.call("GET", f"{WORKFLOWS}/echo/runs")).json["data"] == []


async def test_another_site_may_answer_a_callback(api: Detent) -> None:
    url = await waiting(api)
    answer = await api.call("POST", url, headers={"Origin": "https://pay.example", "Host": "tunnel.example"})
    assert answer.status == 200


@pytest.mark.case("D9")
async def test_whoever_tries_many_unknown_tokens_is_slowed_down_and_good_ones_are_not(api: Detent) -> None:
    url = await waiting(api)
    answers = [await api.call("POST", f"/wh/{number}") for number in range(ALLOWED + 1)]
    assert {answer.status for answer in answers[:ALLOWED]} == {404}
    assert (answers[-1].status, answers[-1].json["error"]) == (429, "limit_exceeded")
    assert 0 < int(answers[-1].headers["Retry-After"]) <= 60
    assert (await api.call("POST", url)).status == 200
