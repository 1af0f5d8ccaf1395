"""`self.state`: a value of the user's own type that goes from step to step.

It is kept beside the output of each step that touched it, with a number that grows: the largest is the newest, however
the steps have been moved around since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, get_origin, is_typeddict

import msgspec

from detent.errors import InvalidInput
from detent.steps.action_values import OutputTooLarge, Unserialisable, encode_output

_FRAME: Final = len(b'{"output":')


class _Kept(msgspec.Struct):
    """The parts of a step's result that are of the state."""

    state: msgspec.Raw = msgspec.Raw(b"")
    state_number: int = 0


_kept: Final = msgspec.json.Decoder(_Kept)


class StateType:
    """Makes, reads and writes states of one type. Without a type they are plain dictionaries."""

    def __init__(self, kind: Any = dict) -> None:
        self._kind = kind
        self._is_mapping = kind is dict or get_origin(kind) is dict or is_typeddict(kind)
        try:
            self._decode: Callable[[bytes], Any] = msgspec.json.Decoder(kind, dec_hook=_foreign).decode
        except Exception as error:  # whatever msgspec says of a type it cannot read
            raise InvalidInput(f"state: values of {_name(kind)} cannot be read back: {error}") from error
        try:
            self.new()
        except Exception as error:  # a constructor of the user's may raise anything
            raise InvalidInput(f"state: {_name(kind)}() must work: give every field a default ({error})") from error

    def new(self) -> Any:
        """The state of a run that has none yet."""
        return {} if self._is_mapping else self._kind()

    @property
    def name(self) -> str:
        """The type, for people."""
        return _name(self._kind)

    def fits(self, value: Any) -> bool:
        """Whether that can be a state, as far as its type says."""
        if self._is_mapping:
            return isinstance(value, Mapping)
        return not isinstance(self._kind, type) or isinstance(value, self._kind)

    def read(self, results: Iterable[bytes | None]) -> tuple[Any, int]:
        """The last state that any of these results kept, and its number; a new one and 0 if none did."""
        found = newest(results)
        if found is None:
            return self.new(), 0
        kept = _kept.decode(found)
        return self._decode(kept.state), kept.state_number


def newest(results: Iterable[bytes | None]) -> bytes | None:
    """The one of these results that kept the last state; null if none did."""
    best, most = None, 0
    for raw in results:
        if raw is not None and b'"state_number"' in raw:
            number = _kept.decode(raw).state_number
            if number > most:
                best, most = raw, number
    return best


def encode_result(output: Any, state: Any, number: int) -> bytes:
    """A step's result with the state beside it."""
    try:
        kept = encode_output(state)[_FRAME:-1]
    except (Unserialisable, OutputTooLarge) as error:
        raise type(error)(str(error).replace("the output", "the state", 1)) from None
    return b'%b,"state":%b,"state_number":%d}' % (encode_output(output)[:-1], kept, number)


def _name(kind: Any) -> str:
    return getattr(kind, "__qualname__", None) or str(kind)


def _foreign(kind: type[Any], value: Any) -> Any:
    """Values of types msgspec does not know: pydantic models, found by what they can do."""
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        raise TypeError(f"values of {kind.__qualname__} cannot be made from JSON")
    return validate(value)
