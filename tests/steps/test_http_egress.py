"""An http step cannot be led to an address it may not reach. Whatever connects to a canary has failed."""

import asyncio
import ssl
from pathlib import Path

import pytest
from aiohttp import ClientConnectorError, web

from detent.run.outcomes import Fail, Outcome
from detent.steps.egress import EgressGuard, EgressPolicy
from detent.steps.errors import EgressDenied
from detent.steps.http.step import HttpExecutor, HttpSettings, open_session
from tests.steps.calls import answer, done, failed, request
from tests.steps.certificates import Authority, make_authority
from tests.steps.conftest import OpenHttp
from tests.steps.listeners import FakeDns, Handler, answering, canary, listening, website


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "a.localhost",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "metadata.google.internal",
        "169.254.169.254",
    ],
)
async def test_g1_no_spelling_of_this_machine_is_connected_to(open_http: OpenHttp, host: str) -> None:
    async with canary("0.0.0.0") as trap, canary("::1", trap.port) as trap6:
        outcome = await request(open_http(), f"http://{host}:{trap.port}/")
    assert isinstance(outcome, Fail)
    assert outcome.error.code in {"egress_denied", "invalid_request"}
    assert not outcome.retry
    assert answer(outcome)["status_code"] is None
    assert trap.connections == trap6.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "named.example"])
async def test_g1_the_client_refuses_a_denied_address_by_itself(host: str) -> None:
    guard = EgressGuard(EgressPolicy())
    async with (
        canary() as trap,
        open_session(HttpSettings(), guard, FakeDns(named_example=[["127.0.0.1"]])) as session,
    ):
        with pytest.raises(ClientConnectorError) as refused:
            await session.get(f"http://{host}:{trap.port}/")
    assert isinstance(refused.value.__cause__, EgressDenied)
    assert trap.connections == 0


async def test_g15_a_step_without_a_policy_is_guarded() -> None:
    step = HttpExecutor()
    async with canary() as trap:
        failed(await request(step, trap.url), "egress_denied")
    await step.close()
    assert trap.connections == 0


def redirecting(location: str, status: str = "302 Found") -> Handler:
    return answering(status, b"", f"Location: {location}")


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "http://metadata.google.internal/",
        "//127.0.0.2:{port}/",
        "http://127.0.0.2:{port}/",
        "http://rebind.example:{port}/",
    ],
)
async def test_g5_a_redirect_to_a_denied_address_is_refused(open_http: OpenHttp, location: str) -> None:
    step = open_http("127.0.0.1", resolver=FakeDns(rebind_example=[["127.0.0.2"]]))
    async with canary("127.0.0.2") as trap, listening(redirecting(location.format(port=trap.port))) as server:
        outcome = failed(await request(step, server.url), "egress_denied")
    assert not outcome.retry
    assert trap.connections == 0


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "ftp://x/",
        "http://a@127.0.0.1/",
        "http:///x",
        "http://[]@",
        "http://a b/",
        "\\\\x",
    ],
)
async def test_g5_a_redirect_to_what_is_no_http_address_is_not_followed(http: HttpExecutor, location: str) -> None:
    async with listening(redirecting(location)) as server:
        outcome = failed(await request(http, server.url), "http_status")
    assert answer(outcome)["status_code"] == 302
    assert server.connections == 1


async def countdown(received: web.Request) -> web.Response:
    left = int(received.path.strip("/"))
    if left:
        raise web.HTTPFound(f"/{left - 1}")
    return web.json_response("arrived")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_g5_five_redirects_are_followed_and_the_sixth_is_not(http: HttpExecutor, method: str) -> None:
    async with website(countdown) as url:
        assert done(await request(http, f"{url}/5", method=method))["status_code"] == 200
        outcome = failed(await request(http, f"{url}/6", method=method), "http_status")
    assert answer(outcome)["status_code"] == 302


async def test_g5_a_chain_of_five_redirects_to_a_canary_does_not_reach_it(open_http: OpenHttp) -> None:
    async with canary("127.0.0.2") as trap:

        async def chain(received: web.Request) -> web.Response:
            left = int(received.path.strip("/"))
            raise web.HTTPFound(f"/{left - 1}" if left else trap.url)

        async with website(chain) as url:
            failed(await request(open_http("127.0.0.1"), f"{url}/4"), "egress_denied")
    assert trap.connections == 0


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_g5_other_methods_follow_no_redirect(http: HttpExecutor, method: str, status: str) -> None:
    async with canary() as other, listening(redirecting(other.url, status)) as server:
        outcome = failed(await request(http, server.url, method=method), "http_status")
    assert answer(outcome)["headers"]["location"] == other.url
    assert other.connections == 0


async def test_g6_the_address_that_was_checked_is_the_address_connected_to(open_http: OpenHttp) -> None:
    dns = FakeDns(rebind_example=[["127.0.0.1"], ["127.0.0.2"]])
    async with listening(answering()) as server, canary("127.0.0.2", server.port) as trap:
        url = f"http://rebind.example:{server.port}/"
        done(await request(open_http("127.0.0.1", resolver=dns), url))
        assert dns.lookups == ["rebind.example"]
        failed(await request(open_http("127.0.0.1", resolver=dns), url), "egress_denied")
    assert f"Host: rebind.example:{server.port}" in server.heads[0]
    assert trap.connections == 0


