"""The order of steps: as they were written, those of the parent first, and each with an anchor beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from detent.expressions.nearest import nearest


class Anchor(NamedTuple):
    """Beside which step one stands, and on which side."""

    name: str
    is_before: bool


def ordered(names: Sequence[str], anchors: Mapping[str, Anchor]) -> tuple[list[str], list[tuple[str, str]]]:
    """The names in order, and (step, what is wrong with its anchor). Steps behind the same anchor keep the order in
    which they were written."""
    problems = [(name, _unknown(anchor, names)) for name, anchor in anchors.items() if anchor.name not in names]
    wrong = {name for name, _ in problems}
    order = [name for name in names if name not in anchors or name in wrong]
    waiting = [name for name in names if name in anchors and name not in wrong]
    behind: dict[str, int] = {}
    while waiting:
        placed = [name for name in waiting if anchors[name].name in order]
        if not placed:
            circle = ", ".join(map(repr, waiting))
            problems += [
                (name, f"its anchor {anchors[name].name!r} stands beside it in turn: {circle}") for name in waiting
            ]
            break
        name = placed[0]
        _place(order, name, anchors[name], behind)
        waiting.remove(name)
    return order, problems


def _place(order: list[str], name: str, anchor: Anchor, behind: dict[str, int]) -> None:
    place = order.index(anchor.name)
    if not anchor.is_before:
        place += 1 + behind.get(anchor.name, 0)
        behind[anchor.name] = behind.get(anchor.name, 0) + 1
    order.insert(place, name)


def _unknown(anchor: Anchor, names: Sequence[str]) -> str:
    side = "before_step" if anchor.is_before else "after_step"
    meant = nearest(anchor.name, names)
    hint = f"; did you mean {meant!r}?" if meant else f"; there are {', '.join(map(repr, names))}"
    return f"{side}: there is no step {anchor.name!r}{hint}"
