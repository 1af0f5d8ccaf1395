"""Logins at an OpenID Connect provider, and at one that misbehaves."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from detent.auth.claims import ClaimRules
from detent.auth.http_fetcher import HttpFetcher
from detent.auth.logins import Logins
from detent.auth.oidc import Oidc, OidcClient, is_safe_url, read_endpoints
from detent.auth.scopes import SCOPES, Role
from detent.auth.sessions import LoginSource, Sessions
from detent.clock import SystemClock
from detent.errors import InvalidInput, LimitExceeded, NotFound, Unauthenticated, Unavailable
from detent.run.initiator import Principal
from detent.store.memory.store import MemoryStore
from tests.auth.browser import open_site
from tests.auth.provider import CLIENT, CLIENT_SECRET, Provider, back, open_provider

BROWSER = "b" * 43
HERE = LoginSource("192.0.2.7", "test")
RULES = ClaimRules(
    "", "groups", role_names={"staff": "operator", "boss": "admin"}, default_tenant="default", reads_scopes=False
)


class Desk:
    """Logins at a provider, without a web server of ours around them."""

    def __init__(self, provider: Provider, *, timeout: float = 60, rules: ClaimRules = RULES) -> None:
        clock = SystemClock()
        client = OidcClient(provider.url, CLIENT, CLIENT_SECRET, "http://localhost/back", "openid email", rules)
        self.provider = provider
        self.store = MemoryStore(clock)
        self.sessions = Sessions(self.store, clock.wall)
        self.oidc = Oidc(client, HttpFetcher(timeout=timeout), clock, clock.wall)
        self.logins = Logins(
            self.store, self.sessions, clock, clock.wall, oidc=self.oidc, find_tenant=self.store.active_tenant
        )

    async def begin(self) -> str:
        return await self.logins.begin_at_provider(BROWSER, "/runs", HERE)

    async def finish(self, answer: dict[str, str], browser: str = BROWSER) -> str:
        return (await self.logins.finish_at_provider(browser, answer, HERE)).cookie

    async def login(self, **changed: str) -> str:
        return await self.finish(self.provider.sign_in(await self.begin(), **changed))


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with open_provider() as provider:
        made = Desk(provider)
        yield made
        await made.oidc.close()


async def test_a_person_signs_in_with_the_roles_of_its_groups(desk: Desk) -> None:
    caller, _ = await desk.sessions(await desk.login())
    assert (caller.tenant, caller.name, caller.via) == (1, "person doug@example.org", "session")
    assert caller.scopes == SCOPES[Role.OPERATOR]
    assert caller.principal == Principal("U123", "Doug", "doug@example.org")
    desk.provider.claims["groups"] = ["staff", "boss", "admin"]
    caller, _ = await desk.sessions(await desk.login())
    assert caller.scopes == SCOPES[Role.ADMIN]


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"nonce": "of another login"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"nonce": ["x"]}, "nonce"),
        ({"iss": "https://other.example.org"}, "issuer"),
        ({"aud": "another-client"}, "audience"),
        ({"aud": [CLIENT, "other"], "azp": "other"}, "azp"),
        ({"exp": 1}, "expired"),
        ({"sub": None}, "subject"),
        ({"groups": []}, "none of your groups"),
        ({"groups": ["operator", "admin"]}, "none of your groups"),
        ({"groups": None, "scope": "workflows:manage", "roles": ["admin"]}, "none of your groups"),
    ],
)
async def test_a_token_that_is_not_of_this_login_is_refused(desk: Desk, claims: dict[str, Any], message: str) -> None:
    desk.provider.claims |= claims
    with pytest.raises(Unauthenticated, match=message):
        await desk.login()
    assert await desk.store.sessions(1, limit=9) == []


@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS256", "ES384"])
async def test_a_token_with_another_algorithm_is_refused(desk: Desk, algorithm: str) -> None:
    desk.provider.algorithm = algorithm
    with pytest.raises(Unauthenticated):
        await desk.login()


async def test_a_login_is_finished_once_and_in_the_browser_that_began_it(desk: Desk) -> None:
    desk.provider.accepts_every_code = True
    answer = desk.provider.sign_in(await desk.begin())
    await desk.finish(answer)
    with pytest.raises(Unauthenticated, match="finished before"):
        await desk.finish(answer)
    stolen = desk.provider.sign_in(await desk.begin())
    with pytest.raises(Unauthenticated, match="another browser"):
        await desk.finish(stolen, browser="c" * 43)
    with pytest.raises(Unauthenticated, match="finished before"):
        await desk.finish(stolen)
    for state in ("", "x" * 43):
        with pytest.raises(Unauthenticated, match="not known"):
            await desk.login(state=state)
    assert desk.provider.exchanges == 1


async def test_a_code_of_another_login_is_refused(desk: Desk) -> None:
    foreign = desk.provider.sign_in(await desk.begin())
    with pytest.raises(Unauthenticated, match="did not confirm"):
        await desk.login(code=foreign["code"])  # the verifier is not that of this code


async def test_an_answer_of_another_provider_is_refused(desk: Desk) -> None:
    with pytest.raises(Unauthenticated, match="another identity provider"):
        await desk.login(iss="https://evil.example.org")
    answer = desk.provider.sign_in(await desk.begin())
    del answer["iss"]
    with pytest.raises(Unauthenticated, match="another identity provider"):
        await desk.finish(answer)
    assert desk.provider.exchanges == 0, "the code was sent to no one"


async def test_a_provider_that_does_not_name_itself_is_accepted_if_it_says_so() -> None:
    async with open_provider() as provider:
        provider.names_issuer = False
        desk = Desk(provider)
        assert await desk.login()
        with pytest.raises(Unauthenticated, match="another identity provider"):
            await desk.login(iss="https://evil.example.org")


@pytest.mark.parametrize(
    "changed", [{"error": "access_denied"}, {"code": ""}, {"code": "x" * 5000}, {"error": "<script>"}]
)
async def test_a_login_that_was_not_confirmed_is_refused(desk: Desk, changed: dict[str, str]) -> None:
    with pytest.raises(Unauthenticated, match="did not confirm"):
        await desk.login(**changed)
    assert desk.provider.exchanges == 0


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (web.Response(status=500, text="<html>"), Unavailable),
        (web.Response(text="x" * 200_000), Unavailable),
        (web.Response(text='{"id_token": "a", "id_token": "b"}'), Unavailable),
        (web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"}), Unavailable),
        (web.json_response({"id_token": "x" * 60_000}), Unauthenticated),
        (web.json_response({"id_token": 7}), Unauthenticated),
        (web.json_response([]), Unauthenticated),
        (web.json_response({}, status=201), Unauthenticated),
    ],
)
async def test_an_answer_that_cannot_be_used_ends_the_login(
    desk: Desk, answer: web.Response, error: type[Exception]
) -> None:
    desk.provider.token_answer = answer
    with pytest.raises(error):
        await desk.login()


async def test_a_slow_provider_does_not_hold_a_login_for_ever() -> None:
    async with open_provider() as provider:
        provider.is_slow = True
        desk = Desk(provider, timeout=0.5)
        with pytest.raises(Unavailable, match="try again"):
            await desk.login()


async def test_a_provider_that_is_down_is_asked_once_in_half_a_minute() -> None:
    async with open_provider() as provider:
        desk = Desk(provider)
        provider.discovery = {"issuer": "https://other.example.org"}
        for _ in range(3):
            with pytest.raises(Unavailable, match="key or a password"):
                await desk.begin()


async def test_a_tenant_claim_selects_the_tenant() -> None:
    async with open_provider() as provider:
        rules = ClaimRules("org.name", "groups", role_names={"staff": "viewer"}, reads_scopes=False)
        desk = Desk(provider, rules=rules)
        with pytest.raises(Unauthenticated, match="no claim"):
            await desk.login()
        provider.claims["org"] = {"name": "other"}
        with pytest.raises(Unauthenticated, match="not known here"):
            await desk.login()
        provider.claims["org"] = {"name": "default"}
        assert await desk.login()


async def test_one_address_begins_so_many_logins(desk: Desk) -> None:
    for _ in range(300):
        await desk.begin()
    with pytest.raises(LimitExceeded):
        await desk.begin()
    with pytest.raises(NotFound, match="DETENT_OIDC_ISSUER"):
        await Logins(desk.store, desk.sessions, SystemClock(), SystemClock().wall).begin_at_provider("", "/", HERE)


@pytest.mark.parametrize(
    "url",
    [
        None,
        7,
        "",
        "http://login.example.org/token",
        "ftp://login.example.org",
        "file:///etc/passwd",
        "https://",
        "https://a b",
        "https://[::1",
        "//login.example.org",
        "https://x\r\n",
    ],
)
def test_addresses_of_a_provider_have_tls_or_stay_on_this_machine(url: Any) -> None:
    assert not is_safe_url(url)
    assert is_safe_url("https://login.example.org/token?x=1")
    good = {"issuer": "https://i", "authorization_endpoint": "https://i/a", "token_endpoint": "https://i/t"}
    with pytest.raises(InvalidInput, match="jwks_uri"):
        read_endpoints(json.dumps({**good, "jwks_uri": url}).encode(), "https://i")


async def test_a_browser_signs_in_at_the_provider_and_comes_back() -> None:
    async with (
        open_provider() as provider,
        open_site(
            oidc_issuer=provider.url,
            oidc_client_id=CLIENT,
            oidc_client_secret=CLIENT_SECRET,
            oidc_roles=(("staff", "operator"),),
        ) as site,
    ):
        browser = await site.browser()
        page = await browser.call("GET", "/login?next=/runs")
        assert f"Sign in with {provider.url[7:]}" in page.text
        assert 'href="login/oidc?next=%2Fruns"' in page.text
        methods = (await browser.call("GET", "/api/v1/login-methods")).json["data"]
        assert methods["oidc"] == {"name": provider.url[7:], "url": "login/oidc"}
        begun = await browser.call("GET", "/login/oidc?next=/runs")
        assert begun.status == 303
        assert begun.headers["Location"].startswith(f"{provider.url}/authorize?")
        answer = provider.sign_in(begun.headers["Location"])
        stranger = await site.browser()
        refused = await stranger.call("GET", back(answer))
        assert (refused.status, "another browser" in refused.text) == (401, True)
        again = await browser.call("GET", "/login/oidc?next=/runs")
        done = await browser.call("GET", back(provider.sign_in(again.headers["Location"])))
        assert (done.status, done.headers["Location"]) == (303, "../../runs")
        assert (await browser.call("GET", "/api/v1/workflows")).status == 200
        [own] = (await browser.call("GET", "/api/v1/sessions")).json["data"]
        assert (own["name"], own["via"]) == ("person doug@example.org", "oidc")
        for query in ("", "state=%00", "state=%ff", "error=x&state=" + "y" * 3000):
            answered = await stranger.call("GET", f"/login/oidc/callback?{query}")
            assert answered.status in (400, 401), query
            assert "<script" not in answered.text
