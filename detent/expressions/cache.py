"""What one piece of work has compiled is kept until its end.

The caches of compiled texts have a limit for the whole process. A large definition has more texts than that. It needs
each of them several times (problems, references, language), and the limit would let each be compiled every time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
_kept: ContextVar[dict[object, object] | None] = ContextVar("kept", default=None)


@contextmanager
def keep_compiled() -> Iterator[None]:
    """Compile every text inside at most once, however many there are."""
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def kept(compiled: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Return what a function has compiled from these arguments. An error is not kept."""
    memory = _kept.get()
    if memory is None:
        return compiled(*given, **named)
    key = compiled, given
    if key not in memory:
        memory[key] = compiled(*given, **named)
    return cast(T, memory[key])
