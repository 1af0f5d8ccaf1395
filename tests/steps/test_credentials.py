"""Steps that use stored credentials: what is sent where, and how tokens are renewed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from detent.clock import SystemClock
from detent.graph.model import StepKind
from detent.run.outcomes import Outcome, Pause
from detent.steps.credentials.keeper import CredentialKeeper
from detent.steps.credentials.requests import CredentialRequests
from detent.steps.credentials.tokens import TokenEndpoint
from detent.steps.http.step import HttpExecutor
from detent.store.memory.store import MemoryStore
from detent.vault.secrets import SecretOpener
from tests.steps.calls import RUN_ID, answer, attempt, call_of, done, failed
from tests.steps.listeners import website
from tests.steps.provider import CLIENT, Provider, providing
from tests.steps.vaults import VAULT, put

SECRET = "correct-horse-battery"
HOUR = 3_600_000_000


class Node:
    """The credentials of one node, with its own clock."""

    def __init__(self, http: HttpExecutor, store: MemoryStore, number: int = 1, **given: Any) -> None:
        self.later = 0
        self.secrets = SecretOpener(VAULT)
        self.http = http
        self.credentials = CredentialKeeper(
            TokenEndpoint(http, limit=given.pop("limit", 10.0)),
            node=bytes([number]) * 16,
            wall=lambda: SystemClock().wall() + self.later,
            **given,
        )
        self.credentials.open(store, self.secrets)
        self.requests = CredentialRequests(http, self.credentials)
        http.authorizer = self.requests

    async def run(self, url: str, credential: str = "crm", **parameters: Any) -> Outcome:
        whole = {"url": url, "method": "GET", "credential": credential, **parameters}
        return await attempt(self.http, call_of(StepKind.HTTP, whole))


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(SystemClock())


@pytest.fixture
async def node(http: HttpExecutor, store: MemoryStore) -> AsyncIterator[Node]:
    made = Node(http, store)
    yield made
    await made.credentials.close()


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with providing() as made:
        yield made


async def put_grant(store: MemoryStore, provider: Provider, **given: Any) -> None:
    """Store a credential whose grant a person has given."""
    document: dict[str, Any] = {
        "kind": "oauth2_code",
        "authorization_url": f"{provider.url}/authorize",
        "token_url": f"{provider.url}/token",
        "client_id": CLIENT[0],
        "client_secret": CLIENT[1],
        "hosts": [host_of(provider.url)],
    }
    await put(store, "crm", refresh=provider.connect(), **document, **given)


def host_of(url: str) -> str:
    return urlsplit(url).netloc


async def echo(request: web.Request) -> web.Response:
    return web.json_response({"headers": dict(request.headers), "url": str(request.url)})


@pytest.mark.parametrize(
    ("document", "header", "value"),
    [
        ({"kind": "token", "token": SECRET}, "Authorization", f"Bearer {SECRET}"),
        ({"kind": "header", "header": "X-Key", "value": SECRET}, "X-Key", SECRET),
        ({"kind": "api_key", "name": "X-Key", "key": SECRET}, "X-Key", SECRET),
        (
            {"kind": "basic", "username": "ann", "password": SECRET},
            "Authorization",
            "Basic YW5uOmNvcnJlY3QtaG9yc2UtYmF0dGVyeQ==",
        ),
    ],
)
async def test_a_request_carries_its_credential_and_its_result_does_not(
    node: Node, store: MemoryStore, document: dict[str, Any], header: str, value: str
) -> None:
    seen: list[web.Request] = []

    async def serve(request: web.Request) -> web.Response:
        seen.append(request)
        return await echo(request)

    async with website(serve) as url:
        await put(store, "crm", hosts=[host_of(url)], **document)
        result = done(await node.run(url))
    assert seen[0].headers[header] == value
    assert SECRET not in str(result)
    assert value not in str(result)
    assert node.secrets.clean(f"it is {SECRET}") == "it is ***"


async def test_a_key_may_be_in_the_query_and_is_in_no_message(node: Node, store: MemoryStore) -> None:
    seen: list[str] = []

    async def refuse(request: web.Request) -> web.Response:
        seen.append(request.query["key"])
        return web.Response(status=500, text=str(request.url))

    async with website(refuse) as url:
        document: dict[str, Any] = {"kind": "api_key", "name": "key", "in": "query", "key": SECRET}
        await put(store, "crm", hosts=[host_of(url)], **document)
        outcome = failed(await node.run(f"{url}/a?b=1"), "http_status")
    assert seen == [SECRET]
    assert SECRET not in str(outcome)


async def test_aws_signs_what_is_sent(node: Node, store: MemoryStore) -> None:
    async with website(echo) as url:
        document: dict[str, Any] = {"kind": "aws4", "access_key_id": "AKIDEXAMPLE", "secret_access_key": SECRET}
        await put(store, "crm", hosts=[host_of(url)], **document, service="execute-api", region="eu-west-1")
        headers = done(await node.run(f"{url}/x?b=1&a=2"))["body"]["headers"]
    assert headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-west-1/execute-api/aws4_request" in headers["Authorization"]


async def test_a_credential_is_not_sent_to_another_host(node: Node, store: MemoryStore) -> None:
    async with website(echo) as url:
        await put(store, "crm", hosts=["api.example.com"], kind="token", token=SECRET)
        fail = failed(await node.run(url), "credential_denied")
    assert not fail.retry
    assert "it allows api.example.com" in fail.error.message


async def test_no_redirect_takes_a_credential_to_another_host(node: Node, store: MemoryStore) -> None:
    seen: list[dict[str, str]] = []

    async def elsewhere(request: web.Request) -> web.Response:
        seen.append(dict(request.headers))
        return web.json_response({})

    async with website(elsewhere) as other:

        async def redirect(request: web.Request) -> web.Response:
            return web.Response(status=302, headers={"Location": request.query.get("to", f"{other}/?leak={SECRET}")})

        async with website(redirect) as url:
            await put(store, "crm", hosts=[host_of(url)], kind="header", header="X-Key", value=SECRET)
            done(await node.run(f"{url}/?to={other}"))
            failed(await node.run(url), "credential_denied")
    assert len(seen) == 1
    assert SECRET not in str(seen)


async def test_a_redirect_to_a_host_that_the_credential_allows_carries_it(node: Node, store: MemoryStore) -> None:
    async with website(echo) as other:

        async def redirect(_: web.Request) -> web.Response:
            return web.Response(status=302, headers={"Location": other})

        async with website(redirect) as url:
            await put(store, "crm", hosts=[host_of(url), host_of(other)], kind="header", header="X-Key", value=SECRET)
            assert done(await node.run(url))["body"]["headers"]["X-Key"] == "***"


async def test_a_step_with_a_credential_that_is_not_stored_fails(node: Node) -> None:
    fail = failed(await node.run("http://127.0.0.1:9"), "missing_credential")
    assert "detent credentials set crm" in fail.error.message
    assert not fail.retry


async def test_a_process_without_credentials_sends_nothing(http: HttpExecutor) -> None:
    whole = {"url": "http://127.0.0.1:9", "credential": "crm"}
    failed(await attempt(http, call_of(StepKind.HTTP, whole)), "missing_credential")


async def test_two_hundred_steps_at_the_moment_of_expiry_cause_one_refresh(
    node: Node, store: MemoryStore, provider: Provider
) -> None:
    await put_grant(store, provider)
    outcomes = await asyncio.gather(*(node.run(provider.url) for _ in range(200)))
    assert {answer(one)["status_code"] for one in outcomes} == {200}
    assert len(provider.forms) == 1
    node.later += HOUR
    outcomes = await asyncio.gather(*(node.run(provider.url) for _ in range(200)))
    assert {answer(one)["status_code"] for one in outcomes} == {200}
    assert len(provider.forms) == 2


async def test_nodes_renew_one_at_a_time(http: HttpExecutor, store: MemoryStore, provider: Provider) -> None:
    await put_grant(store, provider)
    nodes = [Node(http, store, number) for number in range(1, 4)]
    provider.gate = asyncio.Event()
    finding = [asyncio.create_task(one.credentials.find(1, "crm")) for one in nodes for _ in range(10)]
    await provider.asked(1)
    provider.gate.set()
    found = await asyncio.gather(*finding)
    assert len({one.token for one in found if one is not None}) == 1
    assert len(provider.forms) == 1


async def test_a_token_that_expires_soon_is_used_while_it_is_renewed(
    node: Node, store: MemoryStore, provider: Provider
) -> None:
    await put_grant(store, provider)
    done(await node.run(provider.url))
    node.later += HOUR - 30_000_000
    provider.gate = asyncio.Event()
    outcomes = await asyncio.gather(*(node.run(provider.url) for _ in range(5)))
    assert {answer(one)["status_code"] for one in outcomes} == {200}
    provider.gate.set()
    await node.credentials.close()
    assert len(provider.forms) == 2
    row = await store.credential(1, "crm")
    assert row is not None
    assert row.version == 3


async def test_a_401_renews_once_and_costs_no_attempt(node: Node, store: MemoryStore, provider: Provider) -> None:
    await put_grant(store, provider)
    done(await node.run(provider.url))
    provider.revoke_tokens()
    outcomes = await asyncio.gather(*(node.run(provider.url) for _ in range(20)))
    assert {answer(one)["status_code"] for one in outcomes} == {200}
    assert len(provider.forms) == 2
    provider.revoke_tokens()  # a service that refuses every token does not make the provider issue more
    failed(await node.run(provider.url), "http_status")
    assert len(provider.forms) == 2


async def test_a_rotated_refresh_token_is_used_next(node: Node, store: MemoryStore, provider: Provider) -> None:
    provider.is_strict = True
    await put_grant(store, provider)
    for _ in range(3):
        done(await node.run(provider.url))
        node.later += HOUR
    sent = [form["refresh_token"] for form in provider.forms]
    assert len(set(sent)) == 3


async def test_a_dead_grant_pauses_the_run_until_a_person_connects_it(
    node: Node, store: MemoryStore, provider: Provider
) -> None:
    await put_grant(store, provider)
    provider.end_grant()
    outcome = await node.run(provider.url)
    assert isinstance(outcome, Pause)
    assert outcome.reason == "credential"
    assert outcome.error is not None
    assert "invalid_grant" in outcome.error.message
    assert "detent credentials connect crm" in outcome.error.message
    assert "refresh-" not in outcome.error.message
    row = await store.credential(1, "crm")
    assert row is not None
    assert row.state == "reconnect"
    assert isinstance(await node.run(provider.url), Pause)
    assert len(provider.forms) == 1
    assert await store.awaiting_runs(limit=9) == []
    await store.drop_credential(1, "crm")
    assert [one.run for one in await store.awaiting_runs(limit=9)] == [RUN_ID]


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (web.Response(status=503, text="busy"), "answered 503"),
        (web.Response(status=200, text="<html>"), "without a JSON object"),
        (web.Response(status=200, body=b'{"access_token": "' + b"x" * 70_000 + b'"}'), "more than 64 KB"),
        (web.json_response({"access_token": "line\nbreak"}), "no usable access_token"),
        (web.json_response({"access_token": 7}), "no usable access_token"),
        (web.json_response({"access_token": "a-token", "token_type": "mac"}), "type 'mac'"),
        (web.json_response({"error": "slow_down"}, status=400), "slow_down"),
        (web.json_response(["list"], status=400), "without a JSON object"),
    ],
)
async def test_trouble_with_the_provider_is_a_failure_that_is_tried_again(
    node: Node, store: MemoryStore, provider: Provider, says: web.Response, words: str
) -> None:
    await put_grant(store, provider)
    provider.says = says
    fail = failed(await node.run(provider.url), "token_refused")
    assert fail.retry
    assert words in fail.error.message
    row = await store.credential(1, "crm")
    assert row is not None
    assert row.state == "ready"
    assert row.refresher is None


async def test_a_provider_that_hangs_has_a_time_limit(
    http: HttpExecutor, store: MemoryStore, provider: Provider
) -> None:
    node = Node(http, store, limit=0.05)
    await put_grant(store, provider)
    provider.gate = asyncio.Event()
    fail = failed(await node.run(provider.url), "token_refused")
    assert "no complete answer" in fail.error.message
    provider.gate.set()


async def test_client_credentials_get_tokens_and_a_refused_client_pauses(
    node: Node, store: MemoryStore, provider: Provider
) -> None:
    url = f"{provider.url}/token"
    document: dict[str, Any] = {"kind": "oauth2_client", "token_url": url, "client_id": CLIENT[0]}
    hosts = [host_of(provider.url)]
    await put(store, "crm", client_secret=CLIENT[1], scopes=["a", "b"], hosts=hosts, **document)
    done(await node.run(provider.url))
    assert provider.forms[0]["scope"] == "a b"
    await put(store, "bad", client_secret="another-secret", client_auth="body", hosts=hosts, **document)
    outcome = await node.run(provider.url, "bad")
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "detent credentials set bad" in outcome.error.message


async def test_a_provider_without_rotation_keeps_its_refresh_token(
    node: Node, store: MemoryStore, provider: Provider
) -> None:
    provider.rotates = False
    await put_grant(store, provider)
    for _ in range(2):
        done(await node.run(provider.url))
        node.later += HOUR
    assert len({form["refresh_token"] for form in provider.forms}) == 1


async def test_a_lease_of_a_dead_node_ends_and_the_old_refresh_token_is_sent_again(
    http: HttpExecutor, store: MemoryStore, provider: Provider
) -> None:
    await put_grant(store, provider)
    assert await store.lease_credential(1, "crm", 1, by=b"d" * 16, seconds=0.2)
    node = Node(http, store)
    done(await node.run(provider.url))
    assert len(provider.forms) == 1


async def test_an_answer_that_comes_after_the_lease_is_stored_unless_something_newer_is(
    http: HttpExecutor, store: MemoryStore, provider: Provider
) -> None:
    await put_grant(store, provider)
    slow, quick = Node(http, store, 1, lease=0.01), Node(http, store, 2, lease=30.0)
    provider.gate = asyncio.Event()
    late = asyncio.create_task(slow.credentials.find(1, "crm"))
    await provider.asked(1)
    other = asyncio.create_task(quick.credentials.find(1, "crm"))
    await provider.asked(2)
    provider.gate.set()
    first, second = await asyncio.gather(late, other)
    assert first is not None
    assert second is not None
    assert first.token == second.token


async def test_a_changed_credential_is_used_at_once_after_its_row_is_read_again(node: Node, store: MemoryStore) -> None:
    async with website(echo) as url:
        hosts = [host_of(url)]
        await put(store, "crm", hosts=hosts, kind="header", header="X-One", value=SECRET)
        assert "X-One" in done(await node.run(url))["body"]["headers"]
        await put(store, "crm", version=2, hosts=hosts, kind="header", header="X-Two", value=SECRET)
        node.credentials.forget()
        assert "X-Two" in done(await node.run(url))["body"]["headers"]