@pytest.mark.parametrize("answers", [["127.0.0.1", "127.0.0.2"], ["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "::1"]])
async def test_g7_one_denied_answer_denies_the_name(open_http: OpenHttp, answers: list[str]) -> None:
    step = open_http("127.0.0.1", resolver=FakeDns(mixed_example=[answers]))
    async with canary() as good, canary("127.0.0.2", good.port) as bad, canary("::1", good.port) as worse:
        failed(await request(step, f"http://mixed.example:{good.port}/"), "egress_denied")
    assert good.connections == bad.connections == worse.connections == 0


async def test_a_host_that_is_allowed_by_name_may_have_a_private_address(open_http: OpenHttp) -> None:
    dns = FakeDns(internal_example=[["127.0.0.1"]], other_example=[["127.0.0.1"]])
    step = open_http("internal.example", resolver=dns)
    async with listening(answering()) as server:
        done(await request(step, f"http://internal.example:{server.port}/"))
        failed(await request(step, f"http://other.example:{server.port}/"), "egress_denied")
        failed(await request(step, server.url), "egress_denied")
    assert server.connections == 1


@pytest.mark.parametrize("is_elsewhere", [True, False])
async def test_g8_secrets_stay_with_the_origin_they_were_meant_for(http: HttpExecutor, is_elsewhere: bool) -> None:
    secrets = {"Authorization": "Bearer s3cret", "Cookie": "s3cret", "X-Api-Key": "s3cret", "Accept": "text/html"}
    seen: list[str] = []

    async def note(received: web.Request) -> web.Response:
        seen.append(str(received.headers))
        return web.Response()

    async with website(note) as other:

        async def first(received: web.Request) -> web.Response:
            if received.path == "/here":
                return await note(received)
            raise web.HTTPFound(other if is_elsewhere else "/here")

        async with website(first) as url:
            done(await request(http, f"{url}/start", headers=secrets))
    assert ("s3cret" in seen[0]) is not is_elsewhere
    assert "text/html" in seen[0]
    assert "Idempotency-Key" in seen[0]


async def test_g9_proxies_of_the_environment_are_ignored(http: HttpExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    async with canary() as proxy, listening(answering()) as server:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        done(await request(http, server.url))
    assert proxy.connections == 0


async def test_g10_the_own_port_is_not_reached_although_loopback_is_allowed(open_http: OpenHttp) -> None:
    async with canary("0.0.0.0") as own, listening(answering()) as other:
        step = open_http("127.0.0.0/8", "0.0.0.0", own=(("127.0.0.1", own.port),))
        for host in ("127.0.0.1", "localhost", "0.0.0.0", "127.0.0.9"):
            failed(await request(step, f"http://{host}:{own.port}/"), "egress_denied")
        done(await request(step, other.url))
    assert own.connections == 0


async def test_g10_unix_sockets_cannot_be_asked(http: HttpExecutor) -> None:
    for url in ("http+unix://%2Fvar%2Frun%2Fdocker.sock/", "unix:///var/run/docker.sock", "npipe:////./pipe/x"):
        failed(await request(http, url), "invalid_request")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return make_authority(tmp_path_factory.mktemp("certificates"))


async def ask_over_tls(open_http: OpenHttp, server: ssl.SSLContext, ca_file: Path | None) -> tuple[Outcome, list[str]]:
    step = open_http(
        "127.0.0.1", settings=HttpSettings(ca_file=ca_file), resolver=FakeDns(shop_example=[["127.0.0.1"]])
    )
    async with listening(answering(), tls=server) as listener:
        outcome = await request(step, f"https://shop.example:{listener.port}/")
    return outcome, listener.heads


async def test_g12_a_certificate_of_a_trusted_authority_is_accepted(open_http: OpenHttp, authority: Authority) -> None:
    names: list[str | None] = []
    server = authority.server("shop.example")
    server.sni_callback = lambda _, name, __: names.append(name)
    outcome, heads = await ask_over_tls(open_http, server, authority.file)
    done(outcome)
    assert names == ["shop.example"]
    assert "Host: shop.example" in heads[0]


@pytest.mark.parametrize("fault", ["unknown authority", "self-signed", "expired", "wrong host", "old protocol"])
async def test_g12_a_bad_certificate_or_protocol_is_refused(
    open_http: OpenHttp, authority: Authority, fault: str
) -> None:
    name = "other.example" if fault == "wrong host" else "shop.example"
    server = authority.server(name, expired=fault == "expired", is_self_signed=fault == "self-signed")
    if fault == "old protocol":
        server.set_ciphers("ALL@SECLEVEL=0")
        with pytest.warns(DeprecationWarning, match="TLSv1 is deprecated"):
            server.minimum_version = ssl.TLSVersion.TLSv1
        with pytest.warns(DeprecationWarning, match="TLSv1_1 is deprecated"):
            server.maximum_version = ssl.TLSVersion.TLSv1_1
    # The listener's side of a failed handshake is not what is tested here.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    outcome, heads = await ask_over_tls(open_http, server, None if fault == "unknown authority" else authority.file)
    assert isinstance(outcome, Fail)
    # A server that speaks only old protocols hangs up in the middle of the handshake.
    assert outcome.error.code == ("connect" if fault == "old protocol" else "tls")
    assert outcome.error.message.startswith("cannot connect to https://shop.example:")
    assert "ssl:" not in outcome.error.message
    assert answer(outcome)["status_code"] is None
    assert heads == []
