"""Parse tokens to a tree, by binding power (Pratt).

a ? b : c          loosest, groups to the right
a || b
a && b
a ?? b             binds tighter than && and ||, where JavaScript requires parentheses
== != === !==      do not chain
< <= > >= in       do not chain
+ -
* / %
! -                before their operand
.name ['name'] [expression] name(...) .name(...)

Revision 2 adds arrows, `items.map(item => item.sku)`. An arrow is only an argument of some functions, never a value.
Its parameter hides a name of the scope or of an outer arrow. It is not a reference: it is not read from the scope.
"""

from dataclasses import dataclass
from typing import TypeGuard, Union

from detent.expressions.arguments import Function
from detent.expressions.errors import EvaluationError, Place, SyntaxProblem
from detent.expressions.functions import ALIASES, TABLE
from detent.expressions.lexer import Token, TokenKind
from detent.expressions.sealed import SECRETS, SECRETS_LANGUAGE
from detent.values.limits import NESTING_LIMIT
from detent.values.nearest import nearest

# The tree of a parsed expression. It never changes.


@dataclass(frozen=True, slots=True)
class Reference:
    """A path that an expression reads, up to the first computed index: the rest is unknown without data."""

    path: tuple[str | int, ...]
    position: int
    text: str
    at: Place = ()


@dataclass(frozen=True, slots=True)
class Literal:
    value: bool | int | float | str | None
    position: int


@dataclass(frozen=True, slots=True)
class Path:
    """A path of keys, read from the scope (`base` is None) or from the value of `base`, whose source is `base_text`."""

    base: Union["Node", None]
    keys: tuple[Union[str, int, "Node"], ...]
    position: int
    base_text: str = ""


@dataclass(frozen=True, slots=True)
class Not:
    operand: "Node"
    position: int


@dataclass(frozen=True, slots=True)
class Negate:
    operand: "Node"
    position: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`first op operand op operand ...` from left to right. A long sum is wide, not deep."""

    first: "Node"
    rest: tuple[tuple[str, "Node"], ...]
    position: int


@dataclass(frozen=True, slots=True)
class Compare:
    operator: str
    left: "Node"
    right: "Node"
    position: int


@dataclass(frozen=True, slots=True)
class Logic:
    """`&&`, `||` or `??` over two or more operands."""

    operator: str
    operands: tuple["Node", ...]
    position: int


@dataclass(frozen=True, slots=True)
class Choice:
    test: "Node"
    then: "Node"
    otherwise: "Node"
    position: int


@dataclass(frozen=True, slots=True)
class FunctionCall:
    name: str
    arguments: tuple["Node", ...]
    position: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """The element that an arrow is called with. `slot` counts the arrows around that arrow."""

    slot: int
    position: int


@dataclass(frozen=True, slots=True)
class Secret:
    """`secrets.NAME`: a value that stays sealed."""

    name: str
    position: int


@dataclass(frozen=True, slots=True)
class ArrowCall:
    """A call of a function with an arrow: `arguments` has all others. `slot` is that of the arrow's parameter."""

    name: str
    arguments: tuple["Node", ...]
    slot: int
    body: "Node"
    position: int


@dataclass(frozen=True, slots=True)
class Array:
    items: tuple["Node", ...]
    position: int


@dataclass(frozen=True, slots=True)
class Object:
    entries: tuple[tuple[str, "Node"], ...]
    position: int


