"""A small OpenID Connect provider on loopback. It can misbehave in every part of the flow."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiohttp import web

from detent.auth.oidc import challenge_of
from detent.clock import SystemClock
from tests.auth.issuer import claims, ec_key, forge, key_set, public_jwk, sign
from tests.servers.consent import consent_page

CLIENT = "detent-client"
CLIENT_SECRET = "s3cret+/ of the client"


class Provider:
    """Knows one person. `claims` are added to the ID token; the other fields change one part of the flow each."""

    def __init__(self) -> None:
        self.url = ""
        self.claims: dict[str, Any] = {"email": "doug@example.org", "name": "Doug", "groups": ["staff"]}
        self.discovery: dict[str, Any] = {}
        self.names_issuer = True
        self.algorithm = "ES256"
        self.accepts_every_code = False
        self.token_answer: web.Response | None = None
        self.is_slow = False
        self.released = asyncio.Event()
        self.exchanges = 0
        self._codes: dict[str, dict[str, str]] = {}

    def sign_in(self, location: str, **changed: str) -> dict[str, str]:
        """Act as the login page of the provider. Return the query with which the browser returns."""
        asked = dict(parse_qsl(urlsplit(location).query))
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT)
        assert (asked["code_challenge_method"], "openid" in asked["scope"]) == ("S256", True)
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        answer = {"code": code, "state": asked["state"], **({"iss": self.url} if self.names_issuer else {})}
        return {**answer, **changed}

    async def answer(self, request: web.Request) -> web.StreamResponse:
        match request.path:
            case "/.well-known/openid-configuration":
                return web.json_response(
                    {
                        "issuer": self.url,
                        "authorization_endpoint": f"{self.url}/authorize",
                        "token_endpoint": f"{self.url}/token",
                        "jwks_uri": f"{self.url}/keys",
                        "authorization_response_iss_parameter_supported": self.names_issuer,
                        **self.discovery,
                    }
                )
            case "/keys":
                return web.Response(body=key_set(public_jwk(ec_key(), "k1")))
            case "/authorize":
                return consent_page(request.query["redirect_uri"], self.sign_in(str(request.url)))
            case "/token":
                self.exchanges += 1
                if self.is_slow:
                    await self.released.wait()
                return self.token_answer or self._token(request, {**(await request.post())})
        return web.Response(status=404)

    def _token(self, request: web.Request, form: dict[str, Any]) -> web.Response:
        basic = base64.b64encode(f"{CLIENT}:s3cret%2B%2F+of+the+client".encode()).decode()
        assert request.headers["Authorization"] == f"Basic {basic}"
        known = self._codes if self.accepts_every_code else {form["code"]: self._codes.pop(form["code"], None)}
        asked = known.get(form["code"])
        is_right = asked is not None and challenge_of(form["code_verifier"]) == asked["code_challenge"]
        if asked is None or not is_right or form["redirect_uri"] != asked["redirect_uri"]:
            return web.json_response({"error": "invalid_grant"}, status=400)
        payload = claims(
            SystemClock().wall() / 1e6,
            **{
                "iss": self.url,
                "aud": CLIENT,
                "nonce": asked["nonce"],
                "scope": None,
                "tenant_id": None,
                **self.claims,
            },
        )
        if self.algorithm == "ES256":
            token = sign(payload, ec_key(), "ES256", kid="k1")
        else:
            token = forge({"alg": self.algorithm, "kid": "k1"}, payload, CLIENT_SECRET.encode())
        return web.json_response({"access_token": "x", "token_type": "Bearer", "id_token": token})


@asynccontextmanager
async def open_provider() -> AsyncIterator[Provider]:
    """Run a provider."""
    provider = Provider()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", provider.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    provider.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield provider
    finally:
        provider.released.set()
        await runner.cleanup()


def back(answer: dict[str, str]) -> str:
    """Return the address at which the browser comes back."""
    return f"/login/oidc/callback?{urlencode(answer)}"
