"""Named connections: where services are and what they are called with, as the operator set it in the environment.

    CONNECTOR_SLACK_TOKEN       the token of a bearer or of an API key
    CONNECTOR_CRM_USERNAME      and _PASSWORD: of basic authentication
    CONNECTOR_CRM_CLIENT_ID     and _CLIENT_SECRET: of OAuth2 client credentials
    CONNECTOR_SES_ACCESS_KEY_ID and _SECRET_ACCESS_KEY, perhaps _SESSION_TOKEN and _REGION: of aws4
    CONNECTOR_CRM_URL           replaces the base_url of the manifest

Actions that are data use the connection with the name of their connector. Actions in Python may have a parameter
`connection` that names another one; its address is never part of a workflow. A credential is read here, passed to a
request or to the code of an action, and stored nowhere. `Scrubber` removes it from what comes back.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote, urlsplit

from detent.catalog.connector import SECRETS, Auth, AuthType, KeyPlace

MASK: Final = "***"
#: A shorter secret is not removed from answers: it would be found in words that have nothing to do with it.
SHORTEST_SECRET: Final = 6
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_NOT_IN_NAME: Final = re.compile(r"[^A-Z0-9]")
_LONGEST_NAME: Final = 80
_SECRET_PARTS: Final = ("password", "token", "client_secret", "secret_access_key", "session_token")
#: Everything that a connection can have.
PARTS: Final = (
    *("url", "username", "client_id", "access_key_id", "region", "endpoint", "from", "ca_file"),
    *_SECRET_PARTS,
)
#: The code of a step whose connection is not set up.
MISSING: Final = "missing_credential"


@dataclass(frozen=True, slots=True)
class ServiceConnection:
    """Where requests of a connector go, and the parts of its credential."""

    base_url: str
    secrets: Mapping[str, str]
    headers: Mapping[str, str] = field(default_factory=dict)  # that authenticate its requests
    region: str | None = None  # of aws4


class MissingConnection(ValueError):
    """A connection lacks its address or a part of its credential. `names` are the variables to set."""

    def __init__(self, connection: str, names: tuple[str, ...]) -> None:
        needs, shown = " and ".join(names), connection[:_LONGEST_NAME]
        super().__init__(f"the connection {shown!r} is not set up on this node: set {needs} in its environment")
        self.names = names


@dataclass(frozen=True, slots=True)
class NamedConnection:
    """A connection as the code of an action sees it: its name, and the parts that the operator has set."""

    name: str
    parts: Mapping[str, str] = field(repr=False)

    def __getitem__(self, part: str) -> str:
        return self.need(part)

    def get(self, part: str) -> str | None:
        """Return a part, or `None` if it is not set."""
        return self.parts.get(part)

    def need(self, *parts: str) -> str:
        """Return the first of these parts. Raise MissingConnection with the variables of all that are not set."""
        missing = tuple(variable(self.name, part) for part in parts if part not in self.parts)
        if missing:
            raise MissingConnection(self.name, missing)
        return self.parts[parts[0]]

    def scrubber(self) -> Scrubber:
        """Return what removes its secrets from texts, also the password of its address."""
        secrets = {part: self.parts[part] for part in _SECRET_PARTS if part in self.parts}
        try:
            password = urlsplit(self.parts.get("url", "")).password
        except ValueError:
            password = None
        return Scrubber(secrets | ({} if password is None else {"url": unquote(password), "quoted": password}))


class EnvironmentConnections:
    """The connections that environment variables describe. The process's own environment is read by default."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._known: dict[tuple[str, str | None, Auth], tuple[ServiceConnection, Scrubber]] = {}

    def find(self, connector: str, base_url: str | None, auth: Auth) -> tuple[ServiceConnection, Scrubber]:
        """Return the connection of a connector, with what removes its secrets. Raise MissingConnection."""
        key = connector, base_url, auth
        known = self._known.get(key)
        if known is None:
            missing = self.missing(connector, base_url, auth)
            if missing:
                raise MissingConnection(connector, missing)
            secrets = {name: self._environ[variable(connector, name)].strip() for name in SECRETS[auth.type]}
            more = self.named(connector)
            if auth.type is AuthType.AWS4 and (session := more.get("session_token")) is not None:
                secrets["session_token"] = session
            region = more.get("region") or auth.region
            address = self.address(connector, base_url)
            made = ServiceConnection(address, secrets, auth_headers(auth, secrets), region)
            known = self._known[key] = made, Scrubber(secrets)
        return known

    def address(self, connector: str, base_url: str | None) -> str:
        """Return where a connector is: as the operator has set it, else as its manifest says. Raise
        MissingConnection."""
        name = variable(connector, "url")
        found = (self._environ.get(name) or base_url or "").strip().rstrip("/")
        if not found:
            raise MissingConnection(connector, (name,))
        return found

    def named(self, connection: str) -> NamedConnection:
        """Return what the operator has set of a connection, which may be nothing."""
        found = {part: self._environ.get(variable(connection, part), "") for part in PARTS}
        return NamedConnection(connection, {part: text.strip() for part, text in found.items() if _is_usable(text)})

    def missing(self, connector: str, base_url: str | None, auth: Auth) -> tuple[str, ...]:
        """Return the variables that a connector needs and the environment lacks."""
        names = [variable(connector, name) for name in SECRETS[auth.type]]
        if base_url is None:
            names.insert(0, variable(connector, "url"))
        return tuple(name for name in names if not _is_usable(self._environ.get(name, "")))