Node = (
    Literal
    | Path
    | Not
    | Negate
    | Arithmetic
    | Compare
    | Logic
    | Choice
    | FunctionCall
    | Parameter
    | Secret
    | ArrowCall
    | Array
    | Object
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of an expression, every path it reads, in the order of the text, and the lowest revision that has it."""

    node: Node
    references: tuple[Reference, ...]
    language: int


CHOICE, OR, AND, COALESCE, EQUALITY, RELATION, SUM, PRODUCT, PREFIX = range(1, 10)
POWERS = {
    "?": CHOICE,
    "||": OR,
    "&&": AND,
    "??": COALESCE,
    **dict.fromkeys(("==", "!=", "===", "!=="), EQUALITY),
    **dict.fromkeys(("<", "<=", ">", ">=", "in"), RELATION),
    **dict.fromkeys(("+", "-"), SUM),
    **dict.fromkeys(("*", "/", "%"), PRODUCT),
}
OPENING = ("(", "[", "{")
WORDS = {"true": True, "false": False, "null": None}
INSTEAD = {"and": "&&", "or": "||", "not": "!", "is": "==", "undefined": "null", "None": "null"}

#: The newest revision of the language. What an older one has means the same in every newer one.
LANGUAGE = 4

Keys = tuple[str | int | Node, ...]


def parse(source: str, tokens: list[Token], language: int) -> Parsed:
    """Parse an expression of a revision of the language."""
    parser = _Parser(source, tokens, language)
    if tokens[0].kind is TokenKind.END:
        raise SyntaxProblem("the expression is empty", tokens[0].position)
    node = parser.expression()
    if parser.token.kind is not TokenKind.END:
        raise parser.unexpected()
    references = sorted(parser.references, key=lambda reference: reference.position)
    return Parsed(node, tuple(references), parser.needed)


class _Parser:
    def __init__(self, source: str, tokens: list[Token], language: int) -> None:
        self.source = source
        self.tokens = tokens
        self.language = language
        self.needed = 1
        self.parameters: list[str] = []  # of the arrows around the current token
        self.index = 0
        self.token = tokens[0]
        self.depth = 0
        self.references: list[Reference] = []

    def advance(self) -> Token:
        """Consume the current token and return it. Every caller has checked that it is not END."""
        token = self.token
        self.index += 1
        self.token = self.tokens[self.index]
        return token

    def at(self, operator: str) -> bool:
        return self.token.kind is TokenKind.OPERATOR and self.token.value == operator

    def accept(self, operator: str) -> bool:
        found = self.at(operator)
        if found:
            self.advance()
        return found

    def expect(self, operator: str) -> None:
        if not self.accept(operator):
            raise self.unexpected(f"; expected '{operator}'")

    def unexpected(self, hint: str = "") -> SyntaxProblem:
        token = self.token
        if token.kind is TokenKind.END:
            return SyntaxProblem(f"the expression ends too early{hint}", token.position)
        if token.kind is TokenKind.NAME and token.value in INSTEAD:
            hint = f"; use {INSTEAD[str(token.value)]}"
        if token.value == "=>" and token.kind is TokenKind.OPERATOR:
            hint = "; use >= to compare, or an arrow as the argument of a function, as in items.map(item => item.id)"
        shown = self.source[token.position : token.end][:40]
        return SyntaxProblem(f"unexpected {shown}{hint}", token.position)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > NESTING_LIMIT:
            raise SyntaxProblem(f"the expression is nested more than {NESTING_LIMIT} levels deep", self.token.position)

    def expression(self, power: int = 0) -> Node:
        """Parse an expression whose operators all bind tighter than `power`."""
        self.deeper()
        left = self.prefix()
        last = PREFIX
        while (binding := self.power()) > power:
            if binding == last and binding in (EQUALITY, RELATION):
                raise SyntaxProblem("comparisons do not chain; join them with &&", self.token.position)
            left = self.infix(left, binding)
            last = binding
        self.depth -= 1
        return left

    def power(self) -> int:
        token = self.token
        is_operator = token.kind is TokenKind.OPERATOR or (token.kind is TokenKind.NAME and token.value == "in")
        return POWERS.get(str(token.value), 0) if is_operator else 0

    def infix(self, left: Node, binding: int) -> Node:
        position = self.token.position
        if binding == CHOICE:
            return self.choice(left)
        if binding in (SUM, PRODUCT):
            return Arithmetic(left, self.chain(binding), position)
        if binding in (EQUALITY, RELATION):
            operator = str(self.advance().value)
            return Compare(operator, left, self.expression(binding), position)
        operator = str(self.token.value)
        return Logic(operator, (left, *(operand for _, operand in self.chain(binding))), position)

    def chain(self, binding: int) -> tuple[tuple[str, Node], ...]:
        """Parse all further operands of one binding power at once, so that a long chain is not a deep tree."""
        links: list[tuple[str, Node]] = []
        while self.power() == binding:
            operator = str(self.advance().value)
            links.append((operator, self.expression(binding)))
        return tuple(links)

    def choice(self, test: Node) -> Node:
        position = self.advance().position
        if self.at("."):
            raise SyntaxProblem("there is no ?. here; use a.b ?? default", position)
        then = self.expression()
        self.expect(":")
        return Choice(test, then, self.expression(), position)

    def prefix(self) -> Node:
        if self.token.kind is TokenKind.OPERATOR and self.token.value in ("!", "-"):
            self.deeper()
            operator = self.advance()
            operand = self.prefix()
            self.depth -= 1
            if operator.value == "!":
                return Not(operand, operator.position)
            if isinstance(operand, Literal) and _is_number(operand.value):
                return Literal(-operand.value, operator.position)
            return Negate(operand, operator.position)
        return self.postfix()

    def postfix(self) -> Node:
        start = self.token.position
        depth = self.depth
        base, keys = self.primary()
        base_end = self.tokens[self.index - 1].end
        while True:
            end = self.tokens[self.index - 1].end
            if self.accept("."):
                if self.token.kind is not TokenKind.NAME:
                    raise self.unexpected("; expected a name, or [0] for an index")
                name = self.advance()
                if self.at("("):
                    self.deeper()
                    subject = self.path(base, keys, start, base_end, end)
                    base, keys = self.call(name, (subject,)), ()
                    base_end = self.tokens[self.index - 1].end
                else:
                    keys = (*keys, str(name.value))
            elif self.accept("["):
                keys = (*keys, self.index_key())
            else:
                self.depth = depth
                return self.path(base, keys, start, base_end, end)

    def path(self, base: Node | None, keys: Keys, start: int, base_end: int, end: int) -> Node:
        if base is not None and not keys:
            return base
        if base is not None:
            return Path(base, keys, start, self.source[start:base_end])
        if keys[0] in self.parameters:
            return self.of_parameter(str(keys[0]), keys[1:], start)
        static: list[str | int] = []
        for key in keys:
            if not isinstance(key, (str, int)):
                break
            static.append(key)
        self.references.append(Reference(tuple(static), start, self.source[start:end]))
        if keys[0] == SECRETS and self.language >= SECRETS_LANGUAGE:
            return self.secret(keys[1:], start)
        return Path(None, keys, start)

    def secret(self, keys: Keys, start: int) -> Node:
        self.needed = max(self.needed, SECRETS_LANGUAGE)
        if len(keys) == 1 and isinstance(keys[0], str):
            return Secret(keys[0], start)
        if not keys:
            raise SyntaxProblem("name one secret, as in secrets.STRIPE_KEY", start)
        if not isinstance(keys[0], str):
            raise SyntaxProblem("the name of a secret must be written out, as in secrets.STRIPE_KEY", start)
        raise SyntaxProblem(f"a secret is a text and has no parts; write secrets.{keys[0][:100]} alone", start)

    def of_parameter(self, name: str, keys: Keys, start: int) -> Node:
        """Return the path from the parameter of the innermost arrow that has one of this name."""
        slot = len(self.parameters) - 1 - self.parameters[::-1].index(name)
        parameter = Parameter(slot, start)
        return Path(parameter, keys, start, name) if keys else parameter

    def index_key(self) -> str | int | Node:
        node = self.expression()
        self.expect("]")
        if isinstance(node, Literal) and isinstance(node.value, (str, int)) and not isinstance(node.value, bool):
            return node.value
        return node

    def primary(self) -> tuple[Node | None, Keys]:
        """Parse the beginning of a path: a value, or the name of a root."""
        token = self.token
        if token.kind is TokenKind.END or (token.kind is TokenKind.OPERATOR and token.value not in OPENING):
            raise self.unexpected()
        self.advance()
        if token.kind is TokenKind.NAME:
            return self.named(token)
        if token.kind is not TokenKind.OPERATOR:
            return Literal(token.value, token.position), ()
        if token.value == "[":
            return Array(self.listed("]"), token.position), ()
        if token.value == "{":
            return self.object(token), ()
        node = self.expression()
        self.expect(")")
        return node, ()

    def named(self, token: Token) -> tuple[Node | None, Keys]:
        name = str(token.value)
        if self.at("("):
            return self.call(token, ()), ()
        if name in WORDS:
            return Literal(WORDS[name], token.position), ()
        if name in INSTEAD or name == "in":
            raise SyntaxProblem(f"unexpected {name}; use {INSTEAD.get(name, 'a in b')}", token.position)
        if name.partition("-")[0] in self.parameters and name not in self.parameters:
            raise SyntaxProblem(f"'{name[:40]}' is one name; put blanks around - to subtract", token.position)
        return None, (name,)

    def call(self, token: Token, subject: tuple[Node, ...]) -> Node:
        name = ALIASES.get(str(token.value), str(token.value))
        function = TABLE.get(name)
        if function is None:
            meant = nearest(name, TABLE)
            hint = f"; did you mean '{meant}'?" if meant else ""
            raise SyntaxProblem(f"there is no function '{name[:40]}'{hint}", token.position)
        if function.language > self.language:
            needs = f"needs revision {function.language} of the language"
            message = f"{name}() {needs}, and this definition has revision {self.language}; store it again to use it"
            raise SyntaxProblem(message, token.position)
        self.needed = max(self.needed, function.language)
        self.expect("(")
        if function.has_arrow:
            return self.arrow_call(name, function, token, subject)
        arguments = (*subject, *self.listed(")"))
        _check_count(name, function, len(arguments), token)
        if function.check is not None and all(isinstance(one, Literal) for one in arguments[1:]):
            _check_literals(name, function, arguments)
        return FunctionCall(name, arguments, token.position)

    def arrow_call(self, name: str, function: Function, token: Token, subject: tuple[Node, ...]) -> Node:
        """Parse the arguments of a function whose second argument is an arrow."""
        arguments = list(subject)
        body: Node | None = None
        while not self.accept(")"):
            count = len(arguments) + (body is not None)
            if count > len(subject):
                self.expect(",")
            if count == 1:
                body = self.arrow(name)
            else:
                arguments.append(self.expression())
        _check_count(name, function, len(arguments) + (body is not None), token)
        assert body is not None  # it is the second of at least two
        return ArrowCall(name, tuple(arguments), len(self.parameters), body, token.position)

    def arrow(self, name: str) -> Node:
        """Parse `item => body` or `(item) => body`, and return the body."""
        start = self.token
        in_parentheses = self.accept("(")
        parameter = self.token
        if parameter.kind is TokenKind.NAME:
            self.advance()
        is_closed = not in_parentheses or self.accept(")")
        if parameter.kind is not TokenKind.NAME or not is_closed or not self.accept("=>"):
            message = f"{name}() takes an arrow with one parameter here, as in item => item.id"
            raise SyntaxProblem(message, start.position)
        word = str(parameter.value)
        if word in WORDS or word in INSTEAD or word == "in" or "-" in word:
            raise SyntaxProblem(f"'{word[:40]}' cannot be the parameter of an arrow", parameter.position)
        self.parameters.append(word)
        body = self.expression()
        self.parameters.pop()
        return body

    def listed(self, closing: str) -> tuple[Node, ...]:
        items: list[Node] = []
        while not self.accept(closing):
            if items:
                self.expect(",")
            items.append(self.expression())
        return tuple(items)

    def object(self, brace: Token) -> Node:
        if self.at("{"):
            raise SyntaxProblem("write the expression without {{ }} here", brace.position)
        entries: list[tuple[str, Node]] = []
        while not self.accept("}"):
            if entries:
                self.expect(",")
            if self.token.kind not in (TokenKind.NAME, TokenKind.TEXT):
                raise self.unexpected("; expected a key")
            key = str(self.advance().value)
            self.expect(":")
            entries.append((key, self.expression()))
        return Object(tuple(entries), brace.position)


def _check_count(name: str, function: Function, count: int, token: Token) -> None:
    if not function.least <= count <= function.most:
        raise SyntaxProblem(f"{name}() takes {function.arity}, not {count}", token.position)


def _check_literals(name: str, function: Function, arguments: tuple[Node, ...]) -> None:
    """Report literal arguments that can never be right, such as a broken pattern."""
    assert function.check is not None
    try:
        function.check(None, *(one.value for one in arguments[1:] if isinstance(one, Literal)))
    except EvaluationError as error:
        raise SyntaxProblem(f"{name}(): {error.message}", arguments[1].position) from None


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
