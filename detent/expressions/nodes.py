"""What an expression is after parsing: a small tree that never changes."""

from dataclasses import dataclass
from typing import Union

from detent.expressions.errors import Place


@dataclass(frozen=True, slots=True)
class Reference:
    """A path that an expression reads, as far as it is known without data: up to the first computed index."""

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
    """Reads keys one after the other, from the scope (`base` None) or from the value of `base`, written `base_text`."""

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
    """`first op operand op operand ...` from left to right; a long sum is wide, not deep."""

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
class Call:
    name: str
    arguments: tuple["Node", ...]
    position: int


@dataclass(frozen=True, slots=True)
class Array:
    items: tuple["Node", ...]
    position: int


@dataclass(frozen=True, slots=True)
class Object:
    entries: tuple[tuple[str, "Node"], ...]
    position: int


Node = Literal | Path | Not | Negate | Arithmetic | Compare | Logic | Choice | Call | Array | Object
