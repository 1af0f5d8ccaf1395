"""Who sent a request: vectors of the public specifications, and everything that may be wrong with a signature."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook

from detent.forms.triggers import read_trigger_config
from detent.instant import SECOND, Instant
from detent.triggers.signatures import SignatureRefused, Verified, request_id, signature_secrets, verify

pytestmark = pytest.mark.case("D8")

# The vector that the Standard Webhooks libraries test themselves with.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE = "msg_p5jXN8AQM9LWM0D4loKWxJek"
SENT = 1614265330
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
OTHER_SECRET = "whsec_" + base64.b64encode(b"another key of twenty-four").decode()
# The vector of GitHub's page about validating deliveries.
GITHUB_SECRET = "It's a Secret to Everybody"
GITHUB_BODY = b"Hello, World!"
GITHUB_SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
# Made with `openssl dgst -sha256 -hmac`, after Stripe's page about verifying manually.
STRIPE_SECRET = "whsec_test_secret"
STRIPE_SENT = 1492774577
STRIPE_BODY = b'{"id": "evt_1", "object": "event"}'
STRIPE_DIGEST = "09357d4fb8d9eba6f07fdea6b2428fa819063ec7bb7f9eca18b88cf0ff729476"


def config(**signature: Any) -> dict[str, Any]:
    return dict(read_trigger_config("webhook", {"signature": signature}).config["signature"])


def standard(
    headers: dict[str, str] | None = None,
    body: bytes = BODY,
    now: int = SENT,
    secrets: tuple[str, ...] = (SECRET,),
    **changed: str,
) -> Verified | SignatureRefused:
    """The vector, with some headers changed (`id="x"` is webhook-id: x)."""
    given = {"webhook-id": MESSAGE, "webhook-timestamp": str(SENT), "webhook-signature": SIGNATURE}
    given |= {f"webhook-{name}": value for name, value in changed.items()}
    wanted = config(preset="standard", secrets=list(secrets))
    return verify(wanted, signature_secrets(wanted, {}), given if headers is None else headers, body, now * SECOND)


def test_the_vector_of_standard_webhooks_is_verified() -> None:
    assert standard() == Verified(MESSAGE)


@given(st.text(st.characters(codec="utf-8"), max_size=200), st.binary(min_size=1, max_size=64), st.integers(0, 10**10))
def test_what_the_library_of_standard_webhooks_signs_is_verified(text: str, key: bytes, sent: int) -> None:
    secret = "whsec_" + base64.b64encode(key).decode()
    signed = Webhook(secret).sign("msg_1", datetime.fromtimestamp(sent, UTC), text)
    answer = standard(
        id="msg_1", timestamp=str(sent), signature=signed, body=text.encode(), now=sent, secrets=(secret,)
    )
    assert answer == Verified("msg_1")


@pytest.mark.parametrize("secret", [SECRET.removeprefix("whsec_"), SECRET + "\n", OTHER_SECRET.rstrip("=")])
def test_a_secret_is_taken_as_it_is_shown(secret: str) -> None:
    signed = Webhook(secret.strip()).sign(MESSAGE, datetime.fromtimestamp(SENT, UTC), BODY.decode())
    wanted = {"preset": "standard", "secrets": [secret], "tolerance": 300}
    headers = {"webhook-id": MESSAGE, "webhook-timestamp": str(SENT), "webhook-signature": signed}
    assert verify(wanted, [secret], headers, BODY, SENT * SECOND) == Verified(MESSAGE)


def test_names_of_headers_are_found_in_any_case() -> None:
    headers = {"Webhook-Id": MESSAGE, "WEBHOOK-TIMESTAMP": str(SENT), "webhook-Signature": SIGNATURE}
    assert standard(headers) == Verified(MESSAGE)


@pytest.mark.parametrize(
    "signature",
    [
        f"v1,{base64.b64encode(b'x' * 32).decode()} {SIGNATURE}",
        f"{SIGNATURE} v1,AAAA",
        f"v1a,{base64.b64encode(b'x' * 64).decode()} {SIGNATURE}",
        f"v1,not-base64! {SIGNATURE}",
    ],
)
def test_one_good_signature_of_several_is_enough(signature: str) -> None:
    assert standard(signature=signature) == Verified(MESSAGE)


def test_either_of_two_secrets_will_do() -> None:
    assert standard(secrets=(SECRET, OTHER_SECRET)) == Verified(MESSAGE)
    assert standard(secrets=(OTHER_SECRET, SECRET)) == Verified(MESSAGE)
    assert standard(secrets=(OTHER_SECRET,)) == SignatureRefused("the signature does not match")


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_request_without_one_of_its_headers_is_refused(missing: str) -> None:
    headers = {"webhook-id": MESSAGE, "webhook-timestamp": str(SENT), "webhook-signature": SIGNATURE}
    del headers[missing]
    assert standard(headers) == SignatureRefused("there is no signature")
    assert standard({**headers, missing: ""}) == SignatureRefused("there is no signature")


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(json.loads(BODY), separators=(",", ":")).encode(),
        BODY + b"\n",
        b"\xef\xbb\xbf" + BODY,
        b"",
        BODY.replace(b"2432232314", b"2432232315"),
    ],
)
def test_a_body_that_was_written_anew_is_refused(body: bytes) -> None:
    assert standard(body=body) == SignatureRefused("the signature does not match")


def test_a_body_need_not_be_text() -> None:
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    raw = bytes(range(256))
    digest = hmac.digest(key, f"{MESSAGE}.{SENT}.".encode() + raw, "sha256")
    assert standard(body=raw, signature=f"v1,{base64.b64encode(digest).decode()}") == Verified(MESSAGE)


@pytest.mark.parametrize(
    ("now", "answer"),
    [
        (SENT + 300, Verified(MESSAGE)),
        (SENT - 300, Verified(MESSAGE)),
        (SENT + 301, SignatureRefused("the signature is too old")),
        (SENT - 301, SignatureRefused("the signature is from the future")),
    ],
)
def test_a_signature_counts_for_five_minutes_both_ways(now: int, answer: Verified | SignatureRefused) -> None:
    assert standard(now=now) == answer


def test_a_tolerance_may_be_set() -> None:
    wanted = config(preset="standard", secrets=[SECRET], tolerance="10s")
    headers = {"webhook-id": MESSAGE, "webhook-timestamp": str(SENT), "webhook-signature": SIGNATURE}
    assert verify(wanted, [SECRET], headers, BODY, (SENT + 10) * SECOND) == Verified(MESSAGE)
    assert verify(wanted, [SECRET], headers, BODY, (SENT + 11) * SECOND) == SignatureRefused("the signature is too old")


@pytest.mark.parametrize("text", ["x", "1614265330.5", "-1", "٣", " 1614265330", "1e9", "9" * 5000, "+1614265330"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    assert standard(timestamp=text) == SignatureRefused("the signature has no time that can be read")


@pytest.mark.parametrize("message", ["a.b", ".", "x" * 256, "a\x00b", "a\tb"])
def test_an_id_that_could_be_read_in_two_ways_is_refused(message: str) -> None:
    assert standard(id=message) == SignatureRefused("webhook-id cannot be used")


def test_a_dot_cannot_move_from_the_body_into_the_id() -> None:
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = f"a.{SENT}.{SENT}.b".encode()
    signature = f"v1,{base64.b64encode(hmac.digest(key, signed, 'sha256')).decode()}"
    assert standard(id="a", signature=signature, body=f"{SENT}.b".encode()) == Verified("a")
    assert standard(id=f"a.{SENT}", signature=signature, body=b"b") == SignatureRefused("webhook-id cannot be used")


@pytest.mark.parametrize("signature", ["v1", "v1,", "v2,AAAA", "AAAA", ",", " ", "v1,ä", "v1,====", "v1a,AAAA"])
def test_a_signature_that_cannot_be_read_is_refused(signature: str) -> None:
    assert isinstance(standard(signature=signature), SignatureRefused)


def test_a_header_of_any_size_is_refused_at_once() -> None:
    assert standard(signature="v1,AAAA " * 100_000) == SignatureRefused("there is no signature")
    assert standard(signature="v1,AAAA " * 900 + SIGNATURE) == SignatureRefused("the signature does not match")


def github(
    body: bytes = GITHUB_BODY, secrets: tuple[str, ...] = (GITHUB_SECRET,), **headers: str
) -> Verified | SignatureRefused:
    given = {"x-hub-signature-256": GITHUB_SIGNATURE, **{name.replace("_", "-"): one for name, one in headers.items()}}
    return verify(config(preset="github", secrets=list(secrets)), secrets, given, body, 0)


def test_the_vector_of_github_is_verified() -> None:
    assert github() == Verified(None)
    assert github(x_github_delivery="72d3162e-cc78-11e3") == Verified("72d3162e-cc78-11e3")
    assert github(secrets=("old", GITHUB_SECRET)) == Verified(None)


@pytest.mark.parametrize("signature", [GITHUB_SIGNATURE.upper(), "sha1=" + "0" * 40, "sha256=", "sha256=zz", "x"])
def test_a_signature_that_is_not_githubs_is_refused(signature: str) -> None:
    assert github(x_hub_signature_256=signature) == SignatureRefused("the signature cannot be read")


def test_a_wrong_signature_of_github_is_refused() -> None:
    assert github(body=b"Hello, World") == SignatureRefused("the signature does not match")
    assert github(secrets=("x",)) == SignatureRefused("the signature does not match")
    assert github(x_hub_signature_256="sha256=" + "0" * 64) == SignatureRefused("the signature does not match")
    assert github(x_hub_signature_256="sha256=00") == SignatureRefused("the signature does not match")
    assert github(x_hub_signature_256="") == SignatureRefused("there is no signature")


def stripe(
    header: str, body: bytes = STRIPE_BODY, now: int = STRIPE_SENT, secret: str = STRIPE_SECRET
) -> Verified | SignatureRefused:
    wanted = config(preset="stripe", secrets=[secret])
    return verify(wanted, [secret], {"Stripe-Signature": header}, body, now * SECOND)


STRIPE = f"t={STRIPE_SENT},v1={STRIPE_DIGEST}"


@pytest.mark.parametrize(
    "header",
    [
        STRIPE,
        f"{STRIPE},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39",
        f"t={STRIPE_SENT},v1={'0' * 64},v1={STRIPE_DIGEST}",
        f"t={STRIPE_SENT}, v1={STRIPE_DIGEST}",
        f"v1={STRIPE_DIGEST},t={STRIPE_SENT}",
    ],
)
def test_a_signature_of_stripe_is_verified_and_known_by_its_event(header: str) -> None:
    assert stripe(header) == Verified("evt_1")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("", "there is no signature"),
        (f"v1={STRIPE_DIGEST}", "the signature has no time that can be read"),
        (f"t=,v1={STRIPE_DIGEST}", "the signature has no time that can be read"),
        (f"t={STRIPE_SENT}", "the signature cannot be read"),
        (f"t={STRIPE_SENT},v0={STRIPE_DIGEST}", "the signature cannot be read"),
        (f"t={STRIPE_SENT},v1={'0' * 64}", "the signature does not match"),
        (f"t={STRIPE_SENT + 1},v1={STRIPE_DIGEST}", "the signature does not match"),
        (f"t={STRIPE_SENT + 1},t={STRIPE_SENT},v1={STRIPE_DIGEST}", "the signature does not match"),
    ],
)
def test_a_wrong_signature_of_stripe_is_refused(header: str, reason: str) -> None:
    assert stripe(header) == SignatureRefused(reason)


def test_a_signature_of_stripe_counts_for_five_minutes_both_ways() -> None:
    assert stripe(STRIPE, now=STRIPE_SENT + 300) == Verified("evt_1")
    assert stripe(STRIPE, now=STRIPE_SENT + 301) == SignatureRefused("the signature is too old")
    assert stripe(STRIPE, now=STRIPE_SENT - 301) == SignatureRefused("the signature is from the future")


@pytest.mark.parametrize("body", [b"not json", b"[]", b'{"id": 5}', b'{"id": ""}', b"\xff", b"[" * 100_000, b""])
def test_a_body_of_stripe_without_an_id_is_known_by_none(body: bytes) -> None:
    digest = hmac.new(STRIPE_SECRET.encode(), f"{STRIPE_SENT}.".encode() + body, "sha256").hexdigest()
    assert stripe(f"t={STRIPE_SENT},v1={digest}", body) == Verified(None)


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"algorithm": "sha1"}, "2f3902cd1626fa7fdfb67e93109f50412ad71531"),
        ({"algorithm": "sha1", "prefix": "v0="}, "v0=2f3902cd1626fa7fdfb67e93109f50412ad71531"),
        ({"encoding": "base64"}, "XZi0XJCiB/qZjOY5/qbwLsyMw/Nv74HWlPuFa00KKMo="),
        (
            {"algorithm": "sha512", "encoding": "base64"},
            "GFvs7uZaXtfkP3zJhTC/qxsNAGeUiKRyJSVdBFlP1/F+1pCOegjfV6wUyeVsL974Pumtr53y/59hRliYxdeMAA==",
        ),
    ],
)
def test_a_plain_signature_is_verified_as_configured(fields: dict[str, str], value: str) -> None:
    wanted = config(preset="hmac", secrets=["old", "key"], header="X-Signature", **fields)
    keys = signature_secrets(wanted, {})
    assert verify(wanted, keys, {"x-signature": value}, b"payload", 0) == Verified(None)
    assert verify(wanted, keys, {"x-signature": value}, b"payload!", 0) == SignatureRefused(
        "the signature does not match"
    )
    assert verify(wanted, keys[:1], {"x-signature": value}, b"payload", 0) == SignatureRefused(
        "the signature does not match"
    )
    assert verify(wanted, keys, {"x-other": value}, b"payload", 0) == SignatureRefused("there is no signature")
    assert verify(wanted, keys, {"x-signature": f"?{value}"}, b"payload", 0) == SignatureRefused(
        "the signature cannot be read"
    )


def test_without_a_secret_everything_is_refused() -> None:
    wanted = config(preset="github", secrets=[{"env": "HOOK"}])
    signed = "sha256=" + hmac.new(b"", b"", "sha256").hexdigest()
    headers = {"x-hub-signature-256": signed}
    for environ in ({}, {"HOOK": ""}):
        secrets = signature_secrets(wanted, environ)
        assert verify(wanted, secrets, headers, b"", 0) == SignatureRefused("no secret is set for this webhook")


def test_a_secret_may_stand_in_a_variable() -> None:
    wanted = config(preset="github", secrets=[{"env": "NEW"}, "old"])
    assert signature_secrets(wanted, {"NEW": "new"}) == ["new", "old"]
    assert signature_secrets(wanted, {}) == ["old"]


def test_a_variable_that_is_no_text_is_a_secret_too() -> None:
    secret = b"\xff\xfe".decode(errors="surrogateescape")
    signed = "sha256=" + hmac.new(b"\xff\xfe", b"x", "sha256").hexdigest()
    wanted = config(preset="github", secrets=[{"env": "S"}])
    assert verify(wanted, [secret], {"x-hub-signature-256": signed}, b"x", 0) == Verified(None)


def test_a_variable_with_a_secret_that_is_none_refuses_everything() -> None:
    wanted = config(preset="standard", secrets=[{"env": "S"}])
    headers = {"webhook-id": MESSAGE, "webhook-timestamp": str(SENT), "webhook-signature": SIGNATURE}
    assert verify(wanted, ["no base64!"], headers, BODY, SENT * SECOND) == SignatureRefused(
        "the signature does not match"
    )


@pytest.mark.parametrize(
    ("headers", "name", "found"),
    [
        ({"X-Id": "7"}, "x-id", "7"),
        ({"x-id": "7"}, "X-Id", "7"),
        ({"x-id": ""}, "x-id", None),
        ({}, "x-id", None),
        ({"x-id": "7"}, None, None),
        ({"x-id": "y" * 255}, "x-id", "y" * 255),
        ({"x-id": "y" * 256}, "x-id", f"sha256:{hashlib.sha256(b'y' * 256).hexdigest()}"),
    ],
)
def test_a_request_is_known_by_the_header_the_trigger_names(
    headers: dict[str, str], name: str | None, found: str | None
) -> None:
    assert request_id(headers, name) == found


@given(
    st.sampled_from(["standard", "github", "stripe", "hmac"]),
    st.dictionaries(
        st.sampled_from(
            ["webhook-id", "webhook-timestamp", "webhook-signature", "x-hub-signature-256", "stripe-signature", "x-s"]
        ),
        st.text(max_size=60) | st.sampled_from(["v1,", "t=1,v1=", "sha256=", str(SENT)]),
    ),
    st.binary(max_size=60),
    st.integers(-(2**62), 2**62),
)
def test_no_request_of_a_stranger_is_believed_or_an_error(
    preset: str, headers: dict[str, str], body: bytes, now: Instant
) -> None:
    extra = {"header": "X-S"} if preset == "hmac" else {}
    wanted = config(preset=preset, secrets=[SECRET], **extra)
    assert isinstance(verify(wanted, [SECRET], headers, body, now), SignatureRefused)
