"""Connect a credential to an account: the authorization code flow of OAuth 2.0 with PKCE (RFC 7636).

`begin_connection` returns the page of the provider. A person agrees there, and the provider sends the browser to the
callback address with a code and the state. The state is used once, within ten minutes. It names the credential, so a
code is only sent to the token endpoint of that credential.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec

from detent.auth.caller import Caller
from detent.commands.context import CommandContext
from detent.commands.vault.waiters import CredentialWaiters
from detent.errors import Conflict, Forbidden, InvalidInput, NotFound
from detent.instant import Instant, micros
from detent.store.identity.people import Handshake
from detent.store.vault.credentials import CredentialRow
from detent.values.text import plain_text
from detent.vault.credential import (
    CredentialKind,
    GrantRefused,
    SealedParts,
    TokenTrouble,
    open_parts,
    seal_parts,
)
from detent.vault.sealing import Label

CALLBACK: Final = "/oauth/callback"
KIND: Final = "credential"
SECONDS: Final = 600.0
_TRIES: Final = 5
_LONGEST: Final = 4_096


class ProviderPage(NamedTuple):
    """The page of a provider, and until when its answer is accepted."""

    url: str
    expires_at: Instant


class ProviderAnswer(NamedTuple):
    """What a provider has sent with the browser."""

    state: str | None = None
    code: str | None = None
    issuer: str | None = None
    error: str | None = None


class _Begun(msgspec.Struct, frozen=True):
    """What is stored of a connection that has begun. `box` has the verifier. `config` is a digest."""

    credential: str
    config: str
    by: str
    via: str
    box: str


async def begin_connection(context: CommandContext, caller: Caller, row: CredentialRow) -> ProviderPage:
    """Return the page on which a person agrees. Raise Conflict for a credential of another kind."""
    if row.kind != CredentialKind.OAUTH2_CODE:
        raise Conflict(f"the credential {row.name!r} is of the kind {row.kind}, which needs no connection")
    config = json.loads(row.config)
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    id_ = _digest(state)
    box = context.engine.secrets.vault.seal(_label(row.tenant, id_), verifier.encode())
    begun = _Begun(row.name, _digest(row.config), caller.name, caller.via, base64.b64encode(box).decode())
    expires_at = context.now() + micros(SECONDS)
    text = msgspec.json.encode(begun).decode()
    await context.store.add_handshake(Handshake(id_, row.tenant, KIND, text, expires_at))
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    query = {
        **config.get("parameters", {}),
        "response_type": "code",
        "client_id": config["client_id"],
        "redirect_uri": context.base_url + CALLBACK,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    if config.get("scopes"):
        query["scope"] = " ".join(config["scopes"])
    address = str(config["authorization_url"])
    return ProviderPage(f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}", expires_at)


async def finish_connection(context: CommandContext, answer: ProviderAnswer, finisher: Caller | None) -> CredentialRow:
    """Store the tokens of the code that a provider has sent, and return the credential. Runs that wait for it go on.

    `finisher` is the caller of the browser, if it has a session. Raise InvalidInput, Forbidden or Conflict."""
    id_ = _digest(answer.state or "")
    shake = await context.store.take_handshake(KIND, id_) if answer.state else None
    if shake is None:
        raise InvalidInput("this page was used before, or it is older than ten minutes; connect the credential again")
    begun = msgspec.json.decode(shake.data, type=_Begun)
    if begun.via == "session" and (finisher is None or (finisher.tenant, finisher.name) != (shake.tenant, begun.by)):
        raise Forbidden("another person has begun this connection; connect the credential yourself")
    if answer.error is not None:
        raise InvalidInput(f"the provider refused: {plain_text(answer.error, 200)}")
    if not answer.code or len(answer.code) > _LONGEST:
        raise InvalidInput("the provider has sent no code; connect the credential again")
    row = await context.store.credential(shake.tenant, begun.credential)
    if row is None:
        raise NotFound(f"the credential {begun.credential!r} was deleted meanwhile")
    config: Mapping[str, Any] = json.loads(row.config)
    if _digest(row.config) != begun.config:
        raise Conflict(f"the credential {row.name!r} was changed meanwhile; connect it again")
    if "issuer" in config and answer.issuer != config["issuer"]:
        raise InvalidInput(f"the answer is not of the issuer {config['issuer']!r}; nothing was connected")
    if context.code_exchange is None:
        raise Conflict("this process cannot connect credentials; a server can")
    vault = context.engine.secrets.vault
    verifier = vault.open(_label(shake.tenant, id_), base64.b64decode(begun.box)).decode()
    parts = open_parts(vault, row.tenant, row.name, row.version, row.sealed)
    try:
        issued = await context.code_exchange.redeem(
            row.tenant,
            config,
            parts.parts,
            code=answer.code,
            verifier=verifier,
            redirect_uri=context.base_url + CALLBACK,
        )
    except (GrantRefused, TokenTrouble) as error:
        raise Conflict(f"the provider issued no token: {error}") from None
    now = context.now()
    sealed = SealedParts(parts.parts).with_tokens(issued, now)
    for _ in range(_TRIES):
        box = seal_parts(vault, row.tenant, row.name, row.version + 1, sealed)
        expires_at = issued.expires_at(now)
        if await context.store.renew_credential(row.tenant, row.name, row.version, sealed=box, expires_at=expires_at):
            await CredentialWaiters(context).resume()
            return await context.store.credential(row.tenant, row.name) or row
        # A node has renewed the old grant meanwhile. The new one replaces it, unless a person has changed more.
        newer = await context.store.credential(row.tenant, row.name)
        if newer is None or newer.config != row.config:
            break
        row = newer
    raise Conflict(f"the credential {row.name!r} was changed meanwhile; connect it again")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _label(tenant: int, id_: str) -> Label:
    return Label(tenant, "handshake", id_, 1)
