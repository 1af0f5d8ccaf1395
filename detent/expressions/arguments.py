"""What a function of the language is, and the checks of its arguments that all functions share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from detent.expressions.errors import EvaluationError
from detent.expressions.values import NUMBERS, SMALL, checked, kind_of

ANY_NUMBER = 50


@dataclass(frozen=True, slots=True)
class Function:
    """One function. It returns `of_null` if its first argument is null, unless it `takes_null`.

    `language` is the revision that brought it. With `has_arrow`, its second argument is an arrow. With `context`, it
    takes no arguments and is called with the item of the scope that has this key, and with the place of the call.
    `check` raises EvaluationError for literal arguments that can never be right.
    """

    run: Callable[..., object]
    least: int
    most: int
    description: str
    of_null: object = None
    takes_null: bool = False
    language: int = 1
    has_arrow: bool = False
    context: str | None = None
    check: Callable[..., object] | None = None

    @property
    def arity(self) -> str:
        if self.most == ANY_NUMBER:
            return f"{self.least} or more arguments"
        count = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
        return f"{count} argument{'' if count == '1' else 's'}"


def need_text(value: object) -> str:
    if not isinstance(value, str):
        raise EvaluationError(f"needs text, not {kind_of(value)}")
    return value


def need_array(value: object) -> list[object]:
    if not isinstance(value, list):
        raise EvaluationError(f"needs an array, not {kind_of(value)}")
    return value


def need_object(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise EvaluationError(f"needs an object, not {kind_of(value)}")
    return value


def need_number(value: object) -> int | float:
    if type(value) is int and -SMALL < value < SMALL:
        return value
    if type(value) not in NUMBERS:
        raise EvaluationError(f"needs a number, not {kind_of(value)}")
    return checked(value)  # type: ignore[arg-type]


def need_whole(value: object) -> int:
    number = need_number(value)
    if not isinstance(number, int):
        raise EvaluationError("needs a whole number")
    return number


def need_choice(value: object, choices: Mapping[str, object] | tuple[str, ...], what: str) -> str:
    """Return the text if it is one of the choices. Otherwise raise an EvaluationError that lists them."""
    if isinstance(value, str) and value in choices:
        return value
    given = repr(value[:20]) if isinstance(value, str) else kind_of(value)
    raise EvaluationError(f"there is no {what} {given}; there is {', '.join(choices)}")
