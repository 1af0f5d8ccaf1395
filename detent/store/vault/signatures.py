"""Texts that may have the signature secrets of webhooks in them: their rows, and the verbs of a store for them.

Definitions and triggers of older releases have these secrets as plain text. A node with an encryption key replaces
them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple, Protocol

#: What every such text has in it.
MARK: Final = "signature"


class TextKind(StrEnum):
    """Where a text is."""

    SOURCE = "source"  # of a version of a workflow
    FACTS = "facts"  # of a version of a workflow
    DRAFT = "draft"
    WORKFLOW = "workflow"  # the trigger of its current version
    TRIGGER = "trigger"  # its config


class SignedText(NamedTuple):
    """One text. `id` is that of its workflow or trigger, and `number` that of its version, else 0."""

    kind: TextKind
    tenant: int
    id: bytes
    number: int
    text: str


class SignatureStore(Protocol):
    """The verbs of these texts."""

    async def signed_texts(self, kind: TextKind, *, after: SignedText | None, limit: int) -> list[SignedText]:
        """Return texts of all tenants that have the mark in them, by id and number, those after another one."""

    async def replace_text(self, old: SignedText, text: str) -> bool:
        """Replace a text in its place. Return False if another text is there by now."""
