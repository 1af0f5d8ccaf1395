"""Credentials over the API, and the runs that use them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from aiohttp import web

from detent.auth.caller import Caller
from detent.commands.vault.connect import ProviderAnswer
from detent.errors import Forbidden
from detent.vault.sealing import new_key
from tests.api.server import Detent, serving
from tests.connectors.mail import PASSWORD, USER, open_mail
from tests.steps.listeners import website
from tests.steps.provider import CLIENT, Provider, providing

SECRET = "correct-horse-battery"
HTTP = "name: call\ntasks:\n  ask: {url: '%s', method: GET, credential: crm, retries: 0}\n"


@pytest.fixture
async def detent(tmp_path: Path) -> AsyncIterator[Detent]:
    async with serving(f"sqlite:///{tmp_path}/detent.db", encryption_key=new_key()) as opened:
        yield opened


async def put(detent: Detent, name: str = "crm", **document: Any) -> Any:
    answer = await detent.call("PUT", f"/api/v1/credentials/{name}", json=document)
    assert answer.status == 200, answer.text
    assert SECRET not in answer.text
    return answer.json["data"]


async def echo(request: web.Request) -> web.Response:
    return web.json_response({"headers": dict(request.headers)})


async def test_a_credential_is_set_listed_shown_and_deleted_without_its_value(detent: Detent) -> None:
    document = await put(detent, kind="basic", username="ann", password=SECRET, hosts=["api.example.com"])
    assert (document["state"], document["version"], document["config"]) == ("ready", 1, {"username": "ann"})
    assert (await put(detent, kind="token", token=SECRET, hosts=["api.example.com"]))["version"] == 2
    await put(detent, "other", kind="token", token=SECRET, hosts=["*.example.com"])
    first = await detent.call("GET", "/api/v1/credentials?limit=1")
    rest = await detent.call("GET", f"/api/v1/credentials?cursor={first.json['next_cursor']}")
    assert [row["name"] for row in (*first.json["data"], *rest.json["data"])] == ["crm", "other"]
    shown = await detent.call("GET", "/api/v1/credentials/crm")
    assert shown.json["data"]["hosts"] == ["api.example.com"]
    assert SECRET not in first.text + rest.text + shown.text
    assert (await detent.call("DELETE", "/api/v1/credentials/crm")).status == 200
    for missing in ("crm", "no%20name", "x" * 300):
        assert (await detent.call("GET", f"/api/v1/credentials/{missing}")).status == 404


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"null", b'{"kind": "token"}', b'{"kind": {}}', b'{"kind":"token","hosts":{"a":1}}']
)
async def test_a_body_that_is_not_a_credential_is_refused(detent: Detent, body: bytes) -> None:
    assert (await detent.call("PUT", "/api/v1/credentials/crm", data=body)).status == 400


async def test_a_credential_needs_hosts_unless_a_connector_says_its_own(detent: Detent) -> None:
    answer = await detent.call("PUT", "/api/v1/credentials/crm", json={"kind": "token", "token": SECRET})
    assert answer.status == 400
    assert "no connector 'crm' says its address" in answer.text
    assert (await put(detent, "github", kind="token", token=SECRET))["hosts"] == ["api.github.com"]


async def test_without_a_key_nothing_is_stored() -> None:
    async with serving("memory://") as detent:
        document = {"kind": "token", "token": SECRET, "hosts": ["a.example"]}
        answer = await detent.call("PUT", "/api/v1/credentials/crm", json=document)
    assert answer.status == 409
    assert "DETENT_ENCRYPTION_KEY" in answer.text


async def test_a_run_sends_a_credential_and_stores_nothing_of_it(detent: Detent, tmp_path: Path) -> None:
    seen: list[str] = []

    async def serve(request: web.Request) -> web.Response:
        seen.append(request.headers.get("X-Key", ""))
        return await echo(request)

    async with website(serve) as url:
        saved = await detent.call("POST", "/api/v1/workflows", data=HTTP % url)
        assert "the credential 'crm' of the step 'ask' is not stored" in saved.text
        await put(detent, kind="header", header="X-Key", value=SECRET, hosts=[urlsplit(url).netloc])
        again = await detent.call("PUT", "/api/v1/workflows/call", data=HTTP % url)
        assert "is not stored" not in again.text
        run = await detent.ended(await detent.start("call", {}))
    assert run["status"] == "completed"
    assert seen == [SECRET]
    step = await detent.call("GET", f"/api/v1/runs/{run['id']}/steps/ask")
    assert SECRET not in json.dumps(run) + step.text
    for file in tmp_path.glob("detent.db*"):
        assert SECRET.encode() not in file.read_bytes()


async def test_a_connector_uses_the_stored_credential_of_its_name(detent: Detent) -> None:
    async with website(echo) as url:
        action = {"request": {"path": "/me"}, "output": {"sent": "{{ response.body.headers }}"}}
        manifest = {"connector": "crm", "version": "1.0.0", "title": "CRM", "base_url": url, "auth": {"type": "bearer"}}
        answer = await detent.call("POST", "/api/v1/connectors", json={**manifest, "actions": {"me": action}})
        assert answer.json["data"]["missing"] == ["CONNECTOR_CRM_TOKEN"]
        document = await put(detent, kind="token", token=SECRET)
        assert document["hosts"] == [urlsplit(url).netloc]
        assert (await detent.call("GET", "/api/v1/connectors/crm")).json["data"]["missing"] == []
        await detent.save("name: me\ntasks:\n  ask: {action: crm.me}\n")
        run = await detent.ended(await detent.start("me", {}))
        assert run["tasks"]["ask"]["output"]["sent"]["Authorization"] == "Bearer ***"
        # Another name, and a host that it does not allow.
        await put(detent, "strict", kind="token", token=SECRET, hosts=["api.example.com"])
        await detent.save("name: strict\ntasks:\n  ask: {action: crm.me, credential: strict}\n")
        run = await detent.ended(await detent.start("strict", {}))
        assert run["tasks"]["ask"]["error"]["code"] == "credential_denied"


async def test_a_connector_in_python_uses_the_stored_credential_that_its_step_names(
    detent: Detent, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = "action: email.send, with: {to: ann@example.org, from: shop@example.org, subject: Paid, text: It was paid.}"
    async with open_mail(login=True) as mailbox:
        monkeypatch.setenv("CONNECTOR_EMAIL_URL", mailbox.url())
        host = urlsplit(mailbox.url()).netloc
        await put(detent, "shop", kind="basic", username=USER, password=PASSWORD, hosts=[host])
        await put(detent, "strict", kind="basic", username=USER, password=PASSWORD, hosts=["mail.example.com:25"])
        for credential in ("shop", "strict"):
            saved = await detent.save(f"name: {credential}\ntasks:\n  tell: {{{mail}, credential: {credential}}}\n")
            assert "CONNECTOR_EMAIL" not in str(saved)
        run = await detent.ended(await detent.start("shop", {}))
        assert run["status"] == "completed", run
        assert mailbox.users == [USER]
        run = await detent.ended(await detent.start("strict", {}))
        assert run["tasks"]["tell"]["error"]["code"] == "credential_denied"
        assert len(mailbox.messages) == 1


async def test_a_dead_grant_pauses_its_runs_and_they_go_on_when_it_is_set_again(detent: Detent) -> None:
    async with providing() as provider:
        client: dict[str, Any] = {
            "kind": "oauth2_client",
            "token_url": f"{provider.url}/token",
            "client_id": CLIENT[0],
            "hosts": [urlsplit(provider.url).netloc],
        }
        await put(detent, client_secret="a-wrong-secret", **client)
        await detent.save(HTTP % provider.url)
        started = [await detent.start("call", {}) for _ in range(3)]
        for one in started:
            await detent.until(one, lambda run: run["status"] == "paused")
        why = await detent.call("GET", f"/api/v1/runs/{started[0]['run_id']}/why")
        assert "detent credentials set crm" in why.text
        assert "goes on by itself" in why.text
        shown = (await detent.call("GET", "/api/v1/credentials/crm")).json["data"]
        assert (shown["state"], "invalid_client" in shown["reason"]) == ("reconnect", True)
        await put(detent, client_secret=CLIENT[1], **client)
        for one in started:
            assert (await detent.ended(one))["status"] == "completed"


async def put_code(detent: Detent, provider: Provider, **given: Any) -> Any:
    return await put(
        detent,
        kind="oauth2_code",
        authorization_url=f"{provider.url}/authorize",
        token_url=f"{provider.url}/token",
        client_id=CLIENT[0],
        client_secret=CLIENT[1],
        scopes=["read", "write"],
        hosts=[urlsplit(provider.url).netloc],
        **given,
    )


async def agree(detent: Detent, provider: Provider) -> str:
    """Begin a connection, and agree as a person does. Return the address that the browser is sent to."""
    answer = await detent.call("POST", "/api/v1/credentials/crm/connect")
    assert answer.status == 200, answer.text
    page = urlsplit(answer.json["data"]["url"])
    query = dict(parse_qsl(page.query))
    assert page.path == "/authorize"
    assert query["scope"] == "read write"
    assert query["redirect_uri"] == f"{detent.app.base_url}/oauth/callback"
    return provider.code(query).removeprefix(detent.app.base_url)


async def test_a_person_connects_a_credential_and_waiting_runs_go_on(detent: Detent) -> None:
    async with providing() as provider:
        assert (await put_code(detent, provider, issuer=provider.url))["state"] == "new"
        await detent.save(HTTP % provider.url)
        started = await detent.start("call", {})
        await detent.until(started, lambda run: run["status"] == "paused")
        back = await agree(detent, provider)
        done = await detent.call("GET", back)
        assert done.status == 200
        assert "You can close this page" in done.text
        assert "access-token" not in done.text
        assert (await detent.ended(started))["status"] == "completed"
        shown = (await detent.call("GET", "/api/v1/credentials/crm")).json["data"]
        assert shown["state"] == "ready"
        assert shown["expires_at"] is not None
        # The state is used once, whatever comes with it.
        assert (await detent.call("GET", back)).status == 400
        # The grant stays if only the secret of the same client is set again.
        assert (await put_code(detent, provider, issuer=provider.url))["state"] == "ready"
        assert (await detent.ended(await detent.start("call", {})))["status"] == "completed"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"iss": "https://evil.example"}, "is not of the issuer"),
        ({"code": "another-code"}, "invalid_grant"),
        ({"code": ""}, "no code"),
        ({"error": "access_denied<b>"}, "access_denied&lt;b&gt;"),
        ({"state": "guessed"}, "used before"),
        ({"state": ""}, "used before"),
    ],
)
async def test_an_answer_that_does_not_fit_connects_nothing(detent: Detent, change: dict[str, str], words: str) -> None:
    async with providing() as provider:
        await put_code(detent, provider, issuer=provider.url)
        back = urlsplit(await agree(detent, provider))
        query = urlencode({**dict(parse_qsl(back.query)), **change})
        answer = await detent.call("GET", f"{back.path}?{query}")
        assert answer.status == 400
        assert words in answer.text
        assert (await detent.call("GET", "/api/v1/credentials/crm")).json["data"]["state"] == "new"


async def test_a_credential_that_was_changed_meanwhile_is_not_connected(detent: Detent) -> None:
    async with providing() as provider:
        await put_code(detent, provider)
        back = await agree(detent, provider)
        await put_code(detent, provider, parameters={"prompt": "consent"})
        answer = await detent.call("GET", back)
        assert answer.status == 400
        assert "was changed meanwhile" in answer.text
        back = await agree(detent, provider)
        await detent.call("DELETE", "/api/v1/credentials/crm")
        assert (await detent.call("GET", back)).status == 404
        await put(detent, kind="token", token=SECRET, hosts=["a.example"])
        assert (await detent.call("POST", "/api/v1/credentials/crm/connect")).status == 409


async def test_a_connection_of_a_session_is_finished_by_the_same_caller(detent: Detent) -> None:
    async with providing() as provider:
        await put_code(detent, provider)
        ann = detent.app.commands.for_caller(Caller(1, "person ann", via="session")).credentials
        for finisher, refused in ((None, True), (Caller(1, "person bob"), True), (Caller(1, "person ann"), False)):
            page = await ann.connect("crm")
            back = urlsplit(provider.code(dict(parse_qsl(urlsplit(page.url).query))))
            query = dict(parse_qsl(back.query))
            answer = ProviderAnswer(query["state"], query["code"], query["iss"])
            if refused:
                with pytest.raises(Forbidden, match="another person"):
                    await ann.finish(answer, finisher)
            else:
                assert (await ann.finish(answer, finisher)).state == "ready"


async def test_a_rotation_seals_credentials_with_the_first_key(tmp_path: Path) -> None:
    old, new = new_key(), new_key()
    url = f"sqlite:///{tmp_path}/detent.db"
    async with serving(url, encryption_key=old) as detent:
        await put(detent, kind="header", header="X-Key", value=SECRET, hosts=["127.0.0.1:9"])
    async with serving(url, encryption_key=f"{new},{old}") as detent:
        done = await detent.call("POST", "/api/v1/rotate-secrets")
        assert done.json["data"]["sealed"] == 1
    async with serving(url, encryption_key=new) as detent:
        document = await detent.call("GET", "/api/v1/credentials/crm")
        assert document.json["data"]["version"] == 1
        done = await detent.call("POST", "/api/v1/rotate-secrets")
        assert (done.json["data"]["sealed"], done.json["data"]["current"]) == (0, 1)
