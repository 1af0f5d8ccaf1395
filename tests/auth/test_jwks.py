"""The keys of an issuer: read seldom, remembered for a while, and never more than they may be."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

import pytest
from aiohttp import web

from detent.auth.fetcher import Fetched, FetchFailed
from detent.auth.http_fetcher import HttpFetcher
from detent.auth.jwks import Jwks
from detent.auth.remote import LARGEST
from detent.auth.tokens import TokenVerifier
from detent.errors import Unauthenticated, Unavailable
from detent.testing import FakeClock
from tests.auth.issuer import AUDIENCE, ISSUER, claims, ec_key, key_set, public_jwk, sign

URL = "https://login.example.org/keys"


class Answers:
    """A fetcher that answers what a test sets, and counts."""

    def __init__(self, *keys: str) -> None:
        self.fetches = 0
        self.gate: asyncio.Event | None = None
        self.answer: Fetched | None = None
        self.publish(*keys)

    def publish(self, *keys: str) -> None:
        documents = [public_jwk(ec_key(ord(kid)), kid) for kid in keys]
        self.answer = Fetched(200, key_set(*documents))

    async def fetch(
        self, url: str, *, limit: int, form: Mapping[str, str] | None = None, basic: tuple[str, str] | None = None
    ) -> Fetched:
        assert (url, limit, form) == (URL, LARGEST, None)
        self.fetches += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.answer is None:
            raise FetchFailed("there is no route to it")
        return self.answer


class Desk:
    """A verifier of tokens whose keys are fetched."""

    def __init__(self, *keys: str) -> None:
        self.clock = FakeClock()
        self.fetcher = Answers(*keys)
        self.jwks = Jwks(URL, self.fetcher, self.clock)
        self._verifier = TokenVerifier(self.jwks, issuer=ISSUER, audience=AUDIENCE, now=self.clock.wall)

    async def accepts(self, kid: str) -> bool:
        try:
            await self._verifier.verify(self.token(kid))
        except Unauthenticated:
            return False
        return True

    def token(self, kid: str) -> str:
        return sign(claims(self.clock.wall() / 1e6), ec_key(ord(kid)), "ES256", kid=kid)


async def settle() -> None:
    """Let a fetch in the background end."""
    for _ in range(3):
        await asyncio.sleep(0)


async def test_keys_are_fetched_once_and_again_after_ten_minutes() -> None:
    desk = Desk("a")
    assert [await desk.accepts("a") for _ in range(5)] == [True] * 5
    assert desk.fetcher.fetches == 1
    desk.clock.advance(601)
    assert await desk.accepts("a")
    await settle()
    assert desk.fetcher.fetches == 2


@pytest.mark.case("K10")
async def test_a_rotated_key_is_found_at_once_and_the_old_one_ends() -> None:
    desk = Desk("a")
    assert await desk.accepts("a")
    desk.clock.advance(31)
    desk.fetcher.publish("b")
    assert await desk.accepts("b")
    assert not await desk.accepts("a")
    assert desk.fetcher.fetches == 2


@pytest.mark.case("K10")
async def test_a_withdrawn_key_ends_after_ten_minutes_though_no_token_has_a_new_one() -> None:
    desk = Desk("a", "b")
    assert await desk.accepts("b")
    desk.fetcher.publish("a")
    desk.clock.advance(601)
    await desk.accepts("a")
    await settle()
    assert not await desk.accepts("b")


@pytest.mark.case("K9")
async def test_a_storm_of_unknown_key_ids_causes_one_fetch_in_half_a_minute() -> None:
    desk = Desk("a")
    letters = [chr(number) for number in range(ord("b"), ord("z"))]
    desk.fetcher.gate = asyncio.Event()
    waiting = [asyncio.create_task(desk.accepts(kid)) for kid in ("a", *letters)]
    await settle()
    desk.fetcher.gate.set()
    assert await asyncio.gather(*waiting) == [True, *(False for _ in letters)]
    assert desk.fetcher.fetches == 1
    for _ in range(3):
        assert not any([await desk.accepts(kid) for kid in letters])
    assert desk.fetcher.fetches == 1
    desk.clock.advance(30)
    assert not any([await desk.accepts(kid) for kid in letters])
    assert desk.fetcher.fetches == 2


async def test_a_request_that_goes_away_does_not_end_the_fetch_of_the_others() -> None:
    desk = Desk("a")
    desk.fetcher.gate = asyncio.Event()
    first, second = (asyncio.create_task(desk.accepts("a")) for _ in range(2))
    await settle()
    first.cancel()
    await settle()
    desk.fetcher.gate.set()
    assert await second
    assert desk.fetcher.fetches == 1


async def test_a_token_of_another_issuer_causes_no_fetch() -> None:
    desk = Desk("a")
    verifier = TokenVerifier(desk.jwks, issuer="https://other.example.org", audience=AUDIENCE, now=desk.clock.wall)
    with pytest.raises(Unauthenticated, match="issuer"):
        await verifier.verify(desk.token("a"))
    assert desk.fetcher.fetches == 0


@pytest.mark.case("K10")
@pytest.mark.parametrize(
    "answer", [None, Fetched(500, b""), Fetched(200, b"<html>"), Fetched(200, b'{"keys": []}'), Fetched(404, b"{}")]
)
async def test_old_keys_are_used_for_a_day_while_the_issuer_fails(answer: Fetched | None) -> None:
    desk = Desk("a")
    assert await desk.accepts("a")
    desk.fetcher.answer = answer
    desk.clock.advance(86_000)
    assert await desk.accepts("a")
    await settle()
    assert not await desk.accepts("b")
    desk.clock.advance(500)
    with pytest.raises(Unavailable, match="cannot be read"):
        await desk.accepts("a")
    desk.fetcher.publish("a")
    desk.clock.advance(30)
    assert await desk.accepts("a")


@pytest.mark.case("K10")
async def test_no_token_is_accepted_before_the_keys_are_known() -> None:
    desk = Desk("a")
    desk.fetcher.answer = None
    for _ in range(3):
        with pytest.raises(Unavailable):
            await desk.accepts("a")
    assert desk.fetcher.fetches == 1


async def test_closing_ends_a_fetch_that_is_under_way() -> None:
    desk = Desk("a")
    desk.fetcher.gate = asyncio.Event()
    waiting = asyncio.create_task(desk.accepts("a"))
    await settle()
    await desk.jwks.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await desk.jwks.close()


# -- the fetcher, against a server that misbehaves


@pytest.fixture
async def server() -> AsyncIterator[str]:
    async def answer(request: web.Request) -> web.StreamResponse:
        match request.path:
            case "/good":
                return web.Response(body=b"good")
            case "/posted":
                return web.json_response([dict(await request.post()), request.headers.get("Authorization")])
            case "/moved":
                raise web.HTTPFound("/good")
            case "/packed":
                return web.Response(body=gzip.compress(b"x" * 10_000_000), headers={"Content-Encoding": "gzip"})
            case "/huge":
                stream = web.StreamResponse()
                await stream.prepare(request)
                with suppress(ConnectionError):
                    for _ in range(160):  # 10 MB, of which the client reads little
                        await stream.write(b"x" * 65_536)
                return stream
            case _:
                await is_over.wait()
                return web.Response()

    is_over = asyncio.Event()
    runner = web.AppRunner(_app(answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    is_over.set()
    await runner.cleanup()


def _app(answer: object) -> web.Application:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)  # type: ignore[arg-type]
    return app


@pytest.mark.case("K10")
async def test_a_document_is_read_within_its_limits(server: str) -> None:
    fetcher = HttpFetcher(timeout=60)
    assert await fetcher.fetch(f"{server}/good", limit=4) == Fetched(200, b"good")
    posted = await fetcher.fetch(f"{server}/posted", limit=1000, form={"a": "b"}, basic=("me", "pass"))
    assert posted.body == b'[{"a": "b"}, "Basic bWU6cGFzcw=="]'
    for path, message in (
        ("good", "more than 3 bytes"),
        ("huge", "more than 3 bytes"),
        ("packed", "compressed"),
        ("moved", "redirect"),
    ):
        with pytest.raises(FetchFailed, match=message):
            await fetcher.fetch(f"{server}/{path}", limit=3)
    with pytest.raises(FetchFailed, match="did not answer within"):
        await HttpFetcher(timeout=0.05).fetch(f"{server}/slow", limit=3)
    with pytest.raises(FetchFailed, match="cannot be read"):
        await fetcher.fetch("http://127.0.0.1:1/", limit=3)
    with pytest.raises(FetchFailed, match="cannot be read"):
        await HttpFetcher(ca_file="missing.pem").fetch(f"{server}/good", limit=3)
