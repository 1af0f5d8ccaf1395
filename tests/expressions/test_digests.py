"""base64, digests, and ids that are the same at every attempt."""

import base64
import hashlib
import hmac
import uuid

import pytest

from detent.expressions import NOW, SEED, EvaluationError, ExpressionLimitExceeded, compile_expression, compile_template
from tests.expressions.scopes import value


@pytest.mark.parametrize("text", ["", "a", "ab", "abc", "größe 😀", "x" * 1_000])
def test_base64_is_read_back(text: str) -> None:
    scope = {"t": text, "safe": base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")}
    assert value("base64(t)", scope) == base64.b64encode(text.encode()).decode()
    assert value("base64Decode(base64(t))", scope) == text
    assert value("base64Decode(safe)", scope) == text


@pytest.mark.parametrize("text", ["*", "a", "/w==", "YQ==YQ==", "é"])
def test_what_is_not_base64_of_a_text_is_refused(text: str) -> None:
    with pytest.raises(EvaluationError, match="not base64 of a UTF-8 text"):
        value("base64Decode(t)", {"t": text})


@pytest.mark.parametrize("name", ["sha256", "sha512", "sha1", "md5"])
def test_a_hash_is_that_of_the_utf_8_text(name: str) -> None:
    digest = hashlib.new(name, "größe".encode(), usedforsecurity=False).digest()
    assert value(f"hash('größe', '{name}')") == digest.hex()
    assert value(f"hash('größe', '{name}', 'base64')") == base64.b64encode(digest).decode()


@pytest.mark.parametrize("name", ["sha256", "sha512", "sha1"])
def test_an_hmac_is_that_of_the_utf_8_text(name: str) -> None:
    digest = hmac.digest("schlüssel".encode(), "größe".encode(), name)
    assert value(f"hmac('größe', 'schlüssel', '{name}')") == digest.hex()
    assert value(f"'größe'.hmac('schlüssel', '{name}', 'base64')") == base64.b64encode(digest).decode()


def test_sha256_in_hex_is_the_default() -> None:
    assert value("hash('a')") == value("hash('a', 'sha256', 'hex')")
    assert value("hmac('a', 'k')") == value("hmac('a', 'k', 'sha256', 'hex')")
    assert value("hash(null)") is None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("hash('a', 'crc32')", "hash(): there is no algorithm 'crc32'; there is sha256, sha512, sha1, md5"),
        ("hmac('a', 'k', 'md5')", "hmac(): there is no algorithm 'md5'; there is sha256, sha512, sha1"),
        ("hash('a', 'sha256', 'binary')", "hash(): there is no encoding 'binary'; there is hex, base64"),
        ("hash(1)", "hash(): needs text, not a number"),
        ("hmac('a', null)", "hmac(): needs text, not null"),
        ("hash(half)", "half a surrogate pair"),
        ("uuid()", "uuid() is not known here"),
    ],
)
def test_an_error_of_a_digest_says_what_there_is(source: str, words: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        compile_expression(source).evaluate({"half": "\ud800"})
    assert words in raised.value.message


def test_base64_of_a_large_text_is_refused_before_it_is_built() -> None:
    with pytest.raises(ExpressionLimitExceeded, match="256 KB"):
        value("base64(t)", {"t": "a" * (200 * 1024)})


# Ids.


SCOPE = {SEED: b"run/step", NOW: 1, "items": [1, 2]}


def test_an_id_is_a_uuid_and_the_same_at_every_evaluation() -> None:
    first = compile_expression("uuid()").evaluate(SCOPE)
    parsed = uuid.UUID(str(first))
    assert (str(parsed), parsed.version, parsed.variant) == (first, 8, uuid.RFC_4122)
    assert compile_expression("uuid()").evaluate(dict(SCOPE)) == first
    assert compile_expression("uuid()").evaluate({**SCOPE, SEED: b"run/other"}) != first


def test_every_place_and_every_element_has_an_id_of_its_own() -> None:
    template = compile_template(
        {
            "a": "{{ uuid() }}",
            "b": "{{ uuid() }}",
            "c": ["{{ uuid() }}", "{{ uuid() }}-{{ uuid() }}", "{{ [uuid(), uuid()] }}"],
            "d": "{{ items.map(i => [uuid(), items.map(j => uuid())]) }}",
        }
    )
    rendered = template.render(SCOPE)
    found = [one for one in str(rendered).replace("-8", "|8").split("'") if "|" in one]
    assert len(found) == 2 + 1 + 1 + 2 + 2 + 4
    assert len(set(found)) == len(found)
    assert template.render(SCOPE) == rendered


def test_an_id_does_not_depend_on_what_stands_beside_it() -> None:
    alone = compile_template({"a": "{{ uuid() }}"}).render(SCOPE)
    beside = compile_template({"z": "{{ uuid() }}", "a": "{{ uuid() }}"}).render(SCOPE)
    assert isinstance(alone, dict)
    assert isinstance(beside, dict)
    assert alone["a"] == beside["a"]
