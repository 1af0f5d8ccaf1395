"""The client of token endpoints (OAuth 2.0, RFC 6749): it asks for tokens and reads the answer.

Requests go through the HTTP client of steps, so the egress guard applies. An answer has a limit of size and of time.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote_plus, urlencode

import msgspec

from detent.catalog.connections import Scrubber, basic
from detent.catalog.data_action import WrittenRequest
from detent.ids import new_id
from detent.steps.http.request import build_prepared
from detent.steps.http.response import ReceivedAnswer
from detent.steps.http.step import HttpExecutor, failure_of_request
from detent.values.text import plain_text
from detent.vault.credential import LONGEST_SECRET, ClientAuth, CredentialKind, GrantRefused, IssuedTokens, TokenTrouble

#: How many seconds a provider has for its answer.
REQUEST_SECONDS: Final = 10.0
_LARGEST_ANSWER: Final = 64 * 1024
_LONGEST_LIFE: Final = 10 * 365 * 86_400.0
#: A token of client credentials without a stated life is fetched again after an hour.
_CLIENT_LIFE: Final = 3_600.0
_LONGEST_DESCRIPTION: Final = 200
_ERROR: Final = re.compile(r"[A-Za-z0-9_.-]{1,60}")
_TOKEN: Final = re.compile(r"[\x21-\x7e]+")
#: Errors that no repetition helps against: a person must change something.
_DEAD: Final = frozenset(
    {"invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope"}
    | {"access_denied", "invalid_target"}
)


class TokenEndpoint:
    """Asks providers for tokens."""

    def __init__(self, http: HttpExecutor, *, limit: float = REQUEST_SECONDS) -> None:
        self._http = http
        self._limit = limit

    async def renew(
        self,
        tenant: int,
        kind: CredentialKind,
        config: Mapping[str, Any],
        parts: Mapping[str, str],
        refresh_token: str | None,
    ) -> IssuedTokens:
        """Return new tokens of a grant of a tenant. Raise GrantRefused or TokenTrouble."""
        if kind is CredentialKind.OAUTH2_CLIENT:
            form = {"grant_type": "client_credentials", **config.get("parameters", {})}
            if "audience" in config:
                form["audience"] = config["audience"]
            if config.get("scopes"):
                form["scope"] = " ".join(config["scopes"])
            found = await self._ask(tenant, config, parts, form, ())
            return found if found.life is not None else msgspec.structs.replace(found, life=_CLIENT_LIFE)
        if refresh_token is None:
            raise GrantRefused("its token has expired, and the provider issued no refresh token")
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return await self._ask(tenant, config, parts, form, (refresh_token,))

    async def redeem(
        self,
        tenant: int,
        config: Mapping[str, Any],
        parts: Mapping[str, str],
        *,
        code: str,
        verifier: str,
        redirect_uri: str,
    ) -> IssuedTokens:
        """Return the tokens of an authorization code. Raise GrantRefused or TokenTrouble."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        return await self._ask(tenant, config, parts, form, (code, verifier))

    async def _ask(
        self,
        tenant: int,
        config: Mapping[str, Any],
        parts: Mapping[str, str],
        form: dict[str, str],
        sent: tuple[str, ...],
    ) -> IssuedTokens:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        secret = parts.get("client_secret")
        if secret is None or config.get("client_auth") == ClientAuth.BODY:
            form = {**form, "client_id": config["client_id"]} | ({} if secret is None else {"client_secret": secret})
        else:
            pair = basic(quote_plus(config["client_id"]), quote_plus(secret))
            headers["Authorization"] = f"Basic {pair}"
        url = str(config["token_url"])
        written = WrittenRequest("POST", url, headers, urlencode(form).encode())
        deadline = asyncio.timeout(self._limit)
        try:
            async with deadline:
                request = build_prepared(written, new_id().hex(), 1)
                answer = await self._http.exchange(request, tenant=tenant, limit=_LARGEST_ANSWER)
        except Exception as error:  # noqa: BLE001 - every error has words
            message = failure_of_request(error, deadline, self._limit).error.message
            raise TokenTrouble(f"{url}: {message}") from None
        return _read(url, answer, Scrubber(dict(enumerate_texts((*parts.values(), *sent)))))


def enumerate_texts(texts: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the texts with names, as a Scrubber wants them."""
    return [(str(number), text) for number, text in enumerate(texts)]


def _read(url: str, answer: ReceivedAnswer, scrubber: Scrubber) -> IssuedTokens:
    if answer.is_cut:
        raise TokenTrouble(f"{url} answered more than {_LARGEST_ANSWER // 1024} KB")
    found, _ = answer.value()
    if not isinstance(found, dict):
        raise TokenTrouble(f"{url} answered {answer.status} without a JSON object")
    error = found.get("error")
    if not 200 <= answer.status < 300 or error is not None:
        code = error if isinstance(error, str) and _ERROR.fullmatch(error) else None
        said = f"{url} answered {answer.status}{f' {code}' if code else ''}"
        described = found.get("error_description")
        if isinstance(described, str) and described:
            said += f": {plain_text(scrubber.text(described), _LONGEST_DESCRIPTION)}"
        if code in _DEAD and answer.status < 500:
            raise GrantRefused(said)
        raise TokenTrouble(said)
    return IssuedTokens(
        _token(url, found, "access_token") or "", _token(url, found, "refresh_token"), _life(found.get("expires_in"))
    )


def _token(url: str, found: Mapping[str, Any], name: str) -> str | None:
    value = found.get(name)
    if value is None and name == "refresh_token":
        return None
    if not isinstance(value, str) or len(value) > LONGEST_SECRET or not _TOKEN.fullmatch(value):
        raise TokenTrouble(f"{url} answered no usable {name}")
    kind = found.get("token_type")
    if isinstance(kind, str) and kind.lower() not in ("bearer", ""):
        raise TokenTrouble(f"{url} issued a token of the type {plain_text(kind, 40)!r}; only bearer tokens can be sent")
    return value


def _life(value: object) -> float | None:
    try:
        life = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    except ValueError:
        return None
    return life if life is not None and 0 < life <= _LONGEST_LIFE else None
