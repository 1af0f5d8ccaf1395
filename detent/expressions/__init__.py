"""One closed expression language for guards, edge conditions, trigger conditions and `{{ }}` templates.

    tasks.charge.status_code == 200 && tasks.charge.body.items.length > 0
    "Order {{ trigger.body.order_id }}: {{ tasks.charge.body.note ?? 'no note' }}"

It looks like JavaScript but is not JavaScript: no statements, no assignments, no objects of the host. It has:

- null, true, false, numbers, 'text' or "text", [arrays], {objects}; paths `a.b`, `a['b']`, `a[0]`, `a[expression]`,
  `a.length`; names may contain `-` and `$`, so a minus between names needs blanks;
- `?:  ||  &&  ??  == != === !==  < <= > >= in  + -  * / %  ! -`, tightest last, and the functions of FUNCTIONS.

Its rules:

- `==` is `===`: same type and value, deeply; `1 == 1.0`, but `1 != true` and `1 != '1'`.
- `< <= > >=` compare numbers, or texts by code point; with null they are false, with anything else an error.
- `&&`, `||` return one of their operands, as in JavaScript. null, false, 0, '' count as false. Everything else counts
  as true, also empty arrays and objects.
- `x in y`: an element of an array, a key of an object, a part of a text; nothing is in null.
- `+` adds numbers or joins texts; a number or boolean beside a text is written out, null is refused. Results beyond
  64 bits, infinite ones and divisions by zero are errors.
- These are errors, which name the key: a key that an existing object does not have, an index out of range, a key of a
  text or a number. A path through null is null in a condition (Mode.CONDITION) and an error in a template
  (Mode.TEMPLATE). On the left of `??` all of these return null. A truncated response is always an error.

Revision 2 of the language adds to this:

    items.filter(i => i.qty > 0).map(i => i.sku)        addDays(now(), 14).format('yyyy-MM-dd', 'Europe/Zurich')

- Arrows with one parameter, as the second argument of `map filter find any all sortBy groupBy`. An arrow is not a
  value: it cannot be stored, returned or passed on, so there is no recursion. Its parameter hides other names. `??`
  around a call does not reach into its arrow.
- Functions of lists and objects (`lists`), dates (`dates`), digests and regular expressions (`digests`, `regex`).
- `now()` and `uuid()` read the scope under the keys NOW and SEED, which are not names of the language. NOW has an
  instant, SEED bytes: those of the run and the step. An id is derived from SEED, from the place of the call in the
  definition, and from the indexes of the arrows around it. So it is the same at every attempt.

Revision 3 adds `fromEntries`, which builds an object of keys and values.

Revision 4 adds secrets, and `basic`:

    "Bearer {{ secrets.STRIPE_KEY }}"        {{ basic('detent', secrets.DB_PASSWORD) }}

- `secrets.NAME` is a value of its own type that only the executor of a step opens (`sealed`). It can be sent, alone or
  inside a text, chosen by `?:`, put into an array or an object, and passed to `base64 basic hmac json urlEncode`.
  Everything else refuses it when the expression is compiled, and so does every condition.

It stays total. The source limits how many nodes there are. Each call of an arrow pays for the nodes of its body, so
nested arrows share the one budget of the evaluation. What builds an array, an object or a text pays for it before it
is built.

A definition stores the revision that its expressions need, and is read with it. What revision 1 can read means the same
in revision 2.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from detent.expressions.cache import keep_compiled, kept
from detent.expressions.compiler import Mode, build
from detent.expressions.dates import NOW, iso_text
from detent.expressions.digests import SEED
from detent.expressions.errors import (
    Budget,
    EvaluationError,
    ExpressionError,
    ExpressionLimitExceeded,
    MissingValue,
    SyntaxProblem,
    TruncatedValue,
    UnresolvedTemplate,
)
from detent.expressions.functions import FUNCTIONS
from detent.expressions.lexer import tokenize
from detent.expressions.parser import LANGUAGE, Reference, parse
from detent.expressions.paths import Evaluate, Key, Reading, Scope, follow
from detent.expressions.sealed import SECRETS, SECRETS_LANGUAGE, Sealed, is_secret_name, masked, sealed_names
from detent.expressions.template import (
    ResolvedHole,
    Template,
    compile_template,
    examine_template,
    language_of_text,
    resolve_holes,
    template_problems,
    unsealed,
)
from detent.expressions.values import SCALARS, Deferred, Headers, Truncated, measured, truthy
from detent.values.limits import SOURCE_LIMIT

__all__ = [
    "FUNCTIONS",
    "LANGUAGE",
    "NOW",
    "SECRETS",
    "SECRETS_LANGUAGE",
    "SEED",
    "Deferred",
    "EvaluationError",
    "Expression",
    "ExpressionError",
    "Headers",
    "ExpressionLimitExceeded",
    "MissingValue",
    "Mode",
    "Reference",
    "ResolvedHole",
    "Scope",
    "Sealed",
    "SyntaxProblem",
    "Template",
    "Truncated",
    "TruncatedValue",
    "UnresolvedTemplate",
    "compile_expression",
    "compile_template",
    "examine_template",
    "is_secret_name",
    "iso_text",
    "keep_compiled",
    "language_of_text",
    "masked",
    "read_known",
    "resolve_holes",
    "sealed_names",
    "template_problems",
    "unsealed",
]


def read_known(scope: Scope, path: tuple[Key, ...]) -> tuple[tuple[Key, ...], object]:
    """Return the longest part of a path that exists, and its value. Raise TruncatedValue for a cut response."""
    for length in range(len(path), 0, -1):
        try:
            return path[:length], follow(scope, path[:length], Reading(through_null=False, missing=False, position=0))
        except MissingValue:
            continue
    return (), None


# A compiled expression: guards, edges and triggers store and evaluate it.


CACHED_EXPRESSIONS = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A compiled expression. The same scope always returns the same value. It raises only `ExpressionError`.

    `language` is the lowest revision of the language that has everything in it.
    """

    source: str
    mode: Mode
    references: tuple[Reference, ...]
    language: int
    run: Evaluate = field(repr=False)

    def evaluate(self, scope: Scope) -> object:
        """Return the JSON value of the expression."""
        budget = Budget()
        value = self.run(scope, budget)
        return value if type(value) in SCALARS else measured(value, budget)

    def test(self, scope: Scope) -> bool:
        """Return whether the value counts as true."""
        value = self.run(scope, Budget())
        return value if type(value) is bool else truthy(value)


def compile_expression(source: str, mode: Mode = Mode.CONDITION, language: int = LANGUAGE) -> Expression:
    """Compile an expression. The same source returns the same object. Raise SyntaxProblem if it cannot be parsed."""
    if not isinstance(source, str):
        raise SyntaxProblem("an expression must be text", 0)
    if len(source) > SOURCE_LIMIT:
        raise SyntaxProblem(f"the expression is longer than {SOURCE_LIMIT} characters", 0)
    return kept(_compiled, source, mode, language)


@lru_cache(maxsize=CACHED_EXPRESSIONS)
def _compiled(source: str, mode: Mode, language: int) -> Expression:
    parsed = parse(source, tokenize(source), language)
    return Expression(source, mode, parsed.references, parsed.language, build(parsed.node, mode))
