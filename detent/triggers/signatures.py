"""Verify the signature of a webhook request over its received bytes. Pure.

preset     signed with HMAC                       header                                     same request twice
standard   id.timestamp.body, SHA-256, base64     webhook-signature: v1,... v1,...           webhook-id
github     body, SHA-256, hex                     x-hub-signature-256: sha256=...            x-github-delivery
stripe     timestamp.body, SHA-256, hex           stripe-signature: t=...,v1=...,v1=...      `id` in the body
hmac       body, as the config says               as the config says                         `dedup_header`

There may be two secrets while one replaces the other; a signature by either is valid. Digests are compared in constant
time, each with each, even after a match. The reason of a refusal reveals nothing about the secret.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from detent.errors import InvalidInput
from detent.forms.triggers import Encoding, Preset, standard_key
from detent.instant import SECOND, Instant, micros
from detent.values.json import decode_json
from detent.values.limits import ID_LIMIT

_MOST_SIGNATURES: Final = 20
_LONGEST_HEADER: Final = 8_192
_MOST_DIGITS: Final = 12
_NO_SIGNATURE: Final = "there is no signature"
#: The only reason that more bytes of the body can change.
WRONG: Final = "the signature does not match"
_MALFORMED: Final = "the signature cannot be read"


@dataclass(frozen=True, slots=True)
class Verified:
    """The sender has a secret.

    `request_id` is the same whenever it sends this request again; `None` if it sends none."""

    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class SignatureRefused:
    """The signature is missing or invalid, and why."""

    reason: str


class StreamedBody:
    """A body that is signed while it arrives: the digests of its bytes, never the bytes.

    Which digests are needed follows from the headers. `verify` asks for them once before the first byte, and is then
    refused, and again after the last one."""

    def __init__(self) -> None:
        self._macs: dict[tuple[bytes, str, bytes], hmac.HMAC] = {}

    def update(self, data: bytes) -> None:
        """Take the next bytes."""
        for mac in self._macs.values():
            mac.update(data)

    def mac(self, key: bytes, algorithm: str, prefix: bytes) -> bytes:
        """Return the digest of the prefix and the bytes so far."""
        found = self._macs.get((key, algorithm, prefix))
        if found is None:
            found = self._macs[key, algorithm, prefix] = hmac.new(key, prefix, algorithm)
        return found.digest()


_NOTHING_STORED: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class _Request:
    """What the presets read; names of headers are in lower case."""

    config: Mapping[str, Any]
    secrets: Sequence[str]
    headers: Mapping[str, str]
    body: bytes | StreamedBody
    now: Instant

    def header(self, name: str) -> str:
        value = self.headers.get(name, "")
        return value if len(value) <= _LONGEST_HEADER else ""


def stored_secrets(config: Mapping[str, Any]) -> list[str]:
    """Return the names of the stored secrets that a signature's config names."""
    return [one["secret"] for one in config["secrets"] if isinstance(one, Mapping) and "secret" in one]


def signature_secrets(
    config: Mapping[str, Any], environ: Mapping[str, str], stored: Mapping[str, str] = _NOTHING_STORED
) -> list[str]:
    """Return the secrets of a signature's config. One that is not set, in a variable or in the store, is left out."""
    found = []
    for one in config["secrets"]:
        if not isinstance(one, Mapping):
            found.append(one)
        else:
            found.append(stored.get(one["secret"], "") if "secret" in one else environ.get(one["env"], ""))
    return [secret for secret in found if secret]


def verify(
    config: Mapping[str, Any],
    secrets: Sequence[str],
    headers: Mapping[str, str],
    body: bytes | StreamedBody,
    now: Instant,
) -> Verified | SignatureRefused:
    """Return whether a request was signed with one of the secrets. Names of `headers` may be in any case."""
    if not secrets:
        return SignatureRefused("no secret is set for this webhook")
    lowered = {name.lower(): value for name, value in headers.items()}
    return _PRESETS[Preset(config["preset"])](_Request(config, secrets, lowered, body, now))


def request_id(headers: Mapping[str, str], dedup_header: str | None) -> str | None:
    """Return the value of the header that the trigger names as the id of a request, or `None`."""
    if dedup_header is None:
        return None
    lowered = {name.lower(): value for name, value in headers.items()}
    return _short(lowered.get(dedup_header.lower()))


