"""Requests of strangers who try to be someone else, and what the answers tell them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from detent.ids import RUN, parse
from tests.auth.browser import PASSWORD, Browser, Site, open_site
from tests.auth.issuer import AUDIENCE, ISSUER, SECRET, claims, sign

WORKFLOWS = "/api/v1/workflows"
CANARY = "canary-7373-of-a-secret"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with open_site(jwt_secret=SECRET, jwt_issuer=ISSUER, jwt_audience=AUDIENCE) as opened:
        yield opened


async def _raw(site: Site, head: str, body: str = "") -> tuple[int, str]:
    """Send a request as written and return the status and the text of the answer."""
    host, port = site.app.local_url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = [*head.strip().splitlines(), f"Host: {host}:{port}", f"Content-Length: {len(body)}", "Connection: close"]
    writer.write(("\r\n".join(line.strip() for line in lines) + "\r\n\r\n" + body).encode("latin-1"))
    answer = (await reader.read()).decode("latin-1")
    writer.close()
    return int(answer.split(" ", 2)[1]), answer


async def test_a_request_with_two_identities_has_none(site: Site) -> None:
    one, other = await site.key("viewer"), await site.key("instance-admin")
    for first, second in ((one, other), (other, one), (one, one), ("x", other), (other, "x")):
        for line in (f"GET {WORKFLOWS} HTTP/1.1", f"POST {WORKFLOWS}/w/trigger HTTP/1.1"):
            head = f"{line}\nAuthorization: Bearer {first}\nAuthorization: Bearer {second}"
            status, text = await _raw(site, head, "{}" if line.startswith("POST") else "")
            assert status in (400, 401), text
    await site.person()
    browser = await site.browser()
    await browser.sign_in(name="alice", password=PASSWORD)
    for path in (WORKFLOWS, f"{WORKFLOWS}/w/trigger"):
        both = {"Authorization": f"Bearer {other}", "X-Detent": "1"}
        assert (await browser.call("POST", path, json={}, headers=both)).status == 401


async def test_headers_of_other_systems_name_no_one(site: Site) -> None:
    names = (
        *("X-Forwarded-User", "X-Remote-User", "Remote-User", "X-Auth-Request-User", "X-Detent-Principal", "X-User"),
        *(
            "X-Detent-User",
            "X-Tenant-Id",
            "X-Original-URL",
            "X-Rewrite-URL",
            "X-HTTP-Method-Override",
            "X-Forwarded-For",
        ),
    )
    stranger = await site.browser(**dict.fromkeys(names, "127.0.0.1"), Cookie="detent=; user=admin; role=admin")
    for method, path in (("GET", WORKFLOWS), ("POST", f"{WORKFLOWS}/w/trigger"), ("GET", "/api/v1/me")):
        assert (await stranger.call(method, path)).status == 401
    viewer = await site.caller("viewer")
    override = {"X-HTTP-Method-Override": "DELETE", "X-Method-Override": "DELETE"}
    assert (await viewer.call("POST", f"{WORKFLOWS}/w", headers=override)).status in (403, 404, 405)


@pytest.mark.case("K15", "K16")
async def test_no_spelling_of_a_path_passes_the_policy(site: Site) -> None:
    admin = await site.caller()
    made = await admin.call("POST", WORKFLOWS, json={"name": "w", "tasks": {"a": {"url": "https://example.org"}}})
    assert made.status == 201
    spellings = (
        *("/api/v1/workflows/", "//api/v1/workflows", "/api//v1/workflows", "/api/v1/%77orkflows", "/API/v1/workflows"),
        *(
            "/api/v1/./workflows",
            "/api/v1/x/../workflows",
            "/api/v1/workflows;x=1",
            "/api/v1/workflows%2f",
            "/api/v1/workflows%00",
        ),
        *("/./api/v1/workflows/w", "/api/v1/workflows/%77", "/api/v1/workflows/w/", "/health/../api/v1/workflows"),
    )
    for path in spellings:
        status, text = await _raw(site, f"GET {path} HTTP/1.1")
        assert status in (400, 401, 403, 404), (path, text[:300])
        assert '"tasks"' not in text
    for path in (
        "/api/v1/workflows/w/trigger/",
        "/api/v1/workflows/%77/trigger",
        "/api/v1/workflows/w%2Ftrigger",
        "//api/v1/workflows/w/trigger",
    ):
        status, text = await _raw(site, f"POST {path} HTTP/1.1", "{}")
        assert status in (400, 401, 403, 404, 405), (path, text[:300])
    for method in ("OPTIONS", "HEAD", "TRACE", "PATCH", "PROPFIND"):
        status, text = await _raw(site, f"{method} {WORKFLOWS}/w HTTP/1.1\nOrigin: https://evil.example")
        assert status in (204, 400, 401, 404, 405, 501), (method, text[:300])
        assert "access-control-allow" not in text.lower()


async def test_a_proof_of_one_kind_is_none_of_another(site: Site) -> None:
    key = await site.key()
    await site.person()
    browser = await site.browser()
    await browser.sign_in(name="alice", password=PASSWORD)
    [cookie] = [one.value for one in browser.session.cookie_jar if one.key == "detent"]
    token = sign(claims(site.app.clock.wall() / 1e6))
    stranger = await site.browser()
    wrong = [
        cookie,
        f"dk_{token}",
        f"dl_{key[3:]}",
        key.upper(),
        f"{key}x",
        key[:-1],
        f"dk_{key}",
        f"{token}.{token}",
        f" {key} x",
    ]
    for text in wrong:
        assert (await stranger.call("GET", WORKFLOWS, headers={"Authorization": f"Bearer {text}"})).status == 401, text
    for text in (key, token, cookie[:-1], f'"{cookie}"', f"{cookie}, {cookie}"):
        assert (await stranger.call("GET", WORKFLOWS, headers={"Cookie": f"detent={text}"})).status == 401, text
    for scheme in ("Basic", "Token", "Digest", ""):
        assert (await stranger.call("GET", WORKFLOWS, headers={"Authorization": f"{scheme} {key}"})).status == 401


async def test_odd_claims_of_a_signed_token_are_refused_or_harmless(site: Site) -> None:
    now = site.app.clock.wall() / 1e6
    stranger = await site.browser()
    odd: list[Any] = [None, True, -1, 1e308, "x" * 5_000, [[]], {"a": 1}, "\x00", ["superuser", 1, None]]
    for name in ("sub", "tenant_id", "scope", "roles", "email", "exp", "iat", "aud"):
        for value in odd:
            token = sign(claims(now, **{name: value}))
            answer = await stranger.call("GET", "/api/v1/users", headers={"Authorization": f"Bearer {token}"})
            assert answer.status in (401, 403), (name, value, answer.text)


async def test_a_callback_is_answered_by_its_address_alone(site: Site) -> None:
    admin = await site.caller()
    wait = {"name": "w", "tasks": {f"ask{number}": {"wait_for_webhook": {"timeout": "1h"}} for number in range(4)}}
    assert (await admin.call("POST", WORKFLOWS, json=wait)).status == 201
    run = (await admin.call("POST", f"{WORKFLOWS}/w/trigger", json={})).json["data"]["run_id"]
    stranger = await site.browser()
    headers: tuple[dict[str, str], ...] = (
        {},
        {"Authorization": "Bearer nonsense"},
        {"Cookie": "detent=x"},
        {"Authorization": "Bearer a", "Cookie": "detent=x"},
    )
    for number, sent in enumerate(headers):
        token = site.app.engine.tokens.token(parse(RUN, run), f"ask{number}")
        answer = await stranger.call("POST", f"/wh/{token}", json={"n": 1}, headers=sent)
        assert answer.status in (200, 201, 202), (sent, answer.text)
        assert "Set-Cookie" not in answer.headers


async def _secrets_sent(admin: Browser) -> AsyncIterator[tuple[str, str]]:
    """Send a secret in every wrong way, and yield each answer."""
    shapes: list[Any] = [
        [CANARY],
        {"v": CANARY},
        {CANARY: 1},
        CANARY + "\x00",
        CANARY * 9_000,
        CANARY + "\n",
        [[CANARY] * 3],
    ]
    places: list[tuple[str, str, Any]] = []
    for value in shapes:
        signed = {"preset": "standard", "secrets": [value]}
        hook = {"type": "webhook", "signature": {"preset": "x", "secrets": value}}
        parts = {"kind": "token", "parts": {"token": value}, "secrets": {"token": value}}
        places += [
            ("PUT", "/api/v1/secrets/KEY", {"value": value, "hosts": 5}),
            ("PUT", "/api/v1/secrets/not a name", {"value": value}),
            ("PUT", "/api/v1/secrets/KEY", {"valeu": value}),
            ("PUT", "/api/v1/credentials/crm", {"kind": "token", "token": value, "hosts": "x"}),
            ("PUT", "/api/v1/credentials/crm", {"kind": "tokne", "token": value}),
            ("PUT", "/api/v1/credentials/crm", {"kind": "basic", "username": value, "password": value, "hosts": 1}),
            ("PUT", "/api/v1/credentials/crm", parts),
            ("POST", "/api/v1/users", {"name": "bob", "role": "viewer", "password": value, "x": 1}),
            ("POST", "/login", {"name": "alice", "password": value, "next": 3}),
            ("POST", "/login", {"key": value}),
            ("POST", "/api/v1/triggers", {"workflow": "w", "type": "webhook", "config": {"signature": signed}}),
            ("POST", WORKFLOWS, {"name": "v", "trigger": hook, "tasks": {}}),
        ]
    for method, path, body in places:
        answer = await admin.call(method, path, json=body)
        yield f"{method} {path} {str(body)[:120]} {answer.status}", answer.text
    for path in ("/api/v1/secrets/KEY", "/api/v1/credentials/crm"):
        for text in (
            f'{{"value": "{CANARY}"',
            f'{{"value": "{CANARY}", "value": "{CANARY}"}}',
            f'"{CANARY}"',
            CANARY,
            f'{{"value": "{CANARY}\\q"}}',
        ):
            answer = await admin.call("PUT", path, data=text)
            yield f"PUT {path} {text} {answer.status}", answer.text


async def test_no_refusal_repeats_a_secret_and_no_audit_row_has_it() -> None:
    async with open_site(encryption_key="0" * 64) as site:
        admin = await site.caller()
        answers = {what: text async for what, text in _secrets_sent(admin)}
        await asyncio.sleep(1.2)  # refusals are gathered for a second
        answers["audit"] = (await admin.call("GET", "/api/v1/audit?limit=200")).text
    assert not [what for what, text in answers.items() if "500" in what[-4:]]
    assert {what: text[:600] for what, text in answers.items() if CANARY in text} == {}
    assert json.loads(answers["audit"])["data"]
