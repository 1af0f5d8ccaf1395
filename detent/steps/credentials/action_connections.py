"""Stored credentials of actions in Python: the connection of an attempt, with what the credential of its step has.

The operator's environment says where a service is; the credential says what it is called with. The address must be one
of the hosts of the credential. Code can send what it knows anywhere, so the client of its context
(`context.http`) refuses to carry a value of the credential to another host. Code that brings its own client is trusted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec
from yarl import URL

from detent.catalog.connections import NamedConnection
from detent.run.call import StepCall
from detent.run.outcomes import Fail, Outcome, StepError
from detent.steps.credentials.keeper import CredentialKeeper
from detent.steps.credentials.opened import OpenedCredential
from detent.steps.errors import UNAUTHORIZED, CredentialProblem, Permanent
from detent.vault.hosts import HostRules, rule_of
from detent.vault.redaction import Redactor

DENIED: Final = "credential_denied"
#: What the operator says of a service that is not a part of a credential.
_OF_OPERATOR: Final = ("url", "endpoint", "region", "from", "ca_file")
_PORTS: Final = {
    "http": 80,
    "https": 443,
    "postgresql": 5432,
    "postgres": 5432,
    "mysql": 3306,
    "mariadb": 3306,
    "smtp": 587,
    "smtps": 465,
}
_PLAIN_SMTP: Final = 25
#: Addresses of files: nothing is sent to a host.
_LOCAL: Final = ("sqlite", "file")


class HostBinding:
    """Where the values of a credential may be sent."""

    def __init__(self, credential: str, hosts: Iterable[str], values: Iterable[str]) -> None:
        self.credential = credential
        self.hosts = HostRules(hosts)
        self.values = tuple(values)
        self.redactor = Redactor(self.values)

    def check(self, url: URL, *carried: Any) -> None:
        """Raise Permanent if a request with these values carries the credential to a host that it does not allow."""
        host, port = url.raw_host or "", url.port or 0
        if self.hosts.allow(host, port):
            return
        if any(self._has(one) for one in (str(url), url.path, *carried)):
            raise Permanent(_refusal(self.credential, self.hosts, host, port), code=DENIED)

    def _has(self, carried: Any) -> bool:
        """Return whether a part of a request has a value in it, or cannot be read: a stream may have anything."""
        if isinstance(carried, bytes | bytearray | memoryview):
            carried = bytes(carried).decode("utf-8", "replace")
        try:
            value = msgspec.to_builtins(dict(carried) if isinstance(carried, Mapping) else carried, str_keys=True)
        except (TypeError, ValueError, RecursionError):
            return True
        return bool(self.redactor.value(value) != value)


class LentConnection:
    """The connection of one attempt, with the values of an opened credential. `binding` says where they may go."""

    def __init__(self, environment: NamedConnection, opened: OpenedCredential) -> None:
        kept = {part: environment.parts[part] for part in _OF_OPERATOR if part in environment.parts}
        if "region" in opened.config:
            kept["region"] = opened.config["region"]
        _check_address(NamedConnection(environment.name, kept), opened)
        if "url" in kept:
            kept["url"] = _without_user(kept["url"])
        self.connection = NamedConnection(environment.name, {**kept, **opened.secrets})
        self.redactor = opened.redactor
        self.binding = HostBinding(opened.name, opened.hosts.rules, opened.values())


class ActionCredentials:
    """Opens the credentials of actions in Python, and renews the token of one that a service has refused."""

    def __init__(self, keeper: CredentialKeeper) -> None:
        self._keeper = keeper

    async def run(
        self,
        call: StepCall,
        environment: NamedConnection,
        lend: Callable[[LentConnection], None],
        perform: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        """Lend the credential that the step of a call names, then perform the attempt and return its outcome.

        An action that is unauthorized is called once more with a renewed token, if there is one."""
        try:
            opened = await self._keeper.for_call(call, str(call.parameters["credential"]))
            assert opened is not None  # it is needed
            lend(LentConnection(environment, opened))
            outcome = await perform()
            if isinstance(outcome, Fail) and outcome.error.code == UNAUTHORIZED:
                newer = await self._keeper.renew_for_call(call, opened)
                if newer is not None:
                    lend(LentConnection(environment, newer))
                    outcome = await perform()
        except CredentialProblem as problem:
            return problem.outcome
        return outcome


def _check_address(connection: NamedConnection, opened: OpenedCredential) -> None:
    """Raise CredentialProblem if the service of a connection is not one of the hosts of a credential."""
    try:
        place = _place(connection)
    except ValueError:
        message = f"the address of the connection {connection.name!r} cannot be read, so the credential is not used"
        raise CredentialProblem(Fail(StepError(DENIED, message), retry=False)) from None
    if place is not None and not opened.hosts.allow(*place):
        message = _refusal(opened.name, opened.hosts, *place)
        raise CredentialProblem(Fail(StepError(DENIED, message), retry=False))


def _place(connection: NamedConnection) -> tuple[str, int] | None:
    """Return the host and port of a connection, or `None` if it names none. Raise ValueError if it cannot be read."""
    address = connection.get("endpoint") or connection.get("url")
    if address is None:
        return None
    parts = urlsplit(address)
    if parts.scheme in _LOCAL:
        return None
    if parts.scheme == "s3":
        return f"{parts.netloc}.s3.{connection.get('region') or 'us-east-1'}.amazonaws.com", 443
    port = parts.port or _PORTS.get(parts.scheme.partition("+")[0], 0)
    if parts.scheme == "smtp" and parts.port is None and parse_qs(parts.query).get("tls") == ["none"]:
        port = _PLAIN_SMTP
    if not parts.hostname or not port or " " in address:
        raise ValueError(address)
    return parts.hostname, port


def _without_user(address: str) -> str:
    """Return an address without the user and the password of the operator."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _refusal(credential: str, hosts: HostRules, host: str, port: int) -> str:
    allowed = str(hosts) or "no host"
    return f"the credential {credential!r} may not be sent to {rule_of(host, port)}; it allows {allowed}"
