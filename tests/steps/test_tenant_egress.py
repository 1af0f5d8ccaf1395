"""What tenants may reach: the list of a tenant narrows what the installation allows, on every hop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from ipaddress import ip_address
from typing import Any

import msgspec
import pytest
from aiohttp import web

from detent.catalog.connections import EnvironmentConnections
from detent.graph.model import StepKind
from detent.run.outcomes import Outcome
from detent.steps.action_context import ActionContext
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import Registry
from detent.steps.egress import EgressPolicy, TenantEgress
from detent.steps.http.client import ActionServices
from detent.steps.http.step import HttpExecutor, HttpSettings, SessionPool
from detent.tenants.registry import TenantRegistry
from tests.steps.calls import attempt, call_of, done, failed
from tests.steps.listeners import FakeDns, website

OWN = 2
OTHER = 3


def book(**limits: Any) -> TenantRegistry:
    """The tenant 2 with these limits."""
    made = TenantRegistry()
    made.replace([(OWN, "shop", msgspec.json.encode(limits).decode())])
    return made


def why(allow: list[str], only: list[str] | None, host: str, *, tenant: int = OWN, port: int = 443) -> str | None:
    """Why a tenant with this list may not reach an address or a name of 93.184.215.14."""
    tenants = TenantRegistry() if only is None else book(egress=only)
    policy = TenantEgress(EgressPolicy.from_texts(allow), tenants).of(tenant)
    is_address = host[0].isdigit()
    address = ip_address(host if is_address else "93.184.215.14")
    return policy.deny_name(host, port) or policy.deny_address(address, port, None if is_address else host)


@pytest.mark.parametrize(
    ("only", "host"),
    [
        (["api.example.com"], "api.example.com"), (["*.example.com"], "a.b.example.com"),
        (["api.example.com:443"], "api.example.com"), (["93.184.215.0/24"], "named.example"),
        (["93.184.215.0/24"], "93.184.215.14"), (["10.0.0.0/8"], "10.1.2.3"), (None, "any.example"),
    ],
)  # fmt: skip
def test_a_tenant_reaches_what_its_list_has_and_the_installation_allows(only: list[str] | None, host: str) -> None:
    assert why(["10.0.0.0/8"], only, host) is None


@pytest.mark.parametrize(
    ("only", "host"),
    [
        (["api.example.com"], "evil.example.com"), (["*.example.com"], "example.com"), ([], "api.example.com"),
        (["api.example.com:8443"], "api.example.com"), (["10.0.0.0/8"], "api.example.com"),
        (["api.example.com"], "93.184.215.14"), (["192.168.0.0/16"], "192.168.1.1"), (["10.2.0.0/16"], "10.1.2.3"),
    ],
)  # fmt: skip
def test_a_tenant_reaches_nothing_else(only: list[str], host: str) -> None:
    assert why(["10.0.0.0/8"], only, host) is not None


@pytest.mark.case("G11")
@pytest.mark.parametrize("host", ["169.254.169.254", "metadata.google.internal"])
@pytest.mark.parametrize("only", [None, ["169.254.0.0/16", "metadata.google.internal"]])
def test_only_the_first_tenant_reaches_a_metadata_service_that_the_operator_has_allowed(
    host: str, only: list[str] | None
) -> None:
    allow = ["169.254.169.254", "metadata.google.internal"]
    assert why(allow, only, host) == "it is a cloud metadata service"
    assert why(allow, only, host, tenant=1) is None


async def test_the_connections_of_policies_that_were_used_longest_ago_are_closed_unless_a_request_uses_them() -> None:
    tenants = TenantRegistry()
    numbers = range(OWN, OWN + 70)
    tenants.replace((number, f"t{number}", f'{{"egress":["h{number}.example"]}}') for number in numbers)
    pool = SessionPool(TenantEgress(EgressPolicy(), tenants), HttpSettings(), FakeDns())
    clients = {}
    with pool.lease(OWN) as busy:
        for number in numbers[1:]:
            with pool.lease(number) as session:
                clients[number] = session.client
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            while sum(client.closed for client in clients.values()) < 6:  # noqa: ASYNC110 - they are closed by tasks
                await asyncio.sleep(0.01)
        assert not busy.client.closed, "a request uses it"
        closed = [number for number, client in clients.items() if client.closed]
        assert closed == list(numbers[1:7]), "the oldest ones"
        with pool.lease(numbers[1]) as again:
            assert not again.client.closed
    await pool.close()
    assert all(client.closed for client in (*clients.values(), busy.client, again.client))


def test_tenants_without_a_list_share_the_connections_of_the_installation() -> None:
    egress = TenantEgress(EgressPolicy.from_texts(["10.0.0.0/8"]), book(egress=["10.0.0.0/8"]))
    assert egress.of(OTHER) is egress.of(1) is egress.policy
    assert egress.of(OWN) is not egress.policy
    assert egress.of(OWN) is egress.of(OWN)


@pytest.fixture
async def server() -> AsyncIterator[str]:
    """A server that redirects `/to?HOST` to the same port of that host, and answers the rest."""

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/to":
            raise web.HTTPFound(f"http://{request.query_string}:{request.url.port}/end")
        return web.json_response({"host": request.host.partition(":")[0]})

    async with website(answer) as url:
        yield url


def get(url: str, tenant: int) -> Any:
    made = call_of(StepKind.HTTP, {"url": url, "method": "GET"})
    return msgspec.structs.replace(made, tenant=tenant)


async def test_every_hop_of_a_request_and_every_reused_connection_obeys_the_list_of_its_tenant(server: str) -> None:
    names = FakeDns(listed_example=[["127.0.0.1"]], other_example=[["127.0.0.1"]])
    http = HttpExecutor(
        EgressPolicy.from_texts(["127.0.0.0/8"]), resolver=names, tenants=book(egress=["listed.example", "127.0.0.9"])
    )
    listed, other = (server.replace("127.0.0.1", host) for host in ("listed.example", "other.example"))
    try:
        assert done(await attempt(http, get(f"{listed}/a", OWN)))["body"] == {"host": "listed.example"}
        assert done(await attempt(http, get(f"{other}/a", OTHER)))["status_code"] == 200
        # The connection that the other tenant has left open is not used for this one.
        refused = failed(await attempt(http, get(f"{other}/a", OWN)), "egress_denied")
        assert "the egress list of the tenant does not have it" in refused.error.message
        assert not refused.retry
        failed(await attempt(http, get(f"{server}/a", OWN)), "egress_denied")
        failed(await attempt(http, get(f"{listed}/to?other.example", OWN)), "egress_denied")
        assert done(await attempt(http, get(f"{listed}/to?other.example", OTHER)))["status_code"] == 200
    finally:
        await http.close()


async def test_the_context_of_an_action_obeys_the_list_and_the_connections_of_its_tenant(server: str) -> None:
    registry = Registry()

    @registry.action("shop.ask")
    async def ask(context: ActionContext, url: str) -> Any:
        async with context.http.get(url) as response:
            return response.status

    @registry.action("shop.dial")
    def dial(context: ActionContext, port: int) -> str:
        with context.connect("127.0.0.1", port):
            return "connected"

    @registry.action("shop.read")
    def read(context: ActionContext, connection: str) -> str:
        return context.connection(connection)["token"]

    tenants = book(actions=["shop.*", "connection:reports"], egress=["10.0.0.0/8"])
    parts = {f"CONNECTOR_{name}_TOKEN": f"token of {name}" for name in ("SHOP", "REPORTS", "BILLING")}
    services = ActionServices(
        EgressPolicy.from_texts(["127.0.0.0/8"]), connections=EnvironmentConnections(parts), tenants=tenants
    )
    step = ActionExecutor(registry, services=services, tenants=tenants)

    async def perform(tenant: int, action: str, **given: Any) -> Outcome:
        call = call_of(StepKind.ACTION, {"action": action, "with": given})
        return await attempt(step, msgspec.structs.replace(call, tenant=tenant))

    port = int(server.rpartition(":")[2])
    try:
        assert done(await perform(1, "shop.ask", url=server))["output"] == 200
        assert "egress list" in failed(await perform(OWN, "shop.ask", url=server), "exception").error.message
        assert done(await perform(1, "shop.dial", port=port))["output"] == "connected"
        failed(await perform(OWN, "shop.dial", port=port), "exception")
        assert done(await perform(OWN, "shop.read", connection="shop"))["output"] == "token of SHOP"
        assert done(await perform(OWN, "shop.read", connection="reports"))["output"] == "token of REPORTS"
        refused = failed(await perform(OWN, "shop.read", connection="billing"), "action_not_allowed")
        assert "the tenant 'shop' may not use the connection 'billing'" in refused.error.message
        assert done(await perform(1, "shop.read", connection="billing"))["output"] == "token of BILLING"
    finally:
        await step.close()
