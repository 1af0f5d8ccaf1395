"""Boxes open with their own label and key, and with no other."""

from __future__ import annotations

import pytest

from detent.errors import CannotOpen, InvalidInput, NoEncryptionKey
from detent.vault.sealing import Label, Vault, new_key, read_key

FIRST, SECOND = read_key(new_key()), read_key(new_key())
LABEL = Label(1, "secret", "stripe", 1)
VALUE = b"sk_live_0123456789"


def test_a_box_opens_with_its_label_and_does_not_hold_the_value() -> None:
    vault = Vault([FIRST])
    box = vault.seal(LABEL, VALUE)
    assert VALUE not in box
    assert vault.open(LABEL, box) == VALUE
    assert vault.seal(LABEL, VALUE) != box


@pytest.mark.parametrize(
    "label",
    [
        LABEL._replace(tenant=2),
        LABEL._replace(kind="credential"),
        LABEL._replace(name="stripe2"),
        LABEL._replace(version=2),
        Label(1, "secret", "strip", 1),
    ],
)
def test_a_box_that_was_copied_elsewhere_does_not_open(label: Label) -> None:
    vault = Vault([FIRST])
    with pytest.raises(CannotOpen, match="was changed"):
        vault.open(label, vault.seal(LABEL, VALUE))


def test_no_changed_byte_of_a_box_goes_unnoticed() -> None:
    vault = Vault([FIRST])
    box = vault.seal(LABEL, VALUE)
    for index in range(len(box)):
        changed = box[:index] + bytes([box[index] ^ 1]) + box[index + 1 :]
        with pytest.raises(CannotOpen):
            vault.open(LABEL, changed)
    for length in range(len(box)):
        with pytest.raises(CannotOpen):
            vault.open(LABEL, box[:length])


def test_the_first_key_seals_and_every_key_opens() -> None:
    old = Vault([FIRST]).seal(LABEL, VALUE)
    both = Vault([SECOND, FIRST])
    assert both.open(LABEL, old) == VALUE
    assert not both.is_current(old)
    new = both.seal(LABEL, VALUE)
    assert both.is_current(new)
    with pytest.raises(CannotOpen, match="which this node does not have"):
        Vault([FIRST]).open(LABEL, new)


def test_without_a_key_nothing_is_sealed_or_opened() -> None:
    box = Vault([FIRST]).seal(LABEL, VALUE)
    empty = Vault([])
    assert not empty.is_ready
    with pytest.raises(NoEncryptionKey, match=r"DETENT_ENCRYPTION_KEY.*every node.*--url"):
        empty.seal(LABEL, VALUE)
    with pytest.raises(NoEncryptionKey, match="DETENT_ENCRYPTION_KEY"):
        empty.open(LABEL, box)


def test_keys_are_read_in_base64_and_hex() -> None:
    key = bytes(range(224, 256))
    assert read_key(key.hex()) == key
    assert read_key("4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v8") == key
    assert read_key(" 4OHi4+Tl5ufo6err7O3u7/Dx8vP09fb3+Pn6+/z9/v8=\n") == key


@pytest.mark.parametrize("text", ["", "short", "!" * 43, "0" * 63, "x" * 42, "x" * 45])
def test_other_texts_are_not_keys(text: str) -> None:
    with pytest.raises(InvalidInput, match="32 bytes"):
        read_key(text)
