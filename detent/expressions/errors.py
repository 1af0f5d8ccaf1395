"""Everything that can go wrong with an expression.

ExpressionError
├── SyntaxProblem        the text is no expression, or too large to be one
└── EvaluationError      the expression is fine, this data is not
    ├── MissingValue     a path leads to nothing
    ├── TruncatedValue   a path leads into a response that was cut off
    ├── LimitExceeded    evaluation would take or build too much
    └── UnresolvedTemplate   a `{{ }}` inside a template failed
"""

Place = tuple[str | int, ...]


class ExpressionError(Exception):
    """`position` counts characters of the source; `at` is the place inside a templated JSON value."""

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
    """A path names something that is not there, or goes through null where that is refused."""


class TruncatedValue(EvaluationError):
    """A path leads into a response that was cut off; its content is unknown, so it has no default either."""

    def __init__(self, step: str, path: str, position: int | None = None) -> None:
        super().__init__(
            f"Cannot read '{path}' because the response from '{step}' exceeded the 256KB limit and was truncated",
            position,
        )


class LimitExceeded(EvaluationError):
    """The evaluation would take too long or build too large a value."""


class UnresolvedTemplate(EvaluationError):
    """A `{{ expression }}` of a template could not be resolved."""
