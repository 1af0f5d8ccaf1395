"""What an operator allows beside public addresses: one rule per text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Final

from detent.errors import InvalidInput
from detent.steps.networks import Address, Network

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
        """Whether the rule names exactly this host."""
        return host is not None and self.name == host

    def is_single(self, address: Address | None) -> bool:
        """Whether the rule names exactly this one address."""
        network = self.network
        return (
            address is not None
            and network is not None
            and network.num_addresses == 1
            and network.network_address == address
        )

    def covers(self, address: Address, host: str | None) -> bool:
        if self.network is not None:
            return address in self.network
        if host is None:
            return False
        return host == self.name or (self.suffix is not None and host.endswith(self.suffix))


def parse_rule(text: str) -> Rule:
    """The rule of `127.0.0.0/8`, `::1`, `[::1]:80`, `10.1.2.3:8080`, `internal.example` or `*.example.org:443`."""
    host, port = _split_port(text.strip().lower())
    try:
        return Rule(network=ip_network(host), port=port)
    except ValueError as error:
        if "host bits" in str(error):
            raise InvalidInput(f"{text!r}: the network is {ip_network(host, strict=False)}, write that") from None
    name = host.rstrip(".")
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"{text!r} is no network, address or host name that could be allowed")
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
        raise InvalidInput(f"{text!r}: {port} is no port")
    return found[1], port
