"""Every setting of Detent, one documented field each.

A value is read from the command line's flag, then from `DETENT_NAME`, then from `name = ...` in `detent.toml` of the
current folder. It is checked when it is read: the error for an invalid one has its name, its value and its source.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Final

from detent.errors import InvalidInput, Problem

PREFIX: Final = "DETENT_"
FILE: Final = "detent.toml"
#: The only tenant in this version.
DEFAULT_TENANT: Final = 1
#: Read by the tests, and by clients (the address of their server), but not settings.
_FOREIGN: Final = ("DETENT_TEST_", "DETENT_URL", "DETENT_KEY")
_WORDS: Final = {**dict.fromkeys(("true", "1", "yes", "on"), True), **dict.fromkeys(("false", "0", "no", "off"), False)}
#: The shortest grace of blobs: twice `_FRESH` in `store/sql/blobs/verbs.py`.
_LEAST_GRACE: Final = 120
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_STATUSES: Final = ("completed", "failed", "cancelled", "timeout")
_SHORTEST_KEY: Final = 16
_SHORTEST_SECRET: Final = 32
_ROLES: Final = ("viewer", "operator", "editor", "admin", "instance-admin")

Parse = Callable[[Any], Any]


def _setting(parse: Parse, default: Any, help_: str, *, secret: bool = False) -> Any:
    return field(default=default, metadata={"parse": parse, "help": help_, "secret": secret})


def _text(value: Any) -> str:
    if isinstance(value, str) and not value.strip():
        raise ValueError("must not be empty; leave it out for its default")
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value.strip()


def _key(value: Any) -> str:
    if len(_text(value)) < _SHORTEST_KEY:
        raise ValueError(f"must have at least {_SHORTEST_KEY} characters")
    return _text(value)


def _url(value: Any) -> str:
    if not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", _text(value)):
        raise ValueError("must be an address such as https://detent.example.org")
    return _text(value).rstrip("/")


def _secret(value: Any) -> str:
    if len(_text(value)) < _SHORTEST_SECRET:
        raise ValueError(f"must have at least {_SHORTEST_SECRET} characters")
    return _text(value)


def _address(value: Any) -> str:
    """Read an address as it is: an issuer is compared letter by letter, with its last slash."""
    if not re.fullmatch(r"https://[^\s]+|http://(localhost|127\.0\.0\.1|\[::1\])([:/][^\s]*)?", _text(value)):
        raise ValueError("must be an address with https, such as https://login.example.org; http only on this machine")
    return _text(value)


def _pairs(value: Any) -> tuple[tuple[str, str], ...]:
    """Read `staff=operator,admins=admin`, or the same as a table."""
    pairs = value.items() if isinstance(value, Mapping) else (part.rpartition("=")[::2] for part in _names(value))
    found = tuple((str(name).strip(), str(word).strip()) for name, word in pairs)
    for name, word in found:
        if not name or word not in _ROLES:
            raise ValueError(f"must be like staff=operator,admins=admin; roles are {', '.join(_ROLES)}")
    return found


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.strip().lower() not in _WORDS:
        raise ValueError("must be true or false")
    return _WORDS[value.strip().lower()]


def _whole(least: int, most: int) -> Parse:
    def parse(value: Any) -> int:
        text = str(value).strip().replace("_", "")
        if isinstance(value, bool) or not re.fullmatch(r"-?[0-9]{1,12}", text) or not least <= int(text) <= most:
            raise ValueError(f"must be a whole number from {least:,} to {most:,}")
        return int(text)

    return parse


def _seconds(least: float, most: float) -> Parse:
    def parse(value: Any) -> float:
        text = str(value).strip()
        if isinstance(value, bool) or not re.fullmatch(r"-?[0-9]{1,12}(\.[0-9]{1,6})?", text):
            raise ValueError("must be a number of seconds")
        if not least <= float(text) <= most:
            raise ValueError(f"must be a number of seconds from {least:g} to {most:g}")
        return float(text)

    return parse


Network = IPv4Network | IPv6Network


def _networks(value: Any) -> tuple[Network, ...]:
    """Read addresses and networks from a comma-separated text or a list."""
    found: list[Network] = []
    for name in _names(value):
        try:
            found.append(ip_network(name))
        except ValueError:
            raise ValueError(f"{name!r} is not an address or a network such as 10.0.0.0/8") from None
    return tuple(found)


def _names(value: Any) -> tuple[str, ...]:
    """Read names from a comma-separated text or a list."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError("must be names separated by commas")
    return tuple(part.strip() for part in parts if part.strip())


