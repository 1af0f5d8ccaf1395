"""The target answers as its routes say and forgets no hit."""

import gzip
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.servers.target import BOMB_MEGABYTES, Target

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    with Target() as target:
        yield target


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(auto_decompress=False, timeout=aiohttp.ClientTimeout(total=10)) as client:
        yield client


async def test_every_hit_is_in_the_ledger_with_its_key_and_attempt(
    target: Target, client: aiohttp.ClientSession
) -> None:
    before = len(target.hits())
    headers = {"Idempotency-Key": "k1", "Detent-Attempt": "2"}
    async with client.post(target.url("/echo?a=1"), json={"n": 1}, headers=headers) as response:
        assert await response.json() == {"n": 1}
    [hit] = target.hits()[before:]
    assert (hit.method, hit.path, hit.key, hit.attempt) == ("POST", "/echo?a=1", "k1", "2")


async def test_flaky_fails_as_often_as_told_for_each_key(target: Target, client: aiohttp.ClientSession) -> None:
    seen = []
    for key in ("a", "b", "a", "a", "b", "b"):
        async with client.post(target.url("/flaky/2"), headers={"Idempotency-Key": key}) as response:
            seen.append((key, response.status))
    assert seen == [("a", 503), ("b", 503), ("a", 503), ("a", 200), ("b", 503), ("b", 200)]


@pytest.mark.parametrize(
    ("path", "status", "header"),
    [
        ("/status/402", 402, None),
        ("/slow/1", 200, None),
        ("/retry-after/7", 503, ("Retry-After", "7")),
        ("/redirect?to=/echo", 302, ("Location", "/echo")),
        ("/redirect?to=/echo&status=307", 307, ("Location", "/echo")),
        ("/headers/50", 200, ("X-Filler-49", "x" * 100)),
        ("/nowhere", 404, None),
    ],
)
async def test_a_route_answers_as_it_says(
    target: Target, client: aiohttp.ClientSession, path: str, status: int, header: tuple[str, str] | None
) -> None:
    async with client.get(target.url(path), allow_redirects=False) as response:
        assert response.status == status
        assert header is None or response.headers[header[0]] == header[1]


async def test_bytes_has_the_size_asked_for(target: Target, client: aiohttp.ClientSession) -> None:
    async with client.get(target.url("/bytes/300000")) as response:
        assert len(await response.read()) == 300_000


async def test_the_bomb_is_small_on_the_wire_and_huge_inside(target: Target, client: aiohttp.ClientSession) -> None:
    async with client.get(target.url("/gzip-bomb")) as response:
        body = await response.read()
    assert len(body) < 1_000_000
    assert len(gzip.decompress(body)) == BOMB_MEGABYTES * 1024 * 1024


@pytest.mark.parametrize(("path", "enough"), [("/endless", 1_000_000), ("/drip", 1)])
async def test_a_stream_goes_on_until_the_client_leaves(
    target: Target, client: aiohttp.ClientSession, path: str, enough: int
) -> None:
    async with client.get(target.url(path)) as response:
        assert len(await response.content.readexactly(enough)) == enough
        assert not response.content.at_eof()


async def test_the_ledger_survives_a_killed_target_that_comes_back_on_its_port(
    client: aiohttp.ClientSession, tmp_path: Path
) -> None:
    with Target(tmp_path / "ledger") as target:
        port = target.port
        for how in (signal.SIGKILL, signal.SIGTERM):
            async with client.post(target.url("/echo"), data=b"1", headers={"Connection": "close"}):
                pass
            target.stop(how)
            target.start()
        assert target.port == port
        assert len(target.hits("/echo")) == 2
