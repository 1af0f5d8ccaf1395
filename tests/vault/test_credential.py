"""Credentials as people write them: kinds, parts, hosts, and every problem at once."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import InvalidInput
from detent.vault.credential import CredentialKind, check_name, read_spec
from detent.vault.hosts import HostRules, rule_problem

WORD = "correct-horse"
WHOLE: dict[str, dict[str, Any]] = {
    "token": {"token": WORD},
    "basic": {"username": "ann", "password": WORD},
    "header": {"header": "X-Key", "value": WORD},
    "api_key": {"name": "key", "in": "query", "key": WORD},
    "oauth2_client": {"token_url": "https://id.example/token", "client_id": "c", "client_secret": WORD},
    "oauth2_code": {
        "authorization_url": "https://id.example/authorize",
        "token_url": "https://id.example/token",
        "client_id": "c",
        "scopes": "read write",
        "parameters": {"access_type": "offline"},
    },
    "aws4": {"access_key_id": "AKIA", "secret_access_key": WORD, "service": "s3", "region": "eu-west-1"},
}


def client(**given: Any) -> dict[str, Any]:
    return {"kind": "oauth2_client", **WHOLE["oauth2_client"], **given}


def problems_of(document: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        read_spec(document)
    return {problem.field: problem.message for problem in caught.value.problems}


@pytest.mark.parametrize("kind", list(CredentialKind))
def test_a_kind_seals_its_secret_parts_and_shows_the_others(kind: CredentialKind) -> None:
    spec = read_spec({"kind": kind.value, "hosts": ["API.example.com"], **WHOLE[kind]})
    assert spec.kind is kind
    assert spec.hosts == ("api.example.com",)
    assert WORD not in repr(spec) + str(spec.config)
    assert set(spec.sealed.values()) <= {WORD}
    assert set(spec.config) | set(spec.sealed) >= {name for name in WHOLE[kind] if name != "in"}


@pytest.mark.parametrize("kind", list(CredentialKind))
def test_every_part_that_is_missing_is_named_at_once(kind: CredentialKind) -> None:
    needed = {name for name in WHOLE[kind] if name not in ("in", "scopes", "parameters")}
    assert set(problems_of({"kind": kind.value})) == needed


@pytest.mark.parametrize(
    ("document", "field", "words"),
    [
        ({}, "kind", "is missing"),
        ({"kind": "tokn"}, "kind", "did you mean 'token'?"),
        ({"kind": ["token"]}, "kind", "is not a kind"),
        ({"kind": "token", "token": WORD, "tokn": 1}, "tokn", "unknown field"),
        ({"kind": "token", "token": 7}, "token", "must be text"),
        ({"kind": "token", "token": "short"}, "token", "at least 8"),
        ({"kind": "token", "token": "x" * 20_000}, "token", "at most 16384"),
        ({"kind": "token", "token": "line\nbreak-in-it"}, "token", "control character"),
        ({"kind": "token", "token": WORD, "hosts": ["*.com"]}, "hosts", "every host of a whole domain"),
        ({"kind": "token", "token": WORD, "hosts": ["http://a.b"]}, "hosts", "is not a host"),
        ({"kind": "token", "token": WORD, "hosts": "a.b" * 200}, "hosts", "is not a host"),
        ({"kind": "token", "token": WORD, "hosts": [1]}, "hosts", "must be a list of hosts"),
        ({"kind": "token", "token": WORD, "hosts": ["a.b"] * 51}, "hosts", "at most 50"),
        ({"kind": "basic", "username": "a:b", "password": WORD}, "username", "colon"),
        ({"kind": "header", "header": "Host", "value": WORD}, "header", "cannot be the header"),
        ({"kind": "header", "header": "a b", "value": WORD}, "header", "cannot be the header"),
        ({"kind": "api_key", "name": "k", "in": "body", "key": WORD}, "in", "is not header or query"),
        (client(token_url="ftp://x"), "token_url", "https://"),
        (client(token_url="http://id.example/t"), "token_url", "https"),
        (client(token_url="https://u:p@id.example"), "token_url", "user"),
        (client(client_auth="jwt"), "client_auth", "is not one of"),
        (client(scopes=["a b"]), "scopes", "list of at most"),
        (client(parameters={"scope": "x"}), "parameters.scope", "by Detent"),
        (client(parameters={"a": 1}), "parameters.a", "must be a text"),
    ],
)
def test_a_wrong_part_is_named_without_its_value(document: dict[str, Any], field: str, words: str) -> None:
    found = problems_of(document)
    assert words in found[field]
    assert WORD not in str(found)


@pytest.mark.parametrize("name", ["", "1a", "a b", "ä", "a" * 65, "a/b"])
def test_a_name_must_be_plain(name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name"):
        check_name(name)


@pytest.mark.parametrize(
    ("rule", "host", "port", "allowed"),
    [
        ("api.example.com", "api.example.com", 443, True),
        ("api.example.com", "API.example.com.", 80, True),
        ("api.example.com", "api.example.com", 8443, False),
        ("api.example.com", "api.example.com.evil.org", 443, False),
        ("api.example.com", "notapi.example.com", 443, False),
        ("*.example.com", "a.b.example.com", 443, True),
        ("*.example.com", "example.com", 443, False),
        ("*.example.com", "evilexample.com", 443, False),
        ("127.0.0.1:8080", "127.0.0.1", 8080, True),
        ("127.0.0.1:8080", "127.0.0.1", 80, False),
        ("[::1]:9000", "::1", 9000, True),
    ],
)
def test_a_rule_covers_its_host_and_no_other(rule: str, host: str, port: int, allowed: bool) -> None:
    assert rule_problem(rule) is None
    assert HostRules([rule]).allow(host, port) is allowed


@pytest.mark.parametrize(
    "rule", ["", "*", "*.", "a..b", "-a.b", "a.b:0", "a.b:70000", "1.2.3", "*.1.2.3.4", "[1:2]", "a b"]
)
def test_a_text_that_is_not_a_rule_is_refused(rule: str) -> None:
    assert rule_problem(rule) is not None
