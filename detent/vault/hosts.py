"""Host rules: where a secret value may be sent. `api.example.com`, `*.example.com`, `10.0.0.5:8443`, `[::1]:9000`.

A rule without a port allows the usual ports of HTTP, 80 and 443. `*.` stands for one or more labels, and never for the
domain itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any, Final

from detent.values.fields import Fields, shown

MOST_HOSTS: Final = 50
_USUAL_PORTS: Final = (80, 443)
_LABELS: Final = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*"
_RULE: Final = re.compile(
    rf"(?P<any>\*\.)?(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>{_LABELS}))(?::(?P<port>[0-9]{{1,5}}))?"
)


class HostRules:
    """The hosts that a secret value may be sent to."""

    def __init__(self, rules: Iterable[str]) -> None:
        self.rules = tuple(rules)
        self._parsed = [_parse(rule) for rule in self.rules]

    def allow(self, host: str, port: int) -> bool:
        """Return whether a rule covers this host and port. `host` is in its ASCII form."""
        host = host.lower().rstrip(".")
        return any(
            port in ports and (host.endswith("." + name) if is_any else host == name)
            for is_any, name, ports in self._parsed
        )

    def __str__(self) -> str:
        return ", ".join(self.rules)


def rule_problem(rule: str) -> str | None:
    """Return what is wrong with a rule, or None."""
    found = _RULE.fullmatch(rule.lower())
    if found is None or len(rule) > 260:
        return f"{shown(rule)} is not a host such as api.example.com, *.example.com or 10.0.0.5:8443"
    if found["six"] or re.fullmatch(r"[0-9.]+", found["name"] or ""):
        try:
            ip_address(found["six"] or found["name"])
        except ValueError:
            return f"{shown(rule)} is not a valid address"
        if found["any"]:
            return f"{shown(rule)} is not a host: an address has no names below it"
    elif found["any"] and "." not in found["name"]:
        return f"{shown(rule)} allows every host of a whole domain; write the domain, such as *.example.{found['name']}"
    if found["port"] and not 0 < int(found["port"]) < 65_536:
        return f"{shown(rule)} has a port that does not exist"
    return None


def read_hosts(fields: Fields, name: str) -> tuple[str, ...]:
    """Read a list of rules, or one rule as text."""
    value: Any = fields.get(name)
    if value is None:
        return ()
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        fields.wrong(name, "a list of hosts")
        return ()
    if len(listed) > MOST_HOSTS:
        fields.problems.add(fields.at(name), f"has {len(listed)} hosts; at most {MOST_HOSTS} are allowed")
        return ()
    for rule in listed:
        if problem := rule_problem(rule):
            fields.problems.add(fields.at(name), problem)
    return tuple(dict.fromkeys(rule.lower() for rule in listed))


def rule_of(host: str, port: int) -> str:
    """Return the rule that covers exactly this host, with its port if it is unusual."""
    shown_host = f"[{host}]" if ":" in host else host
    return shown_host if port in _USUAL_PORTS else f"{shown_host}:{port}"


def _parse(rule: str) -> tuple[bool, str, tuple[int, ...]]:
    found = _RULE.fullmatch(rule)
    if found is None:
        raise ValueError(f"{rule!r} is not a rule of hosts")
    ports = (int(found["port"]),) if found["port"] else _USUAL_PORTS
    return found["any"] is not None, found["six"] or found["name"], ports
