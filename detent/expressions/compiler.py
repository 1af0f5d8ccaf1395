"""Compile a tree to nested Python closures, which are built once and called for every evaluation."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import cast

from detent.expressions import values as operators
from detent.expressions.arguments import Function
from detent.expressions.errors import Budget, EvaluationError, MissingValue, SyntaxProblem
from detent.expressions.functions import TABLE
from detent.expressions.parser import (
    Arithmetic,
    Array,
    ArrowCall,
    Choice,
    Compare,
    FunctionCall,
    Literal,
    Logic,
    Negate,
    Node,
    Not,
    Object,
    Parameter,
    Path,
    Secret,
)
from detent.expressions.paths import Evaluate, Key, Reading, Scope, as_key, follow, static_path
from detent.expressions.sealed import LATE_FUNCTIONS, LateCall, Sealed, SecretName
from detent.expressions.values import NUMBERS, equal, settled, truthy
from detent.values.limits import NESTING_LIMIT

#: What now() or uuid() costs, in the work of one node.
CONTEXT_WORK = 4
_MISPLACED = (
    "a secret is sent as it is and nothing else can read it; write {{{{secrets.{0}}}}} in a parameter of a step, alone "
    "or inside a text, or as an argument of base64(), basic(), hmac(), json() or urlEncode()"
)


class Mode(Enum):
    """CONDITION: a path through null is null. TEMPLATE: it is an error, so that no incomplete value is sent."""

    CONDITION = "condition"
    TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class _Context:
    mode: Mode
    lenient: bool = False
    depth: int = 0
    arrows: int = 0  # around the node
    may_have_secrets: bool = False


def build(node: Node, mode: Mode, *, may_have_secrets: bool = False) -> Evaluate:
    """Return the function that evaluates a tree. Only what is sent may have secrets in it."""
    return _build(node, _Context(mode, may_have_secrets=may_have_secrets))


def _build(node: Node, context: _Context) -> Evaluate:
    if context.depth == NESTING_LIMIT:
        raise SyntaxProblem(f"the expression is nested more than {NESTING_LIMIT} levels deep", node.position)
    builder = cast(Callable[[Node, _Context], Evaluate], BUILDERS[type(node)])
    may = context.may_have_secrets and _passes_secrets(node)
    return builder(node, _Context(context.mode, context.lenient, context.depth + 1, context.arrows, may))


def _passes_secrets(node: Node) -> bool:
    """Return whether the value of a node may be, or may have in it, a secret that is below it."""
    if isinstance(node, FunctionCall):
        return node.name in LATE_FUNCTIONS
    return isinstance(node, Secret | Choice | Array | Object)


def _literal(node: Literal, context: _Context) -> Evaluate:
    value = node.value
    return lambda scope, budget: value


def _path(node: Path, context: _Context) -> Evaluate:
    reading = Reading(
        through_null=context.mode is Mode.CONDITION,
        missing=context.lenient,
        position=node.position,
        base=node.base_text,
    )
    if node.base is None and all(isinstance(key, (str, int)) for key in node.keys):
        return static_path(cast(tuple[Key, ...], node.keys), reading)
    base = None if node.base is None else _build(node.base, context)
    parts = tuple(_key(key, context) for key in node.keys)

    def run(scope: Scope, budget: Budget) -> object:
        start = scope if base is None else base(scope, budget)
        keys = [part(scope, budget) for part in parts]
        if reading.missing and None in keys:
            return None
        return follow(start, tuple(as_key(key, reading.position) for key in keys), reading)

    return run


def _key(key: str | int | Node, context: _Context) -> Evaluate:
    if isinstance(key, (str, int)):
        return lambda scope, budget: key
    return _build(key, context)


def _not(node: Not, context: _Context) -> Evaluate:
    operand = _build(node.operand, context)
    return lambda scope, budget: not truthy(operand(scope, budget))


def _negate(node: Negate, context: _Context) -> Evaluate:
    operand = _build(node.operand, context)
    position = node.position

    def run(scope: Scope, budget: Budget) -> object:
        value = operand(scope, budget)
        try:
            return operators.negate(value)
        except EvaluationError as error:
            error.position = position
            raise

    return run


def _arithmetic(node: Arithmetic, context: _Context) -> Evaluate:
    first = _build(node.first, context)
    rest = tuple((operators.ARITHMETIC[sign], _build(operand, context)) for sign, operand in node.rest)
    position = node.position

    def run(scope: Scope, budget: Budget) -> object:
        value = first(scope, budget)
        for calculate, operand in rest:
            other = operand(scope, budget)
            try:
                value = calculate(value, other, budget)
            except EvaluationError as error:
                error.position = position
                raise
        return value

    return run


def _compare(node: Compare, context: _Context) -> Evaluate:
    left, right = _build(node.left, context), _build(node.right, context)
    if node.operator in operators.ORDERS:
        return _order(node, _paid(left), _paid(right)) if context.arrows else _order(node, left, right)
    if node.operator == "in":
        return _contains(left, right, node.position)
    wanted = node.operator in ("==", "===")
    if isinstance(node.right, Literal):
        return _equals_literal(left, node.right.value, wanted)
    if context.arrows:
        left, right = _paid(left), _paid(right)
    return lambda scope, budget: equal(left(scope, budget), right(scope, budget), budget) is wanted


def _equals_literal(left: Evaluate, value: object, wanted: bool) -> Evaluate:
    """Compile the most common condition, `path == literal`, without a call of `equal`."""
    if value is None or isinstance(value, bool):
        return lambda scope, budget: (left(scope, budget) is value) is wanted
    if isinstance(value, str):
        return lambda scope, budget: (left(scope, budget) == value) is wanted

    def run(scope: Scope, budget: Budget) -> bool:
        number = left(scope, budget)
        return (type(number) in NUMBERS and number == value) is wanted

    return run


def _order(node: Compare, left: Evaluate, right: Evaluate) -> Evaluate:
    sign, order, position = node.operator, operators.ORDERS[node.operator], node.position

    def run(scope: Scope, budget: Budget) -> bool:
        a, b = left(scope, budget), right(scope, budget)
        if type(a) is int and type(b) is int:
            return order(a, b)
        try:
            return operators.ordered(sign, order, a, b)
        except EvaluationError as error:
            error.position = position
            raise

    return run


def _contains(item: Evaluate, container: Evaluate, position: int) -> Evaluate:
    def run(scope: Scope, budget: Budget) -> bool:
        wanted, holder = item(scope, budget), container(scope, budget)
        try:
            return operators.contains(holder, wanted, budget)
        except EvaluationError as error:
            error.position = position
            raise

    return run


def _logic(node: Logic, context: _Context) -> Evaluate:
    if node.operator == "??":
        return _coalesce(node, context)
    operands = tuple(_build(operand, context) for operand in node.operands)
    stop = node.operator == "||"

    def run(scope: Scope, budget: Budget) -> object:
        value: object = None
        for operand in operands:
            value = operand(scope, budget)
            if (value if type(value) is bool else truthy(value)) is stop:
                break
        return value

    return run


def _coalesce(node: Logic, context: _Context) -> Evaluate:
    """Compile `??`: a missing path is null in every operand but the last, which is as strict as its surroundings."""
    lenient = replace(context, lenient=True)
    tried = tuple(_build(operand, lenient) for operand in node.operands[:-1])
    last = _build(node.operands[-1], context)

    def run(scope: Scope, budget: Budget) -> object:
        for operand in tried:
            value = operand(scope, budget)
            if value is not None:
                return value
        return last(scope, budget)

    return run


def _choice(node: Choice, context: _Context) -> Evaluate:
    test = _build(node.test, replace(context, may_have_secrets=False))
    then, otherwise = _build(node.then, context), _build(node.otherwise, context)
    return lambda scope, budget: (then if truthy(test(scope, budget)) else otherwise)(scope, budget)


def _call(node: FunctionCall, context: _Context) -> Evaluate:
    name, function, position = node.name, TABLE[node.name], node.position
    if function.context is not None:
        return _context_call(node, function, function.context, context)
    arguments = tuple(_build(argument, context) for argument in node.arguments)
    if context.may_have_secrets and any(map(_has_secret, node.arguments)):
        return _late_call(name, arguments)
    if context.arrows:
        arguments = tuple(map(_paid, arguments))
    answer, of_null, takes_null = function.run, function.of_null, function.takes_null

    def run(scope: Scope, budget: Budget) -> object:
        values = [argument(scope, budget) for argument in arguments]
        if values[0] is None and not takes_null:
            return of_null
        try:
            return answer(budget, *values)
        except EvaluationError as error:
            if type(error) is EvaluationError:
                raise EvaluationError(f"{name}(): {error.message}", position) from None
            error.position = position
            raise

    return _paid(run) if context.arrows else run


def _late_call(name: str, arguments: tuple[Evaluate, ...]) -> Evaluate:
    """Compile a call that is made when its secrets are opened."""

    def run(scope: Scope, budget: Budget) -> object:
        return Sealed(LateCall(name, tuple(settled(argument(scope, budget), budget) for argument in arguments)))

    return run


def _has_secret(node: Node) -> bool:
    match node:
        case Secret():
            return True
        case Choice(_, then, otherwise):
            return _has_secret(then) or _has_secret(otherwise)
        case Array(items) | FunctionCall(_, items):
            return any(map(_has_secret, items))
        case Object(entries):
            return any(_has_secret(value) for _, value in entries)
        case _:
            return False


def _paid(evaluate: Evaluate) -> Evaluate:
    """Let a value of an arrow's body pay for its length if it is a long text. Outside of arrows that is not needed:
    there the source limits how often a text can be read."""

    def run(scope: Scope, budget: Budget) -> object:
        value = evaluate(scope, budget)
        if type(value) is str:
            budget.spend_long(value)
        return value

    return run


def _context_call(node: FunctionCall, function: Function, key: str, context: _Context) -> Evaluate:
    """Compile now() or uuid(): it depends on where and when the expression is evaluated, which the scope knows."""
    name, answer, position, arrows = node.name, function.run, node.position, context.arrows

    def run(scope: Scope, budget: Budget) -> object:
        known = scope.get(key)
        if known is None:
            raise EvaluationError(f"{name}() is not known here", position)
        budget.spend(CONTEXT_WORK)
        indexes = tuple(frame[0] for frame in (budget.frames or [])[:arrows])
        return answer(known, (budget.at, position, indexes))

    return run


def _parameter(node: Parameter, context: _Context) -> Evaluate:
    slot = node.slot

    def run(scope: Scope, budget: Budget) -> object:
        assert budget.frames is not None
        return budget.frames[slot][1]

    return run


def _secret(node: Secret, context: _Context) -> Evaluate:
    if not context.may_have_secrets:
        raise SyntaxProblem(_MISPLACED.format(node.name[:100]), node.position)
    sealed = Sealed(SecretName(node.name))
    return lambda scope, budget: sealed


def _arrow_call(node: ArrowCall, context: _Context) -> Evaluate:
    """Compile a call with an arrow. Each call of the arrow pays for the nodes of its body, before it runs."""
    name, function, position, slot = node.name, TABLE[node.name], node.position, node.slot
    arguments = tuple(_build(argument, context) for argument in node.arguments)
    # What `??` allows is a missing value in its operand, not in each element of an array in it.
    inner = replace(context, arrows=context.arrows + 1, lenient=False)
    body, cost = _build(node.body, inner), _cost(node.body)

    def run(scope: Scope, budget: Budget) -> object:
        values = [argument(scope, budget) for argument in arguments]
        if values[0] is None:
            return function.of_null
        if budget.frames is None:
            budget.frames = [(0, None)] * NESTING_LIMIT
        frames = budget.frames

        def each(index: int, item: object) -> object:
            budget.spend(cost)
            frames[slot] = (index, item)
            try:
                return body(scope, budget)
            except EvaluationError as error:
                if type(error) in (EvaluationError, MissingValue):
                    error.message = f"{error.message} (element {index} of {name}())"
                raise

        try:
            return function.run(budget, values[0], each, *values[1:])
        except EvaluationError as error:
            if error.position is None:
                error.position = position
                if type(error) is EvaluationError:
                    error.message = f"{name}(): {error.message}"
            raise

    return run


def _cost(node: Node) -> int:
    """Return how many steps one evaluation of a node takes at most. The body of an arrow pays for itself."""
    inner: tuple[Node, ...] = ()
    match node:
        case Path(base, keys):
            nodes = tuple(key for key in keys if not isinstance(key, (str, int)))
            inner = nodes if base is None else (base, *nodes)
            return 1 + len(keys) // 4 + sum(map(_cost, inner)) - isinstance(base, Parameter)
        case Not(operand) | Negate(operand):
            inner = (operand,)
        case Arithmetic(first, rest):
            inner = (first, *(operand for _, operand in rest))
        case Compare(_, left, right):
            inner = (left, right)
        case Logic(_, operands):
            inner = operands
        case Choice(test, then, otherwise):
            inner = (test, then, otherwise)
        case FunctionCall(_, arguments) | ArrowCall(_, arguments):
            inner = arguments
        case Array(items):
            inner = items
        case Object(entries):
            inner = tuple(value for _, value in entries)
    return 1 + sum(map(_cost, inner))


def _array(node: Array, context: _Context) -> Evaluate:
    items = tuple(_build(item, context) for item in node.items)
    return lambda scope, budget: [item(scope, budget) for item in items]


def _object(node: Object, context: _Context) -> Evaluate:
    entries = tuple((key, _build(value, context)) for key, value in node.entries)
    return lambda scope, budget: {key: value(scope, budget) for key, value in entries}


BUILDERS: dict[type, object] = {
    Literal: _literal,
    Path: _path,
    Not: _not,
    Negate: _negate,
    Arithmetic: _arithmetic,
    Compare: _compare,
    Logic: _logic,
    Choice: _choice,
    FunctionCall: _call,
    Parameter: _parameter,
    Secret: _secret,
    ArrowCall: _arrow_call,
    Array: _array,
    Object: _object,
}
