"""Addresses that are not public, and IPv4 addresses inside IPv6 addresses.

The table is our own. The standard library's `is_global` includes multicast, NAT64, 6to4 and other routes back into a
private network, and it changes with the version of Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from detent.errors import InvalidInput

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_METADATA: Final = "it is a cloud metadata service"

METADATA: Final[dict[Address, str]] = {
    ip_address(text): _METADATA
    for text in ("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16")
    + ("192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fe80::a9fe:a9fe")
}

METADATA_NAMES: Final = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "metadata.azure.internal",
        "metadata.tencentyun.com",
        "instance-data",
        "instance-data.ec2.internal",
    }
)

_PRIVATE: Final = "it is a private network; DETENT_EGRESS_ALLOW can allow its address or name"
DENIED: Final[tuple[tuple[Network, str], ...]] = tuple(
    (ip_network(text), reason)
    for text, reason in (
        ("0.0.0.0/8", "it is this machine"),
        ("10.0.0.0/8", _PRIVATE),
        ("100.64.0.0/10", _PRIVATE.replace("network;", "network (shared address space);")),
        ("127.0.0.0/8", "it is loopback; DETENT_EGRESS_ALLOW=127.0.0.0/8 would allow it"),
        ("169.254.0.0/16", "it is link-local"),
        ("172.16.0.0/12", _PRIVATE),
        ("192.0.0.0/24", "it is reserved"),
        ("192.0.2.0/24", "it is reserved for documentation"),
        ("192.88.99.0/24", "it is a 6to4 relay"),
        ("192.168.0.0/16", _PRIVATE),
        ("198.18.0.0/15", "it is reserved for benchmarks"),
        ("198.51.100.0/24", "it is reserved for documentation"),
        ("203.0.113.0/24", "it is reserved for documentation"),
        ("224.0.0.0/4", "it is multicast"),
        ("240.0.0.0/4", "it is reserved"),
        ("::/128", "it is this machine"),
        ("::1/128", "it is loopback; DETENT_EGRESS_ALLOW=::1 would allow it"),
        ("fc00::/7", _PRIVATE),
        ("fe80::/10", "it is link-local"),
        ("fec0::/10", _PRIVATE.replace("network;", "network (site-local);")),
        ("ff00::/8", "it is multicast"),
        ("2001::/23", "it is reserved (Teredo and others)"),
        ("2001:db8::/32", "it is reserved for documentation"),
        ("2002::/16", "it is a 6to4 address"),
        ("3ffe::/16", "it is reserved"),
        ("3fff::/20", "it is reserved for documentation"),
        # Only 2000::/3 is public, so the rest needs no list.
        ("::/3", "it is not a public address"),
        ("4000::/2", "it is not a public address"),
        ("8000::/1", "it is not a public address"),
    )
)
_DENIED_V4: Final = tuple((int(n.network_address), int(n.netmask), why) for n, why in DENIED if n.version == 4)
_DENIED_V6: Final = tuple((int(n.network_address), int(n.netmask), why) for n, why in DENIED if n.version == 6)

_NAT64: Final = IPv6Network("64:ff9b::/96")
_V4_COMPATIBLE: Final = IPv6Network("::/96")
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
_LOW_32_BITS: Final = 0xFFFF_FFFF


def denied_because(address: Address) -> str | None:
    """Return why this address is not public, or None if it is. IPv4 addresses inside it are not checked."""
    number = int(address)
    for network, mask, reason in _DENIED_V4 if address.version == 4 else _DENIED_V6:
        if number & mask == network:
            return reason
    return None


def judged_addresses(address: Address) -> tuple[Address, ...]:
    """Return the addresses that must all be allowed: this one, and those that a router would find inside it.

    A v4-mapped or NAT64 address is only its IPv4 address. Any other address is checked itself, too.
    """
    if isinstance(address, IPv4Address):
        return (address,)
    address = IPv6Address(int(address))  # without its zone, which names an interface and not a destination
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    low = IPv4Address(int(address) & _LOW_32_BITS)
    if address in _NAT64:
        return (low,)
    if address in _LOCAL_NAT64 or (address in _V4_COMPATIBLE and int(low) > 1):
        return (address, low)
    if address.sixtofour is not None:
        return (address, address.sixtofour)
    if address.teredo is not None:
        return (address, *address.teredo)
    return (address,)


# What an operator allows in addition to public addresses: one rule per text.


_NAME: Final = re.compile(r"(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_HIGHEST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class Rule:
    """A network or a name (`suffix` is the `.example.org` of `*.example.org`), on one port or on all."""

    network: Network | None = None
    name: str | None = None
    suffix: str | None = None
    port: int | None = None

    def admits(self, port: int) -> bool:
        return self.port is None or self.port == port

    def is_name(self, host: str | None) -> bool:
        """Return whether the rule names exactly this host."""
        return host is not None and self.name == host

    def is_single(self, address: Address | None) -> bool:
        """Return whether the rule names exactly this one address."""
        network = self.network
        return (
            address is not None
            and network is not None
            and network.num_addresses == 1
            and network.network_address == address
        )

    @property
    def is_metadata(self) -> bool:
        """Return whether the rule names a metadata service."""
        return self.name in METADATA_NAMES or any(self.is_single(address) for address in METADATA)

    def covers(self, address: Address, host: str | None) -> bool:
        return address in self.network if self.network is not None else self.has_name(host)

    def has_name(self, host: str | None) -> bool:
        """Return whether the rule is for this name, or for names below a domain that it is below."""
        if host is None:
            return False
        return host == self.name or (self.suffix is not None and host.endswith(self.suffix))


def parse_rule(text: str) -> Rule:
    """Return the rule of a text. Raise InvalidInput if it is not valid.

    Examples: `127.0.0.0/8`, `::1`, `[::1]:80`, `10.1.2.3:8080`, `internal.example`, `*.example.org:443`.
    """
    host, port = _split_port(text.strip().lower())
    try:
        return Rule(network=ip_network(host), port=port)
    except ValueError as error:
        if "host bits" in str(error):
            raise InvalidInput(f"{text!r} is not a network; write {ip_network(host, strict=False)} instead") from None
    name = host.rstrip(".")
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"{text!r} is not a valid network, address or host name")
    if name.startswith("*."):
        return Rule(suffix=name[1:], port=port)
    return Rule(name=name, port=port)


def _split_port(text: str) -> tuple[str, int | None]:
    bracketed = re.fullmatch(r"\[([^\]]*)\](?::(\d{1,5}))?", text)
    plain = re.fullmatch(r"([^:/]+):(\d{1,5})", text)
    found = bracketed or plain
    if found is None:
        return text, None
    port = None if found[2] is None else int(found[2])
    if port is not None and not 0 < port <= _HIGHEST_PORT:
        raise InvalidInput(f"{text!r}: {port} is not a valid port")
    return found[1], port
