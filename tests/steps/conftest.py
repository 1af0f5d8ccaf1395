"""Http steps that are closed after their test."""

from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp.abc import AbstractResolver

from detent.steps.egress import EgressPolicy
from detent.steps.http.step import HttpExecutor, HttpSettings
from tests.steps.listeners import FakeDns

OpenHttp = Callable[..., HttpExecutor]


@pytest.fixture
async def open_http() -> AsyncIterator[OpenHttp]:
    """Make http steps: `allow` and `own` as an operator writes them, nothing allowed unless said.

    No name of a test is asked of a real name server.
    """
    opened: list[HttpExecutor] = []

    def make(
        *allow: str,
        own: tuple[tuple[str, int], ...] = (),
        settings: HttpSettings | None = None,
        resolver: AbstractResolver | None = None,
        now: int = 0,
    ) -> HttpExecutor:
        policy = EgressPolicy.from_texts(allow, own)
        step = HttpExecutor(policy, settings, wall=lambda: now, resolver=resolver or FakeDns(localhost=[["127.0.0.1"]]))
        opened.append(step)
        return step

    yield make
    for step in opened:
        await step.close()


@pytest.fixture
def http(open_http: OpenHttp) -> HttpExecutor:
    """An http step that may call loopback."""
    return open_http("127.0.0.0/8")
