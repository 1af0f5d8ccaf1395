"""A workflow class as what is stored of it: a graph like that of every form, and a document for people."""

from __future__ import annotations

import json
from typing import Any, Final

from detent.authoring.compiled import Compiled
from detent.python.chain import Chain, described
from detent.python.definitions import Definitions
from detent.python.registry import CodeKind, Registered, code_name
from detent.python.settings import Drift
from detent.run.plain_text import plain_text

FORM: Final = "python"
_LONGEST_DESCRIPTION: Final = 10_000


def registered(chain: Chain, definitions: Definitions) -> Registered:
    """The class as the registry has it."""
    settings, target = chain.settings, chain.target
    place = f"{target.__module__}:{target.__qualname__}"
    description = _description(target)
    pinned = chain.fingerprint if settings.drift is Drift.PIN else None
    compiled = Compiled(
        name=settings.name,
        form=FORM,
        graph=chain.graph,
        description=description,
        code=(code_name(settings.name, pinned),),
        queue=settings.queue,
        priority=settings.priority,
    )
    document: dict[str, Any] = {"form": FORM, "name": settings.name, "class": place}
    if description is not None:
        document["description"] = description
    document |= {**described(settings, definitions), "fingerprint": chain.fingerprint}
    source = json.dumps(document, ensure_ascii=False)
    return Registered(settings.name, CodeKind.CHAIN, target, compiled, source, chain.fingerprint, place)


def _description(target: type[Any]) -> str | None:
    """The docstring of the class itself."""
    text = (vars(target).get("__doc__") or "").strip()
    return plain_text(" ".join(text.split()), _LONGEST_DESCRIPTION) or None
