"""The egress guard: which addresses a step may connect to. It is always on; there is no setting to turn it off.

Public addresses are allowed. Everything else is denied unless the operator allows it (`127.0.0.0/8`, `10.1.2.3:8080`,
`internal.example`, `*.example.org`, `[::1]:9000`). A rule for a network or a name is not enough in three cases. The
metadata service of a cloud stays denied until its single address is allowed. A port of Detent itself stays denied until
its exact host and port are allowed. An IPv6 address that contains an IPv4 address is allowed only if both are.

The guard decides on addresses, not on texts. A name is resolved once, and every answer is checked. Steps connect only
to checked addresses, and the socket factory checks the address of each connection again. Python actions are trusted
code and use the guard only for connections of their context.

A tenant may have a list of hosts and networks of its own (`TenantEgress`). It narrows what the installation allows, and
never adds to it. No tenant but the first reaches a metadata service.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from aiohttp.abc import AbstractResolver, ResolveResult

from detent.steps.egress_addresses import (
    METADATA,
    METADATA_NAMES,
    Address,
    Rule,
    denied_because,
    judged_addresses,
    parse_rule,
)
from detent.steps.errors import EgressDenied
from detent.tenants.limits import INSTALLATION
from detent.tenants.registry import UNCONFINED, TenantRegistry

AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[object, ...]]


def is_own_address(address: Address) -> bool:
    """Return whether this address belongs to this machine: only its own addresses can be bound."""
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True, eq=False)  # the same policy is the same object: a hash of its rules takes time
class EgressPolicy:
    """The addresses that steps of this node may connect to.

    `deny_own` has the (host, port) of Detent's own API and database. There, a host of `0.0.0.0` or `::` means every
    address of this machine. A name in it is only compared with names, so pass addresses if they are known. `only` is
    what a tenant may reach of all this, `None` for everything. A guest is a tenant that no rule lets reach a metadata
    service.
    """

    rules: tuple[Rule, ...] = ()
    deny_own: tuple[tuple[str, int], ...] = ()
    is_own: Callable[[Address], bool] = is_own_address
    only: tuple[Rule, ...] | None = None
    is_guest: bool = False

    @classmethod
    def from_texts(cls, allow: Iterable[str] = (), deny_own: Iterable[tuple[str, int]] = ()) -> EgressPolicy:
        """Return the policy of these rules. Raise InvalidInput if a text is not a valid network, address or host."""
        return cls(tuple(parse_rule(text) for text in allow), tuple((_folded(host), port) for host, port in deny_own))

    def narrowed(self, only: Iterable[str] | None, *, is_guest: bool) -> EgressPolicy:
        """Return the policy of a tenant that may reach these hosts and networks, as far as this policy allows them.
        Raise InvalidInput if a text is not a valid network, address or host."""
        rules = None if only is None else tuple(parse_rule(text) for text in only)
        return replace(self, only=rules, is_guest=is_guest)

    def deny_name(self, host: str, port: int) -> str | None:
        """Return why this name is denied whatever it resolves to, or None."""
        host = _folded(host)
        if host in METADATA_NAMES and (self.is_guest or not any(rule.is_name(host) for rule in self.rules)):
            return "it is a cloud metadata service"
        if (host, port) in self.deny_own and not self._names_exactly(host, None, port):
            return "it is a port of Detent itself"
        if self.only is not None and all(rule.network is None for rule in self.only) and not self._lists(host, port):
            return _NOT_LISTED  # no name server is asked about it
        return None

    def deny_address(self, address: Address, port: int, host: str | None = None) -> str | None:
        """Return why this address is denied, or None. `host` is the name that resolved to it."""
        named = None if host is None else _folded(host)
        for judged in judged_addresses(address):
            reason = self._deny_one(judged, port, named)
            if reason is not None:
                return reason
        return None

    def _deny_one(self, address: Address, port: int, host: str | None) -> str | None:
        if self.only is not None and not self._lists(host, port, address):
            return _NOT_LISTED
        if address in METADATA:
            allowed = any(rule.is_single(address) and rule.admits(port) for rule in self.rules)
            return None if allowed and not self.is_guest else METADATA[address]
        if self._is_own_port(address, port) and not self._names_exactly(host, address, port):
            return "it is a port of Detent itself"
        reason = denied_because(address)
        if reason is None or any(rule.covers(address, host) and rule.admits(port) for rule in self.rules):
            return None
        return reason

    def _lists(self, host: str | None, port: int, address: Address | None = None) -> bool:
        """Return whether the list of the tenant has this host or address."""
        return any(
            rule.admits(port) and (rule.has_name(host) or (address is not None and rule.covers(address, host)))
            for rule in self.only or ()
        )

    def _is_own_port(self, address: Address, port: int) -> bool:
        return any(port == own and self._is_at(address, host) for host, own in self.deny_own)

    def _is_at(self, address: Address, host: str) -> bool:
        own = _as_address("127.0.0.1" if host == "localhost" else host)
        if own is None:
            return False
        # A connection to the unspecified address goes to loopback.
        if own.is_unspecified:
            return address.is_loopback or address.is_unspecified or self.is_own(address)
        if own.is_loopback:
            return address.is_loopback or address.is_unspecified
        return address == own

    def _names_exactly(self, host: str | None, address: Address | None, port: int) -> bool:
        return any(rule.port == port and (rule.is_name(host) or rule.is_single(address)) for rule in self.rules)


class TenantEgress:
    """The policies of tenants: that of the installation, narrowed by what each tenant may reach. Tenants with the same
    list have the same policy, the same object."""

    def __init__(self, policy: EgressPolicy, tenants: TenantRegistry = UNCONFINED) -> None:
        self.policy = policy
        self._tenants = tenants
        self._narrowed = lru_cache(maxsize=_MOST_POLICIES)(self._narrow)
        # Without such a rule a guest may reach what the first tenant may, over the same connections.
        self._has_metadata = any(rule.is_metadata for rule in policy.rules)

    def of(self, tenant: int) -> EgressPolicy:
        """Return the policy of a tenant."""
        only = self._tenants.limits(tenant).egress
        is_guest = tenant != INSTALLATION and self._has_metadata
        return self._narrowed(only, is_guest) if only is not None or is_guest else self.policy

    def _narrow(self, only: tuple[str, ...] | None, is_guest: bool) -> EgressPolicy:
        return self.policy.narrowed(only, is_guest=is_guest)


class EgressGuard:
    """Enforces a policy: before a name is resolved, on every answer, and on the address of each new socket."""

    def __init__(self, policy: EgressPolicy) -> None:
        self._policy = policy
        # The cache has only allowed hosts: a denial raises. The socket factory checks every connection again.
        self.check_host = lru_cache(maxsize=1024)(self._check_host)

    def _check_host(self, host: str, port: int) -> None:
        """Raise EgressDenied for a denied name or address literal."""
        reason = self._policy.deny_name(host, port)
        literal = _LOOPBACK if _is_localhost(host) else _as_address(host)
        if reason is None and literal is not None:
            reason = self._policy.deny_address(literal, port, host)
        if reason is not None:
            raise EgressDenied(host, reason)

    @contextmanager
    def towards(self, host: str) -> Iterator[None]:
        """Set the host of connections opened inside the block: a host allowed by name may have a private address."""
        token = _dialled.set(host)
        try:
            yield
        finally:
            _dialled.reset(token)

    def open_socket(self, info: AddressInfo) -> socket.socket:
        """Return a socket for the address that will be connected to. Raise EgressDenied if it is denied."""
        family, kind, protocol, _, where = info
        host, port = str(where[0]), int(str(where[1]))
        address = _as_address(host)
        reason = (
            "it is not an IP address" if address is None else self._policy.deny_address(address, port, _dialled.get())
        )
        if reason is not None:
            raise EgressDenied(_dialled.get() or host, reason)
        return socket.socket(family, kind, protocol)

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """Return a socket that is connected to an allowed address of a host, with this time limit. It blocks.

        Raise EgressDenied if the name or one of its addresses is denied, OSError if none can be reached."""
        self.check_host(host, port)
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        for *_, where in answers:
            address = _as_address(str(where[0]))
            reason = "it is not an IP address" if address is None else self._policy.deny_address(address, port, host)
            if reason is not None:
                raise EgressDenied(host, reason)
        failure: OSError = OSError(errno.EADDRNOTAVAIL, f"{host} has no address")
        with self.towards(host):
            for info in answers:
                sock = self.open_socket(info)
                try:
                    sock.settimeout(timeout)
                    sock.connect(info[4])
                except OSError as error:
                    failure = error
                    sock.close()
                else:
                    return sock
        raise failure

    def check_answers(self, host: str, answers: list[ResolveResult]) -> list[ResolveResult]:
        """Return the answers. Raise OSError if there are none, EgressDenied if one of them is denied."""
        if not answers:
            raise OSError(errno.EADDRNOTAVAIL, f"{host} has no address")
        for answer in answers:
            address = _as_address(answer["host"])
            reason = (
                "its name resolves to something that is not an IP address"
                if address is None
                else self._policy.deny_address(address, answer["port"], host)
            )
            if reason is not None:
                raise EgressDenied(host, reason)
        return answers


class GuardedResolver(AbstractResolver):
    """Resolves a name once, and returns the answers only if all of them are allowed."""

    def __init__(self, guard: EgressGuard, inner: AbstractResolver) -> None:
        self._guard = guard
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return self._guard.check_answers(host, await self._inner.resolve(host, port, family))

    async def close(self) -> None:
        await self._inner.close()


_MOST_POLICIES: Final = 256
_NOT_LISTED: Final = "the egress list of the tenant does not have it; an instance admin can add it"
_LOOPBACK: Final = IPv4Address("127.0.0.1")
_dialled: Final[ContextVar[str | None]] = ContextVar("detent_dialled_host", default=None)


def _is_localhost(host: str) -> bool:
    """Return whether a name is loopback by its standard (RFC 6761). No name server is asked about it."""
    return f".{_folded(host)}".endswith(".localhost")


def _folded(host: str) -> str:
    return host.lower().rstrip(".").strip("[]")


def _as_address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(_folded(host))
    except ValueError:
        return None
