"""Verify JSON Web Tokens: structure first, then claims, then the signature with one of our keys.

The algorithm comes from our key, never from the header: a token finds a key only by its key id *and* the algorithm that
the key is for. So a public RSA key is never used as an HMAC secret, and `none` finds no key at all. What PyJWT would
have to guess (repeated names, `crit`, keys inside the header) is refused before PyJWT sees the token. PyJWT verifies
the signature only; claims are compared here, exactly, and with the clock of this process.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from detent.errors import InvalidInput, Unauthenticated
from detent.instant import SECOND, Instant
from detent.values.json import decode_json

LARGEST_TOKEN: Final = 8 * 1024
#: Seconds by which the clocks of issuer and node may differ.
LEEWAY: Final = 30
MOST_KEYS: Final = 50
SHORTEST_SECRET: Final = 32
_LONGEST_KID: Final = 200
#: Seconds: no time of a token is later than the year 5138.
_LATEST: Final = 1e11
_SMALLEST_RSA: Final = 2048
_SHAPE: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_KID: Final = re.compile(r"[A-Za-z0-9._~+/=:@-]+")
#: Names with which a header brings its own key, or wants rules that this verifier does not have.
_REFUSED: Final = ("jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc")
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})
_ALGORITHM_OF_CURVE: Final = {
    ("EC", "P-256"): "ES256",
    ("EC", "P-384"): "ES384",
    ("EC", "P-521"): "ES512",
    ("OKP", "Ed25519"): "EdDSA",
}
_RSA: Final = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_ALGORITHMS: Final = ("HS256", *sorted(_RSA), *sorted(set(_ALGORITHM_OF_CURVE.values())))
_SIGNATURES: Final = jwt.PyJWS(algorithms=_ALGORITHMS, options={"verify_signature": True})


@dataclass(frozen=True, slots=True)
class TokenKey:
    """A key of ours that verifies tokens, and the only algorithm that it is for."""

    kid: str | None
    algorithm: str
    key: Any


class KeySource(Protocol):
    """Where the keys are: a secret, a file or the address of the issuer."""

    async def find(self, kid: str | None, algorithm: str) -> TokenKey | None:
        """Return the key of that id for that algorithm, or `None`. Raise Unavailable if the keys cannot be read."""


class KeySet:
    """Keys by id and algorithm."""

    def __init__(self, keys: Iterable[TokenKey]) -> None:
        self._by_name: dict[tuple[str | None, str], TokenKey] = {}
        self._alone: dict[str, TokenKey | None] = {}
        for key in keys:
            self._by_name.setdefault((key.kid, key.algorithm), key)
            self._alone[key.algorithm] = None if key.algorithm in self._alone else key

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, kid: str | None, algorithm: str) -> TokenKey | None:
        """Return a key. A token without a key id finds the only key of its algorithm, and a key without an id is found
        by every token of its algorithm."""
        if kid is None:
            return self._alone.get(algorithm)
        return self._by_name.get((kid, algorithm)) or self._by_name.get((None, algorithm))

    async def find(self, kid: str | None, algorithm: str) -> TokenKey | None:
        return self.get(kid, algorithm)


def secret_key(secret: str) -> TokenKey:
    """Return the key of a shared secret, for HS256 only."""
    return TokenKey(None, "HS256", secret.encode())


def read_keys(data: bytes, limit: int) -> KeySet:
    """Read a JSON Web Key Set of public keys. A key that cannot verify signatures is left out.

    Raise InvalidInput if the document is not a key set, has too many keys, or has none that can be used."""
    document = decode_json(data, limit)
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, list):
        raise InvalidInput('a key set must be a JSON object such as {"keys": [...]}')
    if len(keys) > MOST_KEYS:
        raise InvalidInput(f"the key set has {len(keys)} keys; at most {MOST_KEYS} are allowed")
    found = KeySet(key for each in keys if (key := _read_key(each)) is not None)
    if not len(found):
        raise InvalidInput("the key set has no public RSA, EC or Ed25519 key for signatures")
    return found


def _read_key(document: Any) -> TokenKey | None:
    """Return one key of a set. A secret or private key is left out: what everyone can read proves nothing."""
    if not isinstance(document, dict) or "d" in document or "k" in document:
        return None
    operations, kid = document.get("key_ops"), document.get("kid")
    if document.get("use", "sig") != "sig" or (isinstance(operations, list) and "verify" not in operations):
        return None
    algorithm = _algorithm_of(document)
    if algorithm is None or not (kid is None or _is_kid(kid)):
        return None
    try:
        key = jwt.PyJWK(document, algorithm).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        return None
    if isinstance(key, RSAPublicKey) and key.key_size < _SMALLEST_RSA:
        return None
    return TokenKey(kid, algorithm, key)


def _algorithm_of(document: Mapping[str, Any]) -> str | None:
    """Return the algorithm that a key is for: the one it names if its type allows it, else the usual one."""
    kind, named = document.get("kty"), document.get("alg")
    if kind == "RSA":
        usual, allowed = "RS256", _RSA
    else:
        usual = _ALGORITHM_OF_CURVE.get((str(kind), str(document.get("crv"))), "")
        allowed = frozenset({usual} - {""})
    if named is None:
        return usual or None
    return named if isinstance(named, str) and named in allowed else None


def _is_kid(kid: Any) -> bool:
    """Return whether a key id is a plain name: not a path upwards, not an address, not a piece of a statement."""
    return (
        isinstance(kid, str)
        and len(kid) <= _LONGEST_KID
        and _KID.fullmatch(kid) is not None
        and ".." not in kid
        and "://" not in kid
    )


class TokenVerifier:
    """Verifies the tokens of one issuer for one audience."""

    def __init__(self, keys: KeySource, *, issuer: str, audience: str, now: Callable[[], Instant]) -> None:
        self._keys = keys
        self._issuer = issuer
        self._audience = audience
        self._now = now

    async def verify(self, token: str) -> dict[str, Any]:
        """Return the claims of a token. Raise Unauthenticated if it is not valid, and say why.

        Claims are compared before a key is looked for: a token of another issuer never causes a fetch of keys."""
        header, claims = read_token(token)
        self._check(claims)
        algorithm, kid = header["alg"], header.get("kid")
        key = await self._keys.find(kid, algorithm)
        if key is None:
            raise Unauthenticated(f"the token is signed with a key that is not known here (kid {kid!r}, {algorithm})")
        try:
            _SIGNATURES.decode(token, key.key, algorithms=[key.algorithm])
        except (jwt.PyJWTError, ValueError, TypeError):
            raise Unauthenticated("the signature of the token is not valid") from None
        return claims

    def _check(self, claims: Mapping[str, Any]) -> None:
        if claims.get("iss") != self._issuer:
            raise Unauthenticated("the token is of another issuer (iss)")
        audience = claims.get("aud")
        if self._audience not in (audience if isinstance(audience, list) else [audience]):
            raise Unauthenticated("the token is for another audience (aud)")
        subject = claims.get("sub")
        if not isinstance(subject, str) or not 0 < len(subject) <= 200:
            raise Unauthenticated("the token has no subject (sub) of 1 to 200 characters")
        now = self._now() / SECOND
        if _moment(claims, "exp", required=True) + LEEWAY <= now:
            raise Unauthenticated("the token has expired")
        for name in ("nbf", "iat"):
            if _moment(claims, name, required=False) - LEEWAY > now:
                raise Unauthenticated(f"the token is not valid yet ({name})")


def _moment(claims: Mapping[str, Any], name: str, *, required: bool) -> float:
    found = claims.get(name)
    if found is None and not required:
        return 0
    if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) < _LATEST:
        raise Unauthenticated(f"the token has no valid time {name}; it must be a number of seconds")
    return found


def read_token(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and claims of a token that nothing has verified yet. Raise Unauthenticated if it is not a token."""
    if len(token) > LARGEST_TOKEN:
        raise Unauthenticated(f"the token has {len(token)} characters; at most {LARGEST_TOKEN} are allowed")
    if not _SHAPE.fullmatch(token):
        raise Unauthenticated("the token is not a signed JSON Web Token: three parts in base64url with dots between")
    first, second, _ = token.split(".")
    header, claims = _part(first, "header"), _part(second, "payload")
    refused = next((name for name in _REFUSED if name in header), None)
    if refused is not None:
        raise Unauthenticated(f"the header of the token has {refused!r}, which is not accepted")
    if not isinstance(header.get("alg"), str) or header["alg"] not in _ALGORITHMS:
        raise Unauthenticated(f"the algorithm of the token is not accepted; accepted are {', '.join(_ALGORITHMS)}")
    kind = header.get("typ", "JWT")
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise Unauthenticated("the type of the token (typ) is not JWT")
    if header.get("kid") is not None and not _is_kid(header["kid"]):
        raise Unauthenticated("the key id of the token (kid) is not valid")
    return header, claims


def _part(text: str, name: str) -> dict[str, Any]:
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        found = decode_json(data, LARGEST_TOKEN)
    except (binascii.Error, InvalidInput) as error:
        raise Unauthenticated(f"the {name} of the token cannot be read: {error}"[:300]) from None
    if not isinstance(found, dict):
        raise Unauthenticated(f"the {name} of the token is not a JSON object")
    return found
