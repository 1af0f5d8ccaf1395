"""Split text into tokens. A `-` between name characters without blanks is part of the name: `tasks.pay-result.body`."""

import math
import re
from enum import Enum
from typing import Final, NamedTuple

from detent.expressions.errors import SyntaxProblem
from detent.values.limits import LARGEST_INTEGER, SOURCE_LIMIT

BLANKS = frozenset(" \t\r\n")
DIGITS = frozenset("0123456789")
HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "/": "/", "\\": "\\", "'": "'", '"': '"'}
OPERATORS = (
    *("===", "!==", "==", "!=", "<=", ">=", "=>", "&&", "||", "??"),
    *("<", ">", "!", "?", ":", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", ",", "."),
)
#: The longer of two operators comes first.
_OPERATOR: Final = re.compile("|".join(map(re.escape, OPERATORS)))
#: `\w` is what `str.isalnum` accepts, and the underscore.
_NAME: Final = re.compile(r"[\w$]+(?:-+[\w$]+)*")
HINTS = {"=": "; use == to compare", "&": "; use &&", "|": "; use ||", "`": "; write text as '...'"}


class TokenKind(Enum):
    NAME = "name"
    NUMBER = "number"
    TEXT = "text"
    OPERATOR = "operator"
    END = "end"


class Token(NamedTuple):
    kind: TokenKind
    value: str | int | float
    position: int
    end: int


def tokenize(source: str) -> list[Token]:
    """Return the tokens of a whole expression. The last one is END."""
    tokens, _ = _tokens(source, 0, templated=False)
    return tokens


def tokenize_template(source: str, start: int) -> tuple[list[Token], int]:
    """Return the tokens from `start` to the `}}` that closes them, and the position after that `}}`."""
    return _tokens(source, start, templated=True)


def _tokens(source: str, start: int, *, templated: bool) -> tuple[list[Token], int]:
    tokens: list[Token] = []
    braces = 0
    position = _skip_blanks(source, start)
    while position < len(source):
        if position - start > SOURCE_LIMIT:
            raise SyntaxProblem(f"the expression is longer than {SOURCE_LIMIT} characters", start)
        if templated and not braces and source.startswith("}}", position):
            tokens.append(Token(TokenKind.END, "", position, position))
            return tokens, position + 2
        token = _next(source, position)
        braces += (token.value == "{") - (token.value == "}") if token.kind is TokenKind.OPERATOR else 0
        tokens.append(token)
        position = _skip_blanks(source, token.end)
    if templated:
        raise SyntaxProblem("'{{' is not closed by '}}'", start - 2)
    tokens.append(Token(TokenKind.END, "", position, position))
    return tokens, position


def _skip_blanks(source: str, position: int) -> int:
    while position < len(source) and source[position] in BLANKS:
        position += 1
    return position


def _next(source: str, position: int) -> Token:
    letter = source[position]
    if letter in DIGITS:
        return _number(source, position)
    if _begins_name(letter):
        return _name(source, position)
    if letter in "'\"":
        return _text(source, position)
    if found := _OPERATOR.match(source, position):
        return Token(TokenKind.OPERATOR, found[0], position, found.end())
    shown = repr(letter) if letter.isprintable() else f"U+{ord(letter):04X}"
    raise SyntaxProblem(f"unexpected character {shown}{HINTS.get(letter, '')}", position)


def _begins_name(letter: str) -> bool:
    return letter.isalpha() or letter in "_$"


def _continues_name(letter: str) -> bool:
    return letter.isalnum() or letter in "_$"


def _name(source: str, position: int) -> Token:
    found = _NAME.match(source, position)
    assert found is not None
    return Token(TokenKind.NAME, found[0], position, found.end())


def _digits(source: str, position: int) -> int:
    while position < len(source) and source[position] in DIGITS:
        position += 1
    return position


def _number(source: str, position: int) -> Token:
    end = whole = _digits(source, position)
    if source[end : end + 1] == "." and source[end + 1 : end + 2] in DIGITS:
        end = _digits(source, end + 1)
    if source[end : end + 1] in ("e", "E"):
        sign = source[end + 1 : end + 2] in ("+", "-")
        end = _digits(source, end + 1 + sign)
    text = source[position:end]
    if not text[-1].isdigit() or (end < len(source) and _continues_name(source[end])):
        raise SyntaxProblem("a name or number is malformed", position)
    if text[0] == "0" and whole - position > 1:
        raise SyntaxProblem("a number may not begin with 0", position)
    return Token(TokenKind.NUMBER, _number_value(text, end == whole, position), position, end)


def _number_value(text: str, whole: bool, position: int) -> int | float:
    if whole:
        value: int | float = int(text) if len(text) <= len(str(LARGEST_INTEGER)) else math.inf
        fits = value <= LARGEST_INTEGER
    else:
        value = float(text)
        fits = math.isfinite(value)
    if not fits:
        raise SyntaxProblem("the number is too large", position)
    return value


def _text(source: str, position: int) -> Token:
    quote, index = source[position], position + 1
    pieces: list[str] = []
    while index < len(source):
        letter = source[index]
        if letter == quote:
            return Token(TokenKind.TEXT, _without_halves("".join(pieces), position), position, index + 1)
        if letter == "\\":
            letter, index = _escape(source, index)
        else:
            index += 1
        pieces.append(letter)
    raise SyntaxProblem("the text is not closed", position)


def _escape(source: str, position: int) -> tuple[str, int]:
    letter = source[position + 1 : position + 2]
    if letter == "u":
        digits = source[position + 2 : position + 6]
        if len(digits) == 4 and HEX_DIGITS.issuperset(digits):
            return chr(int(digits, 16)), position + 6
    elif letter in ESCAPES:
        return ESCAPES[letter], position + 2
    raise SyntaxProblem(f"unknown escape '\\{letter}'; write \\\\ for a backslash", position)


def _without_halves(text: str, position: int) -> str:
    """Join escaped surrogate pairs. Raise SyntaxProblem for half a pair, which is not a valid character."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise SyntaxProblem("the text contains half a surrogate pair", position) from None
