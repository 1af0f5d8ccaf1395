"""The errors of expressions, and the budget of an evaluation.

ExpressionError
├── SyntaxProblem                the text is not a valid expression, or too large
└── EvaluationError              the expression is valid, but not for this data
    ├── MissingValue             a path leads to nothing
    ├── TruncatedValue           a path leads into a response that was cut off
    ├── ExpressionLimitExceeded  the evaluation would read or build too much
    └── UnresolvedTemplate       a `{{ }}` inside a template failed
"""

from typing import Any

from detent.values.limits import CHARACTERS_PER_WORK, SIZE_LIMIT, WORK_LIMIT

Place = tuple[str | int, ...]


class ExpressionError(Exception):
    """The base of all errors. `position` is the index in the source; `at` is the path inside a templated JSON value."""

    def __init__(self, message: str, position: int | None = None, at: Place = ()) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.at = at


class SyntaxProblem(ExpressionError):
    """The text is not an expression of this language."""


class EvaluationError(ExpressionError):
    """The expression cannot be evaluated with this data."""


class MissingValue(EvaluationError):
    """A path names something that does not exist, or goes through null where that is not allowed."""


class TruncatedValue(EvaluationError):
    """A path leads into a response that was cut off. Its content is unknown, so `??` does not apply either."""

    def __init__(self, step: str, path: str, position: int | None = None, reason: str | None = None) -> None:
        reason = reason or f"the response from '{step}' exceeded the 256KB limit and was truncated"
        super().__init__(f"Cannot read '{path}' because {reason}", position)


class ExpressionLimitExceeded(EvaluationError):
    """The evaluation would take too long or build too large a value."""


class UnresolvedTemplate(EvaluationError):
    """A `{{ expression }}` of a template could not be resolved."""


# How large an expression, its work and its results may be.
#
# Outside of arrows an expression takes at most one step for each of its nodes. The length of its source limits their
# number. But the data can be large. So reading large texts, arrays and objects is paid from a budget of work. Every
# value that an operation builds is measured before it is built. Each call of an arrow pays for the nodes of its body,
# and inside of it every text that a function or a comparison reads or returns is paid.


class Budget:
    """What one evaluation may still use: `work` (about one per element) and `size` (bytes of JSON in the result).

    It also has what one evaluation shares: `at` is the path of the template under evaluation, `frames` the index and
    the element of each arrow that is running (the outermost first), `automata` the compiled regular expressions.
    """

    # Class attributes instead of __init__: every evaluation creates a budget, and most never use it.
    work = WORK_LIMIT
    size = SIZE_LIMIT
    at: Place = ()
    frames: list[tuple[int, object]] | None = None
    automata: dict[tuple[str, str], Any] | None = None

    def spend(self, work: int) -> None:
        self.work -= work
        if self.work < 0:
            raise ExpressionLimitExceeded("the expression reads too much data")

    def spend_text(self, *texts: str) -> None:
        """Pay for one pass over each text."""
        for text in texts:
            self.spend(1 + len(text) // CHARACTERS_PER_WORK)

    def spend_long(self, value: object) -> None:
        """Pay for one pass over a value if it is a long text. Everything else is free."""
        if type(value) is str and len(value) >= CHARACTERS_PER_WORK:
            self.spend(len(value) // CHARACTERS_PER_WORK)

    def take(self, size: int) -> None:
        self.size -= size
        if self.size < 0:
            raise ExpressionLimitExceeded(f"the result is larger than {SIZE_LIMIT // 1024} KB")


def check_length(length: int) -> None:
    """Raise ExpressionLimitExceeded if a text of this length is too large to build."""
    if length > SIZE_LIMIT:
        raise ExpressionLimitExceeded(f"the text would be larger than {SIZE_LIMIT // 1024} KB")
