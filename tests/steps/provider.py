"""A small OAuth2 provider on loopback, with a service behind it. It can rotate refresh tokens, and misbehave."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode

from aiohttp import web

from tests.servers.consent import consent_page
from tests.steps.listeners import website

CLIENT = ("detent", "a-client-secret")


class Provider:
    """What it has issued, and what it was asked.

    With `rotates`, a refresh token is replaced when it is used. The old one is accepted until the new one was used;
    with `is_strict` its use ends the whole grant, as after a theft.
    """

    def __init__(self) -> None:
        self.url = ""
        self.life: float | None = 3600
        self.rotates = True
        self.is_strict = False
        self.forms: list[dict[str, str]] = []
        self.calls: list[str] = []  # of the service: the token of each request
        self.gate: asyncio.Event | None = None  # token requests wait for it
        self.says: web.Response | None = None  # instead of tokens
        self.tokens: set[str] = set()
        self.codes: dict[str, dict[str, str]] = {}
        self.grant = ""
        self.current = ""
        self.previous = ""
        self._number = 0
        self._asked = asyncio.Condition()

    async def asked(self, times: int) -> None:
        """Wait until tokens were asked for so many times."""
        async with asyncio.timeout(300), self._asked:
            await self._asked.wait_for(lambda: len(self.forms) >= times)

    def connect(self) -> str:
        """Begin a grant, as a person who agrees does. Return its refresh token."""
        self._number += 1
        self.grant = f"grant-{self._number}"
        self.current, self.previous = f"refresh-{self.grant}-1", ""
        return self.current

    def revoke_tokens(self) -> None:
        self.tokens.clear()

    def end_grant(self) -> None:
        self.grant = self.current = self.previous = ""

    def code(self, query: dict[str, str]) -> str:
        """Let a person agree on the page of the provider. Return the address that it redirects to."""
        return f"{query['redirect_uri']}?{urlencode(self._agreed(query))}"

    def _agreed(self, query: dict[str, str]) -> dict[str, str]:
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        self._number += 1
        code = f"code-number-{self._number}"
        self.codes[code] = query
        return {"code": code, "state": query["state"], "iss": self.url}

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/token":
            return await self._token(request)
        if request.path == "/authorize":
            return consent_page(request.query["redirect_uri"], self._agreed(dict(request.query)))
        if request.path == "/end":  # the person takes the agreement back
            self.revoke_tokens()
            self.end_grant()
            return web.Response()
        if request.path == "/moved":
            return web.Response(status=302, headers={"Location": request.query["to"]})
        given = request.headers.get("Authorization", "")
        self.calls.append(given)
        if given.removeprefix("Bearer ") not in self.tokens:
            return web.json_response({"error": "unauthorized"}, status=401)
        return web.json_response({"sent": given, "headers": dict(request.headers)})

    async def _token(self, request: web.Request) -> web.Response:
        form = {name: values[0] for name, values in parse_qs(await request.text()).items()}
        async with self._asked:
            self.forms.append(form)
            self._asked.notify_all()
        if self.gate is not None:
            await self.gate.wait()
        if self.says is not None:
            said = self.says
            return web.Response(body=said.body, status=said.status, content_type=said.content_type)
        given = request.headers.get("Authorization", "")
        pair = base64.b64encode(":".join(CLIENT).encode()).decode()
        is_client = given == f"Basic {pair}" or (form.get("client_id"), form.get("client_secret")) == CLIENT
        if not is_client:
            return web.json_response({"error": "invalid_client"}, status=401)
        match form["grant_type"]:
            case "client_credentials":
                return self._issued()
            case "refresh_token":
                return self._refreshed(form["refresh_token"])
            case _:
                return self._redeemed(form)

    def _redeemed(self, form: dict[str, str]) -> web.Response:
        asked = self.codes.pop(form["code"], None)
        verifier = form["code_verifier"].encode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier).digest()).decode().rstrip("=")
        if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return web.json_response({"error": "invalid_grant"}, status=400)
        return self._issued(self.connect())

    def _refreshed(self, given: str) -> web.Response:
        is_reused = given == self.previous
        if not given or (given != self.current and (not is_reused or self.is_strict)):
            if is_reused:
                self.end_grant()
            said = {"error": "invalid_grant", "error_description": f"unknown token {given}"}
            return web.json_response(said, status=400)
        if not self.rotates:
            return self._issued()
        if given == self.current:
            self.previous = given
        self._number += 1
        self.current = f"refresh-{self.grant}-{self._number}"
        return self._issued(self.current)

    def _issued(self, refresh: str | None = None) -> web.Response:
        self._number += 1
        token = f"access-token-{self._number}"
        self.tokens.add(token)
        answer: dict[str, Any] = {"access_token": token, "token_type": "Bearer"}
        if self.life is not None:
            answer["expires_in"] = self.life
        if refresh is not None:
            answer["refresh_token"] = refresh
        return web.json_response(answer)


@asynccontextmanager
async def providing() -> AsyncIterator[Provider]:
    """Run a provider."""
    provider = Provider()
    async with website(provider.serve) as url:
        provider.url = url
        yield provider
