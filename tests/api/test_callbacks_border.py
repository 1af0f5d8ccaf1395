"""Callback URLs before strangers: nobody guesses, reads or uses one by accident, and any payload is safe to send."""

from __future__ import annotations

import asyncio
import base64
import secrets
from typing import Any

import pytest

from detent.api.server import guards
from detent.engine.callbacks import CallbackTokens
from detent.observe import listen
from tests.api.server import Detent, statuses
from tests.api.test_routes import WAIT, waiting

READS = """
name: reads
tasks:
  w: {wait_for_webhook: {}}
  use:
    needs: [w]
    action: core.echo
    with: {body: "{{tasks.w.body}}", action: "{{tasks.w.query.action}}", kind: "{{tasks.w.encoding}}"}
"""
PICTURE = b"\x89PNG\r\n\x1a\n\x00\xff"
FORM = (
    b'--b0\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n'
    b'--b0\r\nContent-Disposition: form-data; name="doc"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'
    + PICTURE
    + b"\r\n--b0--\r\n"
)
DOC = {
    "filename": "a.png",
    "content_type": "image/png",
    "size": len(PICTURE),
    "base64": base64.b64encode(PICTURE).decode(),
}

PAYLOADS: dict[str, tuple[str, bytes, Any, str | None]] = {
    "a NUL": ("application/json", b'{"a": "\\u0000"}', {"a": "\x00"}, None),
    "a form": ("application/x-www-form-urlencoded", b"a=1&a=2", {"a": ["1", "2"]}, None),
    "a form with a file": ("multipart/form-data; boundary=b0", FORM, {"note": "hello", "doc": DOC}, None),
    "XML": ("application/xml", b"<paid id='1'/>", "<paid id='1'/>", None),
    "a picture": ("image/png", PICTURE, base64.b64encode(PICTURE).decode(), "base64"),
    "nothing": ("application/json", b"", None, None),
    "text that is not UTF-8": ("text/plain", b"\xff\x00", "/wA=", "base64"),
    "the most there may be": ("application/octet-stream", b"\xff" * 256 * 1024, "/" * 349_524 + "/w==", "base64"),
}


@pytest.mark.case("D13")
async def test_any_payload_is_kept_and_can_be_read_by_the_steps_behind(detent: Detent) -> None:
    await detent.save(READS)
    for case, (kind, sent, kept, encoding) in PAYLOADS.items():
        started = await detent.start("reads", {})
        url = (await detent.run(started))["callbacks"][0]["url"]
        answer = await detent.call("POST", f"{url}?action=approve", data=sent, headers={"Content-Type": kind})
        assert answer.status in (200, 202), (case, answer.text)
        run = await detent.ended(started)
        step = run["tasks"]["w"]
        assert (step["body"], step.get("encoding"), step["query"]) == (kept, encoding, {"action": "approve"}), case
        if len(sent) < 1000:
            assert run["output"] == {"body": kept, "action": "approve", "kind": encoding}, case


@pytest.mark.case("D13")
async def test_a_payload_that_is_refused_leaves_the_wait_as_it_was(api: Detent) -> None:
    url = await waiting(api)
    for bad in (b"[" * 100_000, b'{"a": NaN}', b'{"a": 1, "a": 2}', b'"\\ud800"', b'"\xff"', b"{"):
        answer = await api.call("POST", url, data=bad, headers={"Content-Type": "application/json"})
        assert (answer.status, answer.json["error"]) == (400, "invalid_argument")
    assert (await api.call("POST", url, json={"good": True})).status == 200


@pytest.mark.slow
@pytest.mark.case("D9")
async def test_tokens_cannot_be_found_by_trying(detent: Detent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "ALLOWED", 100_000)
    await detent.save(WAIT)
    started = await detent.start("waits", {})
    good = (await detent.run(started))["callbacks"][0]["url"].rpartition("/")[2]
    run, step = detent.app.engine.tokens.read(good) or (b"", "")
    other = CallbackTokens("another key", "http://x").token(run, step)
    unknown_run = detent.app.engine.tokens.token(secrets.token_bytes(16), step)
    unknown_step = detent.app.engine.tokens.token(run, "x")
    near = [good[:place] + ("A" if good[place] != "A" else "B") + good[place + 1 :] for place in range(len(good))]
    tried = [other, unknown_run, unknown_step, *near, *(secrets.token_urlsafe(40) for _ in range(500))]
    answers = await asyncio.gather(*(detent.call("POST", f"/wh/{token}", json={}) for token in tried))
    assert {(answer.status, answer.text) for answer in answers} == {(404, answers[0].text)}
    pages = [await detent.call("GET", f"/wh/{token}") for token in tried[:20]]
    assert {(page.status, page.text) for page in pages} == {(404, pages[0].text)}
    assert statuses(await detent.run(started))["w"] == "waiting"