def _blobs(value: Any) -> str:
    if not re.fullmatch(r"database|directory:/.+|s3://[^/\s]+(/\S*)?", _text(value)):
        raise ValueError("must be database, directory:/path, or s3://bucket/prefix")
    return _text(value)


def _choice(*words: str) -> Parse:
    def parse(value: Any) -> str:
        if value not in words:
            raise ValueError(f"must be {' or '.join(words)}")
        return str(value)

    return parse


def _span(value: Any) -> int:
    """Read `90d`, or a number of seconds, into seconds."""
    found = re.fullmatch(r"([0-9]{1,9})([smhdw]?)", str(value).strip())
    if not found:
        raise ValueError("must be a number of seconds, or a length of time such as 90d")
    return int(found[1]) * _UNITS[found[2] or "s"]


def _grace(value: Any) -> int:
    """Read the grace of blobs. A store may note a touch of a blob up to a minute late; twice that is safe."""
    seconds = _span(value)
    if seconds < _LEAST_GRACE:
        raise ValueError(f"must be at least {_LEAST_GRACE} s, or a blob could be deleted before its run names it")
    return seconds


def _retention(value: Any) -> tuple[tuple[str, int], ...]:
    """Read `completed=30d,failed=90d`, or the same as a table, into seconds by status."""
    pairs = value.items() if isinstance(value, Mapping) else (part.partition("=")[::2] for part in _names(value))
    kept: dict[str, int] = {}
    for status, age in pairs:
        found = re.fullmatch(r"([0-9]{1,9})([smhdw])", str(age).strip())
        if status.strip() not in _STATUSES or not found:
            raise ValueError(f"must be like completed=30d,failed=90d; statuses are {', '.join(_STATUSES)}")
        kept[status.strip()] = int(found[1]) * _UNITS[found[2]]
    return tuple(kept.items())


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one process, as the operator set them."""

    database_url: str = _setting(
        _text,
        "sqlite:///detent.db",
        "sqlite:///path/to/file.db, postgresql://user@host/name, mysql://user@host/name or memory://",
    )
    base_url: str | None = _setting(
        _url, None, "where the outside world reaches this Detent; callback URLs begin with it"
    )
    host: str = _setting(_text, "127.0.0.1", "the address the API listens on")
    port: int = _setting(_whole(0, 65_535), 8080, "the port the API listens on; 0 takes a free one")
    secret_key: str | None = _setting(
        _key, None, "signs callback URLs; without it one is generated and stored in the database", secret=True
    )
    encryption_key: str | None = _setting(
        _text, None, "seals secrets; several keys are separated by commas: the first seals, all open", secret=True
    )
    encryption_key_file: str | None = _setting(_text, None, "a file with the encryption keys, one in each line")
    encryption_key_command: str | None = _setting(_text, None, "a command whose output is the encryption keys")
    secret_providers: tuple[str, ...] = _setting(
        _names, (), "where else secrets are: env:NAME, file:/run/secrets, vault:https://host/v1/kv/data/path"
    )
    egress_allow: tuple[str, ...] = _setting(
        _names,
        (),
        "hosts and networks that steps may call in addition to public ones, such as 10.0.0.0/8,db.internal:8080",
    )
    trusted_proxies: tuple[Network, ...] = _setting(
        _networks,
        (),
        "addresses or networks of reverse proxies, such as 10.0.0.0/8, whose X-Forwarded-For counts",
    )
    seal_runs: bool = _setting(
        _flag, False, "seal each run at its end, so that detent verify shows a changed journal; needs secret_key"
    )
    row_security: bool = _setting(
        _flag, False, "let PostgreSQL itself keep the tenants apart for commands, with row-level security"
    )
    blobs: str = _setting(
        _blobs, "database", "where bodies over 256 KB are stored: database, directory:/path, or s3://bucket/prefix"
    )
    max_blob: int = _setting(
        _whole(1024 * 1024, 5 * 1024 * 1024 * 1024),
        100 * 1024 * 1024,
        "the maximum number of bytes of a body or response that is stored as a blob",
    )
    blob_grace: int = _setting(
        _grace, 3600, "how long a blob that no run names is stored, in seconds or as 1h; at least 120 s"
    )
    audit_retention: int = _setting(_span, 400 * 86_400, "how long the audit is stored, in seconds or as 400d")
    allow_loose_auth: bool = _setting(
        _flag, False, "answer requests without a key, token or session, as a caller that may do everything"
    )
    own_rules_only: bool = _setting(
        _flag, False, "let callers without the role admin change only the rules that they created"
    )
    admin_key_file: str | None = _setting(
        _text, None, "where the first start of `serve` writes a key of the role instance-admin, if there is none yet"
    )
    jwt_secret: str | None = _setting(
        _secret, None, "verifies bearer tokens that are signed with HS256 and this secret", secret=True
    )
    jwt_jwks_url: str | None = _setting(
        _address, None, "the key set (JWKS) with which bearer tokens of the issuer are verified"
    )
    jwt_keys_file: str | None = _setting(_text, None, "a file with such a key set, instead of its address")
    jwt_issuer: str | None = _setting(_text, None, "the issuer (iss) that bearer tokens must have, letter by letter")
    jwt_audience: str | None = _setting(_text, None, "the audience (aud) that bearer tokens must be for")
    jwt_tenant_claim: str = _setting(_text, "tenant_id", "the claim of a bearer token with the name of its tenant")
    jwt_roles_claim: str = _setting(
        _text, "roles", "the claim of a bearer token with roles; dots lead into nested claims"
    )
    oidc_issuer: str | None = _setting(
        _address, None, "the OpenID Connect provider at which people sign in, such as https://login.example.org"
    )
    oidc_client_id: str | None = _setting(_text, None, "the id of this Detent at that provider")
    oidc_client_secret: str | None = _setting(
        _text, None, "the secret of this Detent at that provider; without it PKCE alone protects the login", secret=True
    )
    oidc_scopes: str = _setting(_text, "openid profile email", "what is asked of that provider")
    oidc_roles_claim: str = _setting(_text, "groups", "the claim of that provider with groups")
    oidc_roles: tuple[tuple[str, str], ...] = _setting(
        _pairs, (), "the roles of its groups, such as staff=operator,admins=admin; other groups have no role"
    )
    oidc_tenant_claim: str | None = _setting(
        _text, None, "the claim of that provider with the name of the tenant; without this setting it is oidc_tenant"
    )
    oidc_tenant: str = _setting(_text, "default", "the tenant of people who sign in at that provider")
    allow_draft_execution: bool = _setting(_flag, False, "allow runs of drafts, which are not published yet")
    max_parallel_steps: int = _setting(_whole(1, 100_000), 1_000, "attempts that one node makes at once")
    max_steps_per_workflow: int = _setting(_whole(1, 1_000_000), 1_000, "how many steps a definition may have")
    max_nesting_depth: int = _setting(_whole(1, 50), 5, "how many levels of child runs a run may have below it")
    context_max_bytes: int = _setting(
        _whole(1, 1024 * 1024 * 1024),
        10 * 1024 * 1024,
        "bytes of results that later nodes of a graph can read, unless its contextSnapshot says it",
    )
    context_overflow: str = _setting(
        _choice("fail", "prune_oldest", "drop_oversize"),
        "fail",
        "what a result above that does: fail, prune_oldest or drop_oversize",
    )
    context_mode: str = _setting(
        _choice("full", "summary"), "summary", "what include=context shows of the outputs of a graph: full or summary"
    )
    lease_seconds: float = _setting(_seconds(1, 3600), 10.0, "how long a silent node owns its runs")
    drain_seconds: float = _setting(_seconds(0, 3600), 25.0, "how long a stopping node waits for attempts in flight")
    poison_attempts: int = _setting(
        _whole(1, 1_000), 5, "crashes while an attempt of a suspect run is in flight after which its step is given up"
    )
    poison_delay: float = _setting(
        _seconds(0, 86_400), 300.0, "the longest delay before an attempt of a suspect run, in seconds; it begins at 1"
    )
    queues: tuple[str, ...] = _setting(_names, (), "the queues this node serves; all of them by default")
    imports: tuple[str, ...] = _setting(_names, (), "Python modules to load, which register actions")
    retention: tuple[tuple[str, int], ...] = _setting(
        _retention, (), "how long ended runs are stored, such as completed=30d,failed=90d; by default for ever"
    )
    step_logs: str = _setting(
        _choice("debug", "info", "warning", "error", "off"),
        "info",
        "the lowest level of the lines of steps that are stored: debug, info, warning, error or off",
    )
    step_log_retention: int = _setting(
        _span, 30 * 86_400, "how long the lines of steps are stored, in seconds or as 30d; never longer than their run"
    )
    dead_letter_retention: int = _setting(_span, 90 * 86_400, "how long dead letters are stored, in seconds or as 90d")
    alert_retention: int = _setting(_span, 90 * 86_400, "how long resolved alerts are stored, in seconds or as 90d")
    outbox_urls: tuple[str, ...] = _setting(
        _names,
        (),
        "databases of applications, such as sqlite:///shop.db, whose table detent_outbox has starts to fetch",
    )
    ca_file: str | None = _setting(_text, None, "certificates that HTTP steps trust in addition to the system's")
    log_format: str = _setting(_choice("auto", "console", "json"), "auto", "auto is console on a terminal, else json")
    clock_skew: float = _setting(_seconds(-86400, 86400), 0.0, "seconds added to this machine's clock, for tests")


#: Where this machine reaches a server that listens on all of its addresses.
_EVERY_HOST: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
#: Settings whose name in the environment and the file differs from the name of the field.
_SPELLED: Final = {"imports": "import"}
_FLAGS: Final = {"database_url": "database"}
FIELDS: Final = {_SPELLED.get(item.name, item.name): item for item in fields(Settings)}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, the source of each one that was given, and warnings about unknown names."""

    settings: Settings
    sources: Mapping[str, str]
    warnings: tuple[str, ...]


