"""Actions in Python that use a stored credential: what they get, where it may go, and how its token is renewed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from aiohttp import web

from detent import Unauthorized
from detent.catalog.connections import EnvironmentConnections
from detent.clock import SystemClock
from detent.graph.model import StepKind
from detent.observe import listen
from detent.run.outcomes import Outcome, Pause
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import ActionContext, Registry
from detent.steps.credentials.action_connections import ActionCredentials
from detent.steps.egress import EgressPolicy
from detent.steps.http.client import ActionServices
from detent.steps.http.step import HttpExecutor
from detent.steps.isolation.processes import Processes
from detent.store.memory.store import MemoryStore
from tests.steps import isolated_actions
from tests.steps.calls import attempt, call_of, done, failed
from tests.steps.listeners import website
from tests.steps.provider import CLIENT, Provider, providing
from tests.steps.test_credentials import Node, host_of
from tests.steps.vaults import put

SECRET = "correct-horse-battery"
CRM = Registry()


@CRM.action("crm.look")
def look(context: ActionContext, connection: str = "crm") -> dict[str, str]:
    found = context.connection(connection)
    context.log.info("it has %s", dict(found.parts))
    return dict(found.parts)


@CRM.action("crm.fingerprint", inline=True)
def fingerprint(context: ActionContext) -> list[str]:
    parts = context.connection("crm").parts
    return [f"{name} {' '.join(value)}" for name, value in sorted(parts.items())]


@CRM.action("crm.ask")
async def ask(context: ActionContext, url: str) -> Any:
    token = context.credential("crm")
    async with context.http.get(url, headers={"Authorization": f"Bearer {token}"}) as response:
        if response.status == 401:
            raise Unauthorized(f"the service refused {token}")
        return await response.json()


@CRM.action("crm.leak")
async def leak(context: ActionContext, url: str, place: str) -> None:
    text = f"it is {context.credential('crm')}"
    options: dict[str, Any] = {"header": {"headers": {"X": text}}, "query": {"params": {"x": text}}}.get(place, {})
    if place in ("json", "data"):
        options = {place: {"deep": [text]} if place == "json" else text.encode()}
    async with context.http.post(url + (f"/{text}" if place == "path" else ""), **options):
        pass


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(SystemClock())


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with providing() as made:
        yield made


async def put_client(store: MemoryStore, provider: Provider, client: str = CLIENT[0]) -> None:
    token_url, hosts = f"{provider.url}/token", [host_of(provider.url)]
    secret = CLIENT[1]
    await put(
        store, "crm", kind="oauth2_client", token_url=token_url, client_id=client, client_secret=secret, hosts=hosts
    )


class Step:
    """The actions of one node, with its credentials and what its operator has set."""

    def __init__(self, node: Node, environ: Mapping[str, str], processes: Processes | None = None) -> None:
        self.node = node
        policy = EgressPolicy.from_texts(("127.0.0.0/8",))
        self.executor = ActionExecutor(
            CRM if processes is None else isolated_actions.REGISTRY,
            services=ActionServices(policy, connections=EnvironmentConnections(environ), secrets=node.secrets),
            credentials=ActionCredentials(node.credentials),
            processes=processes,
        )

    async def run(self, action: str, given: Any = None, credential: str = "crm", timeout: float = 60.0) -> Outcome:
        whole = {"action": action, "with": given, "credential": credential}
        return await attempt(self.executor, call_of(StepKind.ACTION, whole, timeout=timeout))


@pytest.fixture
async def step(http: HttpExecutor, store: MemoryStore) -> AsyncIterator[Step]:
    environ = {
        "CONNECTOR_CRM_TOKEN": "a-token-of-the-operator",
        "CONNECTOR_CRM_URL": "https://operator:hidden-word@crm.example.com/api",
        "CONNECTOR_CRM_REGION": "eu",
        "CONNECTOR_SHOP_URL": "postgresql://shop.example.com/orders",
        "CONNECTOR_FILES_URL": "s3://files/reports",
        "CONNECTOR_MAIL_URL": "smtp://mail.example.com?tls=none",
        "CONNECTOR_PAGERS_URL": "ntfy://a.example.com/topic ntfy://b.example.com/topic",
    }
    made = Step(Node(http, store), environ)
    yield made
    await made.executor.close()
    await made.node.credentials.close()


@pytest.mark.parametrize(
    ("document", "parts"),
    [
        ({"kind": "token", "token": SECRET}, {"token": SECRET}),
        ({"kind": "header", "header": "X-Key", "value": SECRET}, {"token": SECRET}),
        ({"kind": "basic", "username": "ann", "password": SECRET}, {"username": "ann", "password": SECRET}),
        (
            {"kind": "aws4", "access_key_id": "AK", "service": "s3", "region": "us", "secret_access_key": SECRET},
            {"access_key_id": "AK", "secret_access_key": SECRET, "region": "us"},
        ),
    ],
)
async def test_an_action_gets_the_credential_of_its_step_with_the_address_of_the_operator(
    step: Step, store: MemoryStore, document: dict[str, Any], parts: dict[str, str]
) -> None:
    await put(store, "crm", hosts=["crm.example.com"], **document)
    given = {"region": "eu", "url": "https://crm.example.com/api", **parts}
    spelt = [f"{name} {' '.join(value)}" for name, value in sorted(given.items())]
    assert done(await step.run("crm.fingerprint"))["output"] == spelt


@pytest.mark.case("H10")
async def test_a_value_of_a_credential_is_in_no_result_error_or_log(step: Step, store: MemoryStore) -> None:
    heard: list[object] = []
    stop = listen(lambda name, facts: heard.append((name, facts)))
    await put(store, "crm", kind="token", token=SECRET, hosts=["crm.example.com"])
    try:
        assert done(await step.run("crm.look"))["output"]["token"] == "***"
    finally:
        stop()
    assert "action.logged" in str(heard)
    assert SECRET not in str(heard)


@pytest.mark.parametrize(
    ("hosts", "connection", "said"),
    [
        (["other.example.com"], "crm", "may not be sent to crm.example.com; it allows other.example.com"),
        (["shop.example.com"], "shop", "may not be sent to shop.example.com:5432"),
        (["files.s3.eu.amazonaws.com"], "files", "may not be sent to files.s3.us-east-1.amazonaws.com"),
        (["mail.example.com"], "mail", "may not be sent to mail.example.com:25"),
        (["a.example.com"], "pagers", "the address of the connection 'pagers' cannot be read"),
    ],
)
async def test_a_credential_for_another_host_than_that_of_the_connection_is_not_opened_for_an_action(
    step: Step, store: MemoryStore, hosts: list[str], connection: str, said: str
) -> None:
    await put(store, "crm", kind="token", token=SECRET, hosts=hosts)
    outcome = failed(await step.run("crm.look", {"connection": connection}), "credential_denied")
    assert said in outcome.error.message
    assert outcome.retry is False


async def test_the_credential_belongs_to_the_connection_that_the_step_names(step: Step, store: MemoryStore) -> None:
    await put(store, "crm", kind="basic", username="ann", password=SECRET, hosts=["shop.example.com:5432"])
    found = done(await step.run("crm.look", {"connection": "shop"}))["output"]
    assert found == {"url": "postgresql://shop.example.com/orders", "username": "ann", "password": "***"}


@pytest.mark.parametrize("place", ["header", "query", "path", "json", "data"])
async def test_the_client_of_an_action_sends_its_credential_to_no_other_host(
    http: HttpExecutor, store: MemoryStore, place: str
) -> None:
    seen: list[web.Request] = []

    async def serve(request: web.Request) -> web.Response:
        seen.append(request)
        return web.Response()

    bare = Step(Node(http, store), {})
    async with website(serve) as allowed, website(serve) as other:
        await put(store, "crm", kind="token", token=SECRET, hosts=[host_of(allowed)])
        done(await bare.run("crm.leak", {"url": allowed, "place": place}))
        failed(await bare.run("crm.leak", {"url": other, "place": place}), "credential_denied")
        done(await bare.run("crm.leak", {"url": other, "place": "nowhere"}))
    await bare.executor.close()
    assert [request.host for request in seen] == [host_of(allowed), host_of(other)]


async def test_an_action_that_is_unauthorized_runs_again_with_a_renewed_token_in_the_same_attempt(
    http: HttpExecutor, store: MemoryStore, provider: Provider
) -> None:
    bare = Step(Node(http, store), {})
    await put_client(store, provider)
    done(await bare.run("crm.ask", {"url": provider.url}))
    provider.revoke_tokens()
    result = done(await bare.run("crm.ask", {"url": provider.url}))
    assert len(provider.forms) == 2
    assert len(provider.calls) == 3
    assert result["output"]["sent"] == "Bearer ***"
    # A service that goes on refusing is not asked for ever, and its refusal shows no token.
    provider.revoke_tokens()
    refused = failed(await bare.run("crm.ask", {"url": provider.url}), "unauthorized")
    assert refused.error.message == "the service refused ***"
    assert refused.retry is False
    await bare.executor.close()
    await bare.node.credentials.close()


async def test_a_dead_grant_pauses_the_run_of_an_action(
    http: HttpExecutor, store: MemoryStore, provider: Provider
) -> None:
    bare = Step(Node(http, store), {})
    await put_client(store, provider, "unknown")
    outcome = await bare.run("crm.ask", {"url": provider.url})
    assert isinstance(outcome, Pause)
    assert outcome.reason == "credential"
    assert "detent credentials set crm" in str(outcome.error)
    await bare.executor.close()
    await bare.node.credentials.close()


async def test_an_action_whose_credential_is_not_stored_is_not_called(step: Step) -> None:
    failed(await step.run("crm.look"), "missing_credential")


@pytest.mark.slow
async def test_an_isolated_action_gets_its_credential_and_renews_it_too(
    http: HttpExecutor, store: MemoryStore, provider: Provider
) -> None:
    policy = EgressPolicy.from_texts(("127.0.0.0/8",))
    processes = Processes(lambda: [isolated_actions.__name__], policy)
    apart = Step(Node(http, store), {}, processes)
    await put_client(store, provider)
    done(await apart.run("good.ask", {"url": provider.url}, timeout=300.0))
    provider.revoke_tokens()
    result = done(await apart.run("good.ask", {"url": provider.url}, timeout=300.0))
    assert result["output"]["sent"] == "Bearer ***"
    failed(await apart.run("good.ask", {"url": "http://127.0.0.1:1"}, timeout=300.0), "credential_denied")
    assert len(provider.forms) == 2
    await apart.executor.close()
    await apart.node.credentials.close()
