"""`self.state`: a value of the user's own type that each step passes to the next.

It is stored beside the output of each step that touched it, with an increasing number. The largest number is the
newest state, even if the steps were reordered since.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from difflib import unified_diff
from typing import Any, Final, get_origin, is_typeddict

import msgspec

from detent.errors import InvalidInput
from detent.graph import codec
from detent.graph.model import Graph
from detent.python.settings import DriftPolicy
from detent.run.call import RunView
from detent.run.outcomes import Move, Pause, StepError
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


# Drift: what happens to a run whose class has changed since the run began.
#
# The check compares the steps in their order and the waits between them. Bodies may change at any time: a step that
# has not run yet runs the current code. With `pin` the code is always the same here: a node with other code does not
# claim the run.


_MOST_KNOWN: Final = 64
LEFT: Final = "left"  # in the config of the first step of a moved graph: the newest result of the removed steps


class DriftCheck:
    """Compares the graphs of runs with the graph of one class, and caches the answers."""

    def __init__(self, name: str, drift: DriftPolicy, graph: Graph) -> None:
        self._name, self._drift, self._graph = name, drift, graph
        self._answers: dict[int, tuple[Graph, Move | Pause | None]] = {}

    def answer(self, view: RunView) -> Move | Pause | None:
        """Return what to do with that run, or None if it may continue."""
        answer = self._known(view.graph)
        return self._with_state(view, answer) if isinstance(answer, Move) else answer

    def _known(self, graph: Graph) -> Move | Pause | None:
        known = self._answers.get(id(graph))
        if known is not None:  # the cache also stores the graph, so no other object can get its id
            return known[1]
        if len(self._answers) >= _MOST_KNOWN:
            self._answers.clear()
        answer = self._compare(graph)
        self._answers[id(graph)] = graph, answer
        return answer

    def _compare(self, graph: Graph) -> Move | Pause | None:
        was, now = _lines(graph), _lines(self._graph)
        if was == now:
            return None
        if self._drift is not DriftPolicy.STRICT:
            return Move(codec.encode(self._graph))
        diff = "\n".join(unified_diff(was, now, "when the run began", "now", lineterm="", n=len(was) + len(now)))
        message = f"the steps of {self._name!r} have changed since the run began"
        return Pause("changed code", StepError("drift", message, {"diff": diff}))

    def _with_state(self, view: RunView, move: Move) -> Move:
        """Return the move. Add the newest state to it if the step that stored this state is gone."""
        left = {step.name: view.result_of(step.name) for step in view.graph.steps}
        kept = newest([*left.values(), left_state(view.graph)])
        names = {step.name for step in self._graph.steps}
        if kept is None or any(raw == kept and name in names for name, raw in left.items()):
            return move
        first, *others = self._graph.steps
        text = base64.b64encode(kept).decode()  # no template can be in it
        carrying = replace(first, config={**first.config, LEFT: text})
        return Move(codec.encode(replace(self._graph, steps=(carrying, *others))))


def left_state(graph: Graph) -> bytes | None:
    """Return the result, with its state, of a step that the graph of a moved run no longer has."""
    text = graph.steps[0].config.get(LEFT) if graph.steps else None
    return None if text is None else base64.b64decode(text)


def _lines(graph: Graph) -> list[str]:
    return [f"{step.name}" + (f" after {step.delay:g} s" if step.delay else "") for step in graph.steps]
