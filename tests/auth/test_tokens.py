"""Tokens are accepted with a key of ours, and no forged one is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from detent.auth.tokens import KeySet, TokenVerifier, read_keys, read_token, secret_key
from detent.errors import InvalidInput, Unauthenticated
from detent.instant import SECOND
from tests.auth.issuer import (
    AUDIENCE,
    ISSUER,
    SECRET,
    claims,
    ec_key,
    ed_key,
    forge,
    key_set,
    part,
    pem,
    public_jwk,
    rsa_key,
    sign,
)

NOW = 1_800_000_000
GOOD = claims(NOW)
PUBLIC = read_keys(
    key_set(public_jwk(rsa_key(), "r"), public_jwk(ec_key(), "e"), public_jwk(ed_key(), "d")),
    100_000,
)


def verifier(keys: KeySet | None = None) -> TokenVerifier:
    found = KeySet([secret_key(SECRET)]) if keys is None else keys
    return TokenVerifier(found, issuer=ISSUER, audience=AUDIENCE, now=lambda: NOW * SECOND)


async def test_a_token_of_every_kind_of_key_is_accepted() -> None:
    assert await verifier().verify(sign(GOOD)) == GOOD
    for key, algorithm, kid in ((rsa_key(), "RS256", "r"), (ec_key(), "ES256", "e"), (ed_key(), "EdDSA", "d")):
        assert await verifier(PUBLIC).verify(sign(GOOD, key, algorithm, kid=kid)) == GOOD
        assert await verifier(PUBLIC).verify(sign(GOOD, key, algorithm)) == GOOD, "the only key of its algorithm"


async def test_a_token_without_a_key_id_is_refused_if_several_keys_could_be_meant() -> None:
    keys = read_keys(key_set(public_jwk(rsa_key(), "a"), public_jwk(rsa_key(1), "b")), 100_000)
    assert await verifier(keys).verify(sign(GOOD, rsa_key(1), "RS256", kid="b"))
    with pytest.raises(Unauthenticated, match="not known here"):
        await verifier(keys).verify(sign(GOOD, rsa_key(), "RS256"))


@pytest.mark.case("K8")
@pytest.mark.parametrize("word", ["none", "None", "nOnE", "NONE", "", None, 0, ["HS256"], "HS384", "hs256"])
async def test_the_header_does_not_choose_the_algorithm(word: Any) -> None:
    for keys in (None, PUBLIC):
        for secret in (None, b"", SECRET.encode()):
            with pytest.raises(Unauthenticated, match="algorithm"):
                await verifier(keys).verify(forge({"alg": word, "typ": "JWT"}, GOOD, secret))
    with pytest.raises(Unauthenticated):
        await verifier().verify(f"{part({'alg': word})}.{part(GOOD)}.")


@pytest.mark.case("K8")
async def test_a_public_key_is_not_a_secret() -> None:
    for header in ({"alg": "HS256"}, {"alg": "HS256", "kid": "r"}):
        with pytest.raises(Unauthenticated, match="not known here"):
            await verifier(PUBLIC).verify(forge(header, GOOD, pem(rsa_key())))
    both = KeySet([secret_key(SECRET), *(key for kid in "red" if (key := _key(kid)))])
    with pytest.raises(Unauthenticated, match="signature"):
        await verifier(both).verify(forge({"alg": "HS256", "kid": "r"}, GOOD, pem(rsa_key())))


def _key(kid: str) -> Any:
    return PUBLIC.get(kid, {"r": "RS256", "e": "ES256", "d": "EdDSA"}[kid])


@pytest.mark.case("K8")
async def test_a_key_of_one_kind_verifies_no_token_of_another_kind() -> None:
    for key, algorithm, kid in (
        (rsa_key(), "RS256", "e"),
        (ec_key(), "ES256", "r"),
        (ed_key(), "EdDSA", "e"),
        (rsa_key(), "PS256", "r"),
        (rsa_key(), "RS512", "r"),
    ):
        with pytest.raises(Unauthenticated, match="not known here"):
            await verifier(PUBLIC).verify(sign(GOOD, key, algorithm, kid=kid))
    with pytest.raises(Unauthenticated, match="signature"):
        await verifier(PUBLIC).verify(sign(GOOD, rsa_key(1), "RS256", kid="r"))
    with pytest.raises(Unauthenticated, match="signature"):
        await verifier().verify(sign(GOOD, "another secret of more than 32 characters"))


@pytest.mark.case("K9")
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"iss": None}, "issuer"),
        ({"iss": "https://login.example.or"}, "issuer"),
        ({"iss": "https://login.example.org.evil.net"}, "issuer"),
        ({"iss": [ISSUER]}, "issuer"),
        ({"iss": "https://login.example.org/"}, "issuer"),
        ({"aud": None}, "audience"),
        ({"aud": "deten"}, "audience"),
        ({"aud": "detent2"}, "audience"),
        ({"aud": ["other", "not-detent"]}, "audience"),
        ({"aud": {"detent": 1}}, "audience"),
        ({"sub": None}, "subject"),
        ({"sub": ""}, "subject"),
        ({"sub": 7}, "subject"),
        ({"sub": "x" * 201}, "subject"),
        ({"exp": None}, "exp"),
        ({"exp": "1900000000"}, "exp"),
        ({"exp": True}, "exp"),
        ({"exp": NOW - 30}, "expired"),
        ({"nbf": NOW + 31}, "nbf"),
        ({"iat": NOW + 31}, "iat"),
        ({"iat": "now"}, "iat"),
    ],
)
async def test_claims_are_compared_exactly(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(Unauthenticated, match=message):
        await verifier().verify(sign_loosely(claims(NOW, **changed)))


def sign_loosely(payload: Any) -> str:
    """Sign what the library would refuse to sign."""
    return forge({"alg": "HS256", "typ": "JWT"}, payload, SECRET.encode())


async def test_clocks_may_differ_by_half_a_minute() -> None:
    assert await verifier().verify(sign(claims(NOW, exp=NOW - 29, nbf=NOW + 30, iat=NOW + 30)))
    assert await verifier().verify(sign(claims(NOW, aud=["other", AUDIENCE])))


@pytest.mark.case("K9")
@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"jku": "https://evil.net/keys"}, "jku"),
        ({"x5u": "https://evil.net/cert"}, "x5u"),
        ({"x5c": ["MIIB"]}, "x5c"),
        ({"jwk": {"kty": "oct", "k": "AAAA"}}, "jwk"),
        ({"crit": ["exp"]}, "crit"),
        ({"crit": []}, "crit"),
        ({"b64": False}, "b64"),
        ({"zip": "DEF"}, "zip"),
        ({"enc": "A256GCM"}, "enc"),
        ({"typ": "logout+jwt"}, "typ"),
        ({"typ": 1}, "typ"),
        ({"kid": "../../dev/null"}, "kid"),
        ({"kid": "/etc/../etc/hostname"}, "kid"),
        ({"kid": "x' union select 'secret"}, "kid"),
        ({"kid": "https://evil.net/keys"}, "kid"),
        ({"kid": "a\x00b"}, "kid"),
        ({"kid": "k" * 201}, "kid"),
        ({"kid": 1}, "kid"),
        ({"kid": ["r"]}, "kid"),
    ],
)
async def test_a_header_that_brings_its_own_rules_is_refused(header: dict[str, Any], message: str) -> None:
    with pytest.raises(Unauthenticated, match=message):
        await verifier().verify(forge({"alg": "HS256", "typ": "JWT", **header}, GOOD, SECRET.encode()))


@pytest.mark.case("K9")
async def test_claims_that_are_given_twice_are_refused() -> None:
    body = json.dumps(GOOD)
    twice = body[:-1] + ', "sub": "admin"}'
    escaped = body[:-1] + ', "s\\u0075b": "admin"}'
    for payload in (twice, escaped):
        with pytest.raises(Unauthenticated, match="given twice"):
            await verifier().verify(forge({"alg": "HS256"}, payload.encode(), SECRET.encode()))
    with pytest.raises(Unauthenticated, match="given twice"):
        await verifier().verify(forge(b'{"alg": "HS256", "alg": "none"}', GOOD, SECRET.encode()))


@pytest.mark.case("K9")
@pytest.mark.parametrize("size", [9_000, 100_000, 1_000_000])
def test_a_large_token_is_refused_before_it_is_decoded(size: int) -> None:
    with pytest.raises(Unauthenticated, match="at most 8192"):
        read_token(forge({"alg": "HS256"}, {**GOOD, "more": "x" * size}, SECRET.encode()))


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        "a.b",
        "a.b.c.d",
        "a.b.c.d.e",
        "a b.c.d",
        "é.b.c",
        f"{part([1])}.{part(GOOD)}.{part(b'x')}",
        f"{part({'alg': 'HS256'})}.{part([1])}.{part(b'x')}",
        f"{part({'alg': 'HS256'})}.{part(b'NaN')}.{part(b'x')}",
        f"{part({'alg': 'HS256'})}.{part(b'{' * 500)}.{part(b'x')}",
        f"{part({'alg': 'HS256'})}=.{part(GOOD)}.{part(b'x')}",
        f"{part({'alg': 'HS256'})}.A.{part(b'x')}",
    ],
)
async def test_what_is_not_a_token_is_refused(token: str) -> None:
    with pytest.raises(Unauthenticated, match="token"):
        await verifier().verify(token)


async def test_no_changed_character_of_a_token_goes_unnoticed() -> None:
    token = sign(claims(NOW, sub="U1"))
    for place in range(0, len(token), 7):
        changed = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        with pytest.raises(Unauthenticated):
            await verifier().verify(changed)
    bits = token[:-1] + chr(ord(token[-1]) + 1)  # the last character has bits that no byte uses
    with pytest.raises(Unauthenticated):
        await verifier().verify(bits)


def test_a_key_set_is_read_without_keys_that_prove_nothing() -> None:
    small = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    good = public_jwk(ec_key(), "e")
    keys = read_keys(
        key_set(
            good,
            {"kty": "oct", "k": "AAAA", "kid": "s"},
            {**public_jwk(rsa_key(), "p"), "d": "AQAB"},
            public_jwk(rsa_key(), "u", use="enc"),
            public_jwk(rsa_key(), "o", key_ops=["encrypt"]),
            public_jwk(rsa_key(), "h", alg="HS256"),
            public_jwk(ec_key(), "c", alg="RS256"),
            public_jwk(rsa_key(), "../x"),
            public_jwk(small, "small"),
            {"kty": "RSA", "n": "!!", "e": "AQAB", "kid": "n"},
            {"kty": "EC", "crv": "P-256", "x": good["x"], "kid": "half"},
            {"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA"},
            {},
        ),
        100_000,
    )
    assert len(keys) == 1
    named = read_keys(key_set(public_jwk(rsa_key(), "r", alg="PS256", use="sig", key_ops=["verify"])), 100_000)
    assert named.get("r", "PS256")
    assert named.get("r", "RS256") is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not valid JSON"),
        (b"<html>", "not valid JSON"),
        (b"[]", "must be a JSON object"),
        (b'{"keys": {}}', "must be a JSON object"),
        (b'{"keys": []}', "no public"),
        (b'{"keys": [], "keys": []}', "given twice"),
        (key_set(*[public_jwk(ed_key(), str(n)) for n in range(51)]), "51 keys; at most 50"),
    ],
)
def test_what_is_not_a_key_set_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_keys(data, 100_000)
