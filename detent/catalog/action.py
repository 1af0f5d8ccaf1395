"""The description of an action: what the catalog lists, publish checks and the page shows.

Python actions are described by their decorator and signature, data actions by their manifest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from detent.errors import InvalidInput

#: The schema of parameters or outputs of which nothing is known.
ANYTHING: Final[Mapping[str, Any]] = {}


class EffectKind(StrEnum):
    """What a repeated attempt does to the world."""

    UNKNOWN = "unknown"  # not declared: a repeated attempt may have its effect twice
    NONE = "none"  # it only reads
    IDEMPOTENT = "idempotent"  # the same parameters again change nothing more
    KEYED = "keyed"  # the receiver recognises the idempotency key, sent in a header or field
    PROBED = "probed"  # another action says whether the effect happened


class Effect(msgspec.Struct, frozen=True, omit_defaults=True):
    """The declared effect of an action. `key` is the header or field of a keyed one; `probe` is the id of the action
    that says whether a probed one happened."""

    kind: EffectKind = EffectKind.UNKNOWN
    key: str | None = None
    probe: str | None = None

    @property
    def is_repeatable(self) -> bool:
        """Return whether an attempt may be made again without a second effect."""
        return self.kind is not EffectKind.UNKNOWN


class ActionSource(StrEnum):
    """Where an action comes from."""

    PYTHON = "python"
    MANIFEST = "manifest"
    OPENAPI = "openapi"
    MCP = "mcp"


class ActionFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything that is known about one version of an action. `parameters` and `output` are JSON Schemas.

    `deprecation` has instructions for its users; an action without them is not deprecated.
    """

    id: str
    connector: str
    version: str = "1.0.0"
    title: str = ""
    description: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = ANYTHING
    output: Mapping[str, Any] = ANYTHING
    effect: Effect = Effect()
    deprecation: str | None = None
    source: ActionSource = ActionSource.PYTHON


_EFFECT: Final = re.compile(r"([a-z]+)(?:\(([^()\s]{1,128})\))?")
#: The effects that name something in parentheses, and what that is.
_NAMED: Final = {EffectKind.KEYED: "a header or field", EffectKind.PROBED: "an action"}


def read_effect(text: str) -> Effect:
    """Return the effect that a text declares: `none`, `idempotent`, `keyed(Idempotency-Key)`, `probed(shop.find)`.

    Raise InvalidInput for any other text."""
    found = _EFFECT.fullmatch(text.strip())
    if found is None or found[1] not in set(EffectKind):
        known = "none, idempotent, keyed(HEADER), probed(ACTION)"
        raise InvalidInput(f"{text[:160]!r} is not an effect; write one of {known}")
    kind, name = EffectKind(found[1]), found[2]
    wanted = _NAMED.get(kind)
    if (name is None) != (wanted is None):
        said = f"names {wanted}: write {kind}(NAME)" if wanted else f"names nothing: write {kind}"
        raise InvalidInput(f"{text[:160]!r} is not an effect; {kind} {said}")
    return Effect(
        kind, key=name if kind is EffectKind.KEYED else None, probe=name if kind is EffectKind.PROBED else None
    )


_VERSION: Final = re.compile(r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})")
_MAJOR: Final = re.compile(r".*-v([2-9]|[1-9]\d{1,8})")


def check_version(id_: str, version: str | None) -> str:
    """Return the version of an action: the one that is given, or the first of the major version that its id names.

    A breaking change is a new action: the id of a major version N above 1 ends in `-vN`. Raise InvalidInput if the id
    and the version do not fit, or if the version is not MAJOR.MINOR.PATCH."""
    named = _MAJOR.fullmatch(id_)
    if version is None:
        return f"{named[1]}.0.0" if named else "1.0.0"
    found = _VERSION.fullmatch(version)
    if found is None:
        raise InvalidInput(f"action {id_!r}: {version[:80]!r} is not a version; write MAJOR.MINOR.PATCH, such as 1.2.0")
    major = int(found[1])
    if major > 1 and (named is None or int(named[1]) != major):
        stem = id_.removesuffix(f"-v{named[1]}") if named else id_
        raise InvalidInput(f"action {id_!r} has version {version}: call it {f'{stem}-v{major}'!r}, beside the old one")
    if major <= 1 and named is not None:
        raise InvalidInput(f"action {id_!r} has version {version}: its id names the major version {named[1]}")
    return version
