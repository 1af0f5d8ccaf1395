"""Functions that turn texts into other texts: `base64 base64Decode hash hmac uuid`, and `matches`, of revision 2.

Revision 4 adds `basic`, for HTTP.

`sha1` and `md5` are here because services still ask for them as checksums and signatures. They protect nothing.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Final

from detent.expressions import regex
from detent.expressions.arguments import Function, need_choice, need_text
from detent.expressions.errors import Budget, EvaluationError, Place, check_length
from detent.expressions.values import utf8_length

#: The key of the scope with the bytes that uuid() derives its ids from. No name of the language has a parenthesis.
SEED: Final = "uuid()"

_HASHES: Final = ("sha256", "sha512", "sha1", "md5")
_HMACS: Final = ("sha256", "sha512", "sha1")
_SPELLINGS: Final = ("hex", "base64")
_DIGEST_WORK: Final = 4


def _bytes(value: object, budget: Budget) -> bytes:
    text = need_text(value)
    utf8_length(text)  # refuses half a surrogate pair
    budget.spend_text(text, text)
    return text.encode()


def _spelled(digest: bytes, encoding: object) -> str:
    if need_choice(encoding, _SPELLINGS, "encoding") == "hex":
        return digest.hex()
    return base64.b64encode(digest).decode()


def _base64(budget: Budget, value: object) -> str:
    data = _bytes(value, budget)
    check_length((len(data) + 2) // 3 * 4)
    return base64.b64encode(data).decode()


def _basic(budget: Budget, user: object, password: object) -> str:
    name = need_text(user)
    if ":" in name:
        raise EvaluationError("the user must not have a colon in it")
    return "Basic " + _base64(budget, f"{name}:{need_text(password)}")


def _base64_decode(budget: Budget, value: object) -> str:
    data = _bytes(value, budget).rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    try:
        return base64.b64decode(data + b"=" * (-len(data) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise EvaluationError("the text is not base64 of a UTF-8 text") from None


def _hash(budget: Budget, value: object, algorithm: object = "sha256", encoding: object = "hex") -> str:
    name = need_choice(algorithm, _HASHES, "algorithm")
    budget.spend(_DIGEST_WORK)
    return _spelled(hashlib.new(name, _bytes(value, budget), usedforsecurity=False).digest(), encoding)


def _hmac(budget: Budget, value: object, key: object, algorithm: object = "sha256", encoding: object = "hex") -> str:
    name = need_choice(algorithm, _HMACS, "algorithm")
    budget.spend(_DIGEST_WORK)
    return _spelled(hmac.digest(_bytes(key, budget), _bytes(value, budget), name), encoding)


def _uuid(known: object, place: tuple[Place, int, tuple[int, ...]]) -> str:
    """Return a UUID of version 8 (RFC 9562): 122 bits of the SHA-256 of the seed and the place of the call."""
    assert isinstance(known, bytes)
    digest = bytearray(hashlib.sha256(b"%b\0%b" % (known, json.dumps(place).encode())).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _matches(budget: Budget, text: object, pattern: object, flags: object = "") -> bool:
    return regex.matches(budget, need_text(text), need_text(pattern), need_text(flags))


def _check_pattern(text: object, pattern: object, flags: object = "") -> None:
    """Compile a pattern that is written in the expression, so that its mistakes are found with the definition."""
    if isinstance(pattern, str) and isinstance(flags, str):
        regex.compile_pattern(pattern, flags)


DIGEST_FUNCTIONS: Mapping[str, Function] = {
    "matches": Function(
        _matches,
        2,
        3,
        "whether a part of a text matches a regular expression; 'i' ignores case",
        of_null=False,
        language=2,
        check=_check_pattern,
    ),
    "base64": Function(_base64, 1, 1, "the UTF-8 text in base64", language=2),
    "basic": Function(_basic, 2, 2, "the value of an Authorization header for a user and a password", language=4),
    "base64Decode": Function(_base64_decode, 1, 1, "the text that base64 spells, also the kind for URLs", language=2),
    "hash": Function(_hash, 1, 3, "the digest of a text: sha256, sha512, sha1 or md5, in hex or base64", language=2),
    "hmac": Function(
        _hmac, 2, 4, "the signature of a text with a key: sha256, sha512 or sha1, in hex or base64", language=2
    ),
    "uuid": Function(
        _uuid,
        0,
        0,
        "an id of this place in this step of this run; the same at every attempt",
        context=SEED,
        language=2,
    ),
}
