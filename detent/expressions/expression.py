"""A compiled expression: the thing guards, edges and triggers keep and evaluate."""

from dataclasses import dataclass, field
from functools import lru_cache

from detent.expressions.compiler import Mode, build
from detent.expressions.errors import SyntaxProblem
from detent.expressions.lexer import tokenize
from detent.expressions.limits import SOURCE_LIMIT, Budget
from detent.expressions.nodes import Reference
from detent.expressions.parser import parse
from detent.expressions.paths import Evaluate, Scope
from detent.expressions.values import SCALARS, measured, truthy

CACHED_EXPRESSIONS = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """Evaluate it as often as you like: same scope, same answer, and only `ExpressionError` is ever raised."""

    source: str
    mode: Mode
    references: tuple[Reference, ...]
    run: Evaluate = field(repr=False)

    def evaluate(self, scope: Scope) -> object:
        """The JSON value of the expression."""
        budget = Budget()
        value = self.run(scope, budget)
        return value if type(value) in SCALARS else measured(value, budget)

    def test(self, scope: Scope) -> bool:
        """Whether the value counts as true."""
        value = self.run(scope, Budget())
        return value if type(value) is bool else truthy(value)


def compile_expression(source: str, mode: Mode = Mode.CONDITION) -> Expression:
    """The expression that `source` spells; SyntaxProblem if it spells none. The same source gives the same object."""
    if not isinstance(source, str):
        raise SyntaxProblem("an expression must be text", 0)
    if len(source) > SOURCE_LIMIT:
        raise SyntaxProblem(f"the expression is longer than {SOURCE_LIMIT} characters", 0)
    return _compiled(source, mode)


@lru_cache(maxsize=CACHED_EXPRESSIONS)
def _compiled(source: str, mode: Mode) -> Expression:
    node, references = parse(source, tokenize(source))
    return Expression(source, mode, references, build(node, mode))
