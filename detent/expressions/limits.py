"""How large an expression, its work and its results may be.

There are no loops, so an expression takes at most one step for each of its nodes, and its source bounds these. What
can be large is the data: reading through big text, arrays and objects is therefore paid from a budget of work, and
every value an operation builds is measured before it is built.
"""

from detent.expressions.errors import LimitExceeded

SOURCE_LIMIT = 4_096
NESTING_LIMIT = 64
SIZE_LIMIT = 256 * 1024
WORK_LIMIT = 200_000
CHARACTERS_PER_WORK = 32
SMALLEST_INTEGER = -(2**63)
LARGEST_INTEGER = 2**63 - 1


class Budget:
    """What one evaluation may still use: work (about one element read each) and size (bytes of JSON in its result)."""

    # Class attributes, not __init__: a budget is made for every evaluation and most never touch it.
    work = WORK_LIMIT
    size = SIZE_LIMIT

    def spend(self, work: int) -> None:
        self.work -= work
        if self.work < 0:
            raise LimitExceeded("the expression reads too much data")

    def spend_text(self, *texts: str) -> None:
        """Pay for one pass over each text."""
        for text in texts:
            self.spend(1 + len(text) // CHARACTERS_PER_WORK)

    def take(self, size: int) -> None:
        self.size -= size
        if self.size < 0:
            raise LimitExceeded(f"the result is larger than {SIZE_LIMIT // 1024} KB")


def check_length(length: int) -> None:
    """Refuse to build a text of so many characters."""
    if length > SIZE_LIMIT:
        raise LimitExceeded(f"the text would be larger than {SIZE_LIMIT // 1024} KB")