def _is_usable(text: str) -> bool:
    """Return whether a value can be part of a request: it is there, and has no line break in it."""
    return bool(text.strip()) and not _CONTROL.search(text.strip())


def auth_headers(auth: Auth, secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that authenticate a request."""
    match auth.type:
        case AuthType.BEARER | AuthType.OAUTH2_CLIENT if "token" in secrets:
            return {"Authorization": f"Bearer {secrets['token']}"}
        case AuthType.BASIC:
            return {"Authorization": f"Basic {basic(secrets['username'], secrets['password'])}"}
        case AuthType.API_KEY if auth.place is KeyPlace.HEADER:
            return {str(auth.name): secrets["token"]}
        case _:
            return {}


def basic(username: str, password: str) -> str:
    """Return the text of basic authentication."""
    return base64.b64encode(f"{username}:{password}".encode()).decode()


def variable(connector: str, part: str) -> str:
    """Return the environment variable of a part of a connection: `CONNECTOR_SLACK_TOKEN`."""
    return f"CONNECTOR_{_NOT_IN_NAME.sub('_', connector.upper())}_{part.upper()}"


def connection_of(connector: str, given: Any) -> str | None:
    """Return the connection that a step of an action in Python uses: the one that its `with` names, else that of the
    connector. `None` if only the run will know."""
    named = given.get("connection", connector) if isinstance(given, Mapping) else connector
    return named if isinstance(named, str) and "{{" not in named else None


class Scrubber:
    """Removes secrets from what is stored: a service may repeat what it was sent."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        texts = {text for text in secrets.values() if len(text) >= SHORTEST_SECRET}
        if "username" in secrets and "password" in secrets:
            texts.add(basic(secrets["username"], secrets["password"]))
            texts.discard(secrets["username"])
        spellings = {spelt for text in texts for spelt in (text, quote(text, safe=""), quote_plus(text))}
        self._texts = sorted(spellings, key=len, reverse=True)
        needles = {
            json.dumps(text, ensure_ascii=is_ascii)[1:-1].encode() for text in self._texts for is_ascii in (True, False)
        }
        self._needle = re.compile(b"|".join(map(re.escape, sorted(needles)))) if needles else None

    def text(self, text: str) -> str:
        """Return a text without the secrets."""
        for secret in self._texts:
            text = text.replace(secret, MASK)
        return text

    def is_in(self, raw: bytes) -> bool:
        """Return whether JSON bytes contain a secret."""
        return self._needle is not None and self._needle.search(raw) is not None

    def value(self, value: Any) -> Any:
        """Return a JSON value without the secrets, also in its keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.value(inner) for inner in value]
        return value
