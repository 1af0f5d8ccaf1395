"""`self.state`: a value of the user's own type that each step passes to the next.

It is stored beside the output of each step that touched it, with an increasing number. The largest number is the
newest state, even if the steps were reordered since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, get_origin, is_typeddict

import msgspec

from detent.errors import InvalidInput
from detent.steps.errors import OutputTooLarge, Unserialisable
from detent.steps.output import encode_output

_FRAME: Final = len(b'{"output":')


class _Kept(msgspec.Struct):
    """The fields of a step's result that store the state."""

    state: msgspec.Raw = msgspec.Raw(b"")
    state_number: int = 0


_kept: Final = msgspec.json.Decoder(_Kept)


class StateType:
    """Creates and decodes states of one type. Without a type they are plain dictionaries."""

    def __init__(self, kind: Any = dict) -> None:
        self._kind = kind
        self._is_mapping = kind is dict or get_origin(kind) is dict or is_typeddict(kind)
        try:
            self._decode: Callable[[bytes], Any] = msgspec.json.Decoder(kind, dec_hook=_foreign).decode
        except Exception as error:  # msgspec raises various errors for a type it cannot read
            raise InvalidInput(f"state: values of {_name(kind)} cannot be read back: {error}") from error
        try:
            self.new()
        except Exception as error:  # the user's constructor may raise anything
            raise InvalidInput(f"state: {_name(kind)}() must work: give every field a default ({error})") from error

    def new(self) -> Any:
        """Return the state of a run that has none yet."""
        return {} if self._is_mapping else self._kind()

    @property
    def name(self) -> str:
        """Return the name of the type, for messages."""
        return _name(self._kind)

    def fits(self, value: Any) -> bool:
        """Return whether a value can be a state, as far as its type shows."""
        if self._is_mapping:
            return isinstance(value, Mapping)
        return not isinstance(self._kind, type) or isinstance(value, self._kind)

    def read(self, results: Iterable[bytes | None]) -> tuple[Any, int]:
        """Return the newest state in these results and its number, or a new state and 0 if there is none."""
        found = newest(results)
        if found is None:
            return self.new(), 0
        kept = _kept.decode(found)
        return self._decode(kept.state), kept.state_number


def newest(results: Iterable[bytes | None]) -> bytes | None:
    """Return the result that has the newest state, or None if no result has one."""
    best, most = None, 0
    for raw in results:
        if raw is not None and b'"state_number"' in raw:
            number = _kept.decode(raw).state_number
            if number > most:
                best, most = raw, number
    return best


def encode_result(output: Any, state: Any, number: int) -> bytes:
    """Return a step's result with the state beside it."""
    try:
        kept = encode_output(state)[_FRAME:-1]
    except (Unserialisable, OutputTooLarge) as error:
        raise type(error)(str(error).replace("the output", "the state", 1)) from None
    return b'%b,"state":%b,"state_number":%d}' % (encode_output(output)[:-1], kept, number)


def _name(kind: Any) -> str:
    return getattr(kind, "__qualname__", None) or str(kind)


def _foreign(kind: type[Any], value: Any) -> Any:
    """Decode a value of a type that msgspec does not know: a pydantic model, by duck typing."""
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        raise TypeError(f"values of {kind.__qualname__} cannot be made from JSON")
    return validate(value)
