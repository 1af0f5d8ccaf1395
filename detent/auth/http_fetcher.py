"""The Fetcher over HTTP, in a module of its own: only a process that serves the API loads an HTTP client."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Mapping
from typing import Final

import aiohttp

from detent.auth.fetcher import Fetched, FetchFailed
from detent.version import VERSION

#: Seconds for a whole exchange.
TIMEOUT: Final = 5.0


class HttpFetcher:
    """A Fetcher over HTTP. It follows no redirect and opens no compressed answer: both would get around the limits."""

    def __init__(self, *, ca_file: str | None = None, timeout: float = TIMEOUT) -> None:
        self._ca_file = ca_file
        self._timeout = timeout

    async def fetch(
        self, url: str, *, limit: int, form: Mapping[str, str] | None = None, basic: tuple[str, str] | None = None
    ) -> Fetched:
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": f"detent/{VERSION}"}
        if basic is not None:
            headers["Authorization"] = "Basic " + base64.b64encode(":".join(basic).encode()).decode()
        method = "GET" if form is None else "POST"
        try:
            async with (
                asyncio.timeout(self._timeout),
                aiohttp.ClientSession(auto_decompress=False, trust_env=False) as session,
                session.request(
                    method, url, data=form, headers=headers, allow_redirects=False, ssl=self._ssl()
                ) as answer,
            ):
                return Fetched(answer.status, await _body(url, answer, limit))
        except TimeoutError:
            raise FetchFailed(f"{url} did not answer within {self._timeout:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise FetchFailed(f"{url} cannot be read: {type(error).__name__}") from None

    def _ssl(self) -> ssl.SSLContext | bool:
        if self._ca_file is None:
            return True
        context = ssl.create_default_context()
        context.load_verify_locations(self._ca_file)
        return context


async def _body(url: str, answer: aiohttp.ClientResponse, limit: int) -> bytes:
    if 300 <= answer.status < 400:
        raise FetchFailed(f"{url} answered a redirect ({answer.status}), which is not followed")
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise FetchFailed(f"{url} answered compressed bytes, which are not accepted")
    parts, size = [], 0
    async for part in answer.content.iter_any():
        size += len(part)
        if size > limit:
            raise FetchFailed(f"{url} answered more than {limit} bytes")
        parts.append(part)
    return b"".join(parts)