@pytest.mark.case("D9")
async def test_ten_thousand_random_tokens_are_known_to_nobody(api: Detent) -> None:
    for _ in range(10_000):
        assert api.app.engine.tokens.read(secrets.token_urlsafe(45)) is None


@pytest.mark.case("D9")
async def test_looking_at_unknown_addresses_is_slowed_down_as_well(api: Detent) -> None:
    statuses_seen = [(await api.call("GET", f"/wh/{number}")).status for number in range(guards.ALLOWED + 1)]
    assert set(statuses_seen[:-1]) == {404}
    assert statuses_seen[-1] == 429


@pytest.mark.case("D10")
async def test_a_token_is_in_no_log_and_goes_to_no_other_site(api: Detent, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    stop = listen(lambda name, facts: heard.append(f"{name} {facts}"))
    url = await waiting(api)
    token = url.rpartition("/")[2]
    page = await api.call("GET", url)
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    assert token not in page.text

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a mistake of ours")

    with monkeypatch.context() as patch:
        patch.setattr(api.app.store, "deliver", broken)
        for place in (url, url.replace("/wh/", "/webhook/workflow/resume/")):
            answer = await api.call("POST", place, json={})
            assert answer.status == 500
            assert token not in answer.text
    assert (await api.call("POST", url, json={})).status == 200
    assert (await api.call("POST", url, json={})).status == 409
    stop()
    assert any(line.startswith("api.failed") for line in heard)
    assert not [line for line in heard if token in line]


@pytest.mark.case("D11")
async def test_whoever_only_looks_at_a_callback_url_uses_nothing(detent: Detent) -> None:
    url = await waiting(detent)
    for place in (f"{url}?action=approve", url.replace("/wh/", "/webhook/workflow/resume/")):
        for method, status in (("GET", 200), ("HEAD", 200), ("OPTIONS", 204), ("PUT", 405), ("DELETE", 405)):
            for headers in ({}, {"Purpose": "prefetch"}, {"User-Agent": "link scanner"}):
                answer = await detent.call(method, place, headers=headers)
                assert answer.status == status, (method, answer.text)
    assert (await detent.call("POST", url, json={"by": "a person"})).status == 200


async def test_the_page_says_what_it_is_about_and_carries_the_parameters_of_its_address(detent: Detent) -> None:
    url = await waiting(detent)
    page = await detent.call("GET", f"{url}?action=approve&note=%3Cb%3E")
    assert page.headers["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    for shown in ("waits", "<dd>w", "Sends action", "approve", "&lt;b&gt;", '<form method="post"><button'):
        assert shown in page.text
    assert "<b>" not in page.text
    browser = {"Accept": "text/html,application/xhtml+xml", "Content-Type": "application/x-www-form-urlencoded"}
    pressed = await detent.call("POST", f"{url}?action=approve&note=x", data=b"", headers=browser)
    assert (pressed.status, pressed.headers["Content-Type"].partition(";")[0]) == (200, "text/html")
    assert "Thank you" in pressed.text
    again = await detent.call("POST", f"{url}?action=approve", data=b"", headers=browser)
    assert again.status == 409
    assert "Already answered" in again.text
    after = await detent.call("GET", url)
    assert after.status == 200
    assert "Already answered" in after.text
    assert "<form" not in after.text


async def test_the_page_of_a_wait_that_is_over_says_so(detent: Detent) -> None:
    await detent.save(WAIT.replace("1h", "100ms"))
    started = await detent.start("waits", {})
    run = await detent.ended(started)
    page = await detent.call("GET", run["callbacks"][0]["url"])
    assert page.status == 200
    assert "Too late" in page.text
    assert "<form" not in page.text
