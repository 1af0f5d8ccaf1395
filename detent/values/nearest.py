"""Did you mean: find the known name that is most similar to an unknown one."""

from collections.abc import Iterable
from itertools import islice

MOST_NAMES = 1_000
LONGEST_NAME = 64
#: Fewer letters begin too many names to be the beginning of the one that is meant.
SHORTEST_BEGINNING = 4


def nearest(name: str, known: Iterable[str], within: int = 3) -> str | None:
    """Return the known name that a person most likely meant, or `None`: the one with the fewest edits, at most
    `within`, else the only one that begins with the name.

    In a tie the first one wins."""
    wanted = _folded(name)
    best: str | None = None
    allowed = min(within, max(1, len(wanted) // 3))
    if len(name) > LONGEST_NAME:
        return None
    candidates = list(islice(known, MOST_NAMES))
    for candidate in candidates:
        distance = _distance(wanted, _folded(candidate), allowed)
        if distance is not None:
            best, allowed = candidate, distance - 1
        if allowed < 0:
            break
    if best is None and len(wanted) >= SHORTEST_BEGINNING:
        longer = [candidate for candidate in candidates if _folded(candidate).startswith(wanted)]
        return longer[0] if len(longer) == 1 else None
    return best


def _folded(name: str) -> str:
    """Return the name in a form in which `orderId`, `order_id` and `Order-ID` are equal."""
    return name[: LONGEST_NAME + 3].lower().replace("_", "").replace("-", "")


def _distance(left: str, right: str, allowed: int) -> int | None:
    """Return how many edits (insert, delete, replace, swap of neighbours) lead from left to right.

    Return `None` if there are more than `allowed`. Only the band of cells within `allowed` of the diagonal is computed:
    names of untrusted data may be long.
    """
    if abs(len(left) - len(right)) > allowed:
        return None
    far = allowed + 1
    before: list[int] = []
    row = [min(column, far) for column in range(len(right) + 1)]
    for index, letter in enumerate(left, 1):
        earlier, before, row = before, row, [far] * (len(right) + 1)
        if index <= allowed:
            row[0] = index
        for column in range(max(1, index - allowed), min(len(right), index + allowed) + 1):
            other = right[column - 1]
            cell = min(before[column] + 1, row[column - 1] + 1, before[column - 1] + (letter != other))
            if earlier and column > 1 and letter == right[column - 2] and left[index - 2] == other:
                cell = min(cell, earlier[column - 2] + 1)
            row[column] = cell
        if min(row) > allowed:
            return None
    return row[-1] if row[-1] <= allowed else None
