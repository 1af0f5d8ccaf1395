"""An issuer of tokens with its own keys, and forgeries that a library would refuse to make."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

ISSUER = "https://login.example.org"
AUDIENCE = "detent"
SECRET = "a shared secret of more than 32 characters"


@cache
def rsa_key(number: int = 0) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def ec_key(number: int = 0) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@cache
def ed_key(number: int = 0) -> ed25519.Ed25519PrivateKey:
    return ed25519.Ed25519PrivateKey.generate()


def public_jwk(key: PrivateKeyTypes, kid: str | None = None, **more: Any) -> dict[str, Any]:
    """Return the public part of a key as a member of a key set."""
    public: Any = key.public_key()
    if isinstance(key, rsa.RSAPrivateKey):
        document = RSAAlgorithm.to_jwk(public, as_dict=True)
    elif isinstance(key, ec.EllipticCurvePrivateKey):
        document = ECAlgorithm.to_jwk(public, as_dict=True)
    else:
        document = OKPAlgorithm.to_jwk(public, as_dict=True)
    document.pop("key_ops", None)
    return {**document, **({"kid": kid} if kid else {}), **more}


def key_set(*keys: dict[str, Any]) -> bytes:
    return json.dumps({"keys": keys}).encode()


def pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def claims(now: float, **changed: Any) -> dict[str, Any]:
    """Return good claims. `None` leaves one out."""
    good = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "U123",
        "tenant_id": "default",
        "exp": int(now) + 600,
        "iat": int(now),
        "scope": "workflows:read",
    }
    return {name: value for name, value in {**good, **changed}.items() if value is not None}


def sign(payload: dict[str, Any], key: Any = SECRET, algorithm: str = "HS256", **header: Any) -> str:
    return jwt.encode(payload, key, algorithm=algorithm, headers=header or None)


def part(value: Any) -> str:
    """Return one part of a token: JSON, or a text that is written as it is."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def forge(header: Any, payload: Any, secret: bytes | None = None) -> str:
    """Return a token with any header. With a secret it is signed with HMAC, else its signature is noise."""
    text = f"{part(header)}.{part(payload)}"
    signature = b"noise" if secret is None else hmac.digest(secret, text.encode(), hashlib.sha256)
    return f"{text}.{part(signature)}"