def load_settings(flags: Mapping[str, Any], *, environ: Mapping[str, str], folder: Path) -> Loaded:
    """Read all settings. Raise InvalidInput with all problems at once. A flag that is `None` was not given."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    problems: list[Problem] = []
    warnings: list[str] = []
    for source, given in _sources(flags, environ, folder, warnings):
        for name, value in given.items():
            item = FIELDS[name]
            shown = source.format(name=name.upper(), flag=_FLAGS.get(name, name.replace("_", "-")), key=name)
            try:
                values[item.name] = item.metadata["parse"](value)
                sources[item.name] = shown
            except ValueError as error:
                said = "" if item.metadata["secret"] else f" (it is {value!r})"
                problems.append(Problem(shown, f"{error}{said}"))
    if problems:
        raise InvalidInput("invalid settings", problems)
    return Loaded(Settings(**values), sources, tuple(warnings))


def _sources(
    flags: Mapping[str, Any], environ: Mapping[str, str], folder: Path, warnings: list[str]
) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield file, environment and flags: a later source overrides an earlier one."""
    file = folder / FILE
    if file.is_file():
        yield "{key} in " + FILE, _known(_read_file(file), f"{FILE} has", "{}", warnings)
    given = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and not name.startswith(_FOREIGN) and value.strip()
    }
    yield PREFIX + "{name}", _known(given, "the environment has", PREFIX + "{}", warnings, upper=True)
    yield "--{flag}", {name: value for name, value in flags.items() if value is not None}


def _known(
    given: Mapping[str, Any], where: str, spelling: str, warnings: list[str], *, upper: bool = False
) -> dict[str, Any]:
    for name in given:
        if name not in FIELDS:
            near = difflib.get_close_matches(name, FIELDS, n=1)
            spelled = [spelling.format(word.upper() if upper else word) for word in (name, *near)]
            hint = f"; did you mean {spelled[1]}?" if near else ""
            warnings.append(f"{where} {spelled[0]}, which is not a setting of Detent{hint}")
    return {name: value for name, value in given.items() if name in FIELDS}


def _read_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput("invalid settings", [Problem(FILE, f"cannot be read: {error}")]) from None


def url_of(address: tuple[str, int]) -> str:
    """Return the URL of an address, as a browser on this machine would write it."""
    host, port = address
    host = _EVERY_HOST.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