def _standard(request: _Request) -> Verified | SignatureRefused:
    message_id, sent = request.header("webhook-id"), request.header("webhook-timestamp")
    if not message_id or not sent or not request.header("webhook-signature"):
        return SignatureRefused(_NO_SIGNATURE)
    # With a dot in the id, the same signed bytes could stand for another id and time.
    if "." in message_id or len(message_id) > ID_LIMIT or _short(message_id) is None:
        return SignatureRefused("webhook-id cannot be used")
    if late := _out_of_time(request, sent):
        return SignatureRefused(late)
    given = [text[3:] for text in request.header("webhook-signature").split() if text.startswith("v1,")]
    prefix = b"%b.%b." % (message_id.encode(), sent.encode())
    keys = [key for secret in request.secrets if (key := standard_key(secret)) is not None]
    return _compared(request.body, keys, "sha256", prefix, _decoded(given, Encoding.BASE64), message_id)


def _github(request: _Request) -> Verified | SignatureRefused:
    header = request.header("x-hub-signature-256")
    if not header:
        return SignatureRefused(_NO_SIGNATURE)
    given = [header.removeprefix("sha256=")] if header.startswith("sha256=") else []
    delivery = _short(request.headers.get("x-github-delivery"))
    return _compared(request.body, _keys(request), "sha256", b"", _decoded(given, Encoding.HEX), delivery)


def _stripe(request: _Request) -> Verified | SignatureRefused:
    header = request.header("stripe-signature")
    if not header:
        return SignatureRefused(_NO_SIGNATURE)
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    sent = next((value for name, value in parts if name == "t"), "")
    if late := _out_of_time(request, sent):
        return SignatureRefused(late)
    given = [value for name, value in parts if name == "v1"]
    prefix = sent.encode() + b"."
    answer = _compared(request.body, _keys(request), "sha256", prefix, _decoded(given, Encoding.HEX), None)
    return Verified(_event_id(request.body)) if isinstance(answer, Verified) else answer


def _hmac(request: _Request) -> Verified | SignatureRefused:
    config = request.config
    header, prefix = request.header(str(config["header"]).lower()), str(config["prefix"])
    if not header:
        return SignatureRefused(_NO_SIGNATURE)
    given = [header.removeprefix(prefix)] if header.startswith(prefix) else []
    digests = _decoded(given, Encoding(config["encoding"]))
    return _compared(request.body, _keys(request), str(config["algorithm"]), b"", digests, None)


def _keys(request: _Request) -> list[bytes]:
    # An environment variable may contain bytes that are not text.
    return [secret.encode(errors="surrogateescape") for secret in request.secrets]


def _compared(
    body: bytes | StreamedBody,
    keys: Sequence[bytes],
    algorithm: str,
    prefix: bytes,
    digests: Sequence[bytes],
    known_as: str | None,
) -> Verified | SignatureRefused:
    """Compare every key with every digest, so that the time does not reveal which one was close."""
    if not digests:
        return SignatureRefused(_MALFORMED)
    matched = False
    for key in keys:
        if isinstance(body, StreamedBody):
            expected = body.mac(key, algorithm, prefix)
        else:
            expected = hmac.digest(key, prefix + body, algorithm)
        for digest in digests:
            matched |= hmac.compare_digest(expected, digest)
    return Verified(known_as) if matched else SignatureRefused(WRONG)


def _decoded(texts: Iterable[str], encoding: Encoding) -> list[bytes]:
    """Return the digests of signatures. A text that is not a digest is left out."""
    decode: Callable[[str], bytes] = bytes.fromhex if encoding is Encoding.HEX else _from_base64
    found = []
    for text in list(texts)[:_MOST_SIGNATURES]:
        try:
            found.append(decode(text.strip()))
        except (ValueError, binascii.Error):
            continue
    return [digest for digest in found if digest]


def _from_base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _out_of_time(request: _Request, sent: str) -> str | None:
    """Return why the time of a signature is refused: it is not a time, or too far from now in either direction."""
    if not (sent.isascii() and sent.isdigit() and len(sent) <= _MOST_DIGITS):
        return "the signature has no time that can be read"
    apart = request.now - int(sent) * SECOND
    if abs(apart) <= micros(float(request.config["tolerance"])):
        return None
    return "the signature is too old" if apart > 0 else "the signature is from the future"


def _event_id(body: bytes | StreamedBody) -> str | None:
    if isinstance(body, StreamedBody):
        return None
    try:
        event = decode_json(body, len(body))
    except InvalidInput:
        return None
    return _short(event.get("id")) if isinstance(event, dict) else None


def _short(value: object) -> str | None:
    """Return an id of a sender, if it is printable text. A long id is replaced by its digest."""
    if not isinstance(value, str) or not value or not value.isprintable():
        return None
    return value if len(value) <= ID_LIMIT else f"sha256:{hashlib.sha256(value.encode()).hexdigest()}"


_PRESETS: Final[dict[Preset, Callable[[_Request], Verified | SignatureRefused]]] = {
    Preset.STANDARD: _standard,
    Preset.GITHUB: _github,
    Preset.STRIPE: _stripe,
    Preset.HMAC: _hmac,
}
