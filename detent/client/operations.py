"""Sync and async methods, built from one description of each operation.

An operation is a function that describes an exchange. As an attribute of a class it becomes a method with the same
parameters. On a `Blocking` object the method returns the result, on an `Awaiting` object an awaitable of the result.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from inspect import signature
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from detent.client.calls import ManyAnswers, OneAnswer
from detent.client.drivers import AsyncDriver, Driver

P = ParamSpec("P")
T = TypeVar("T")


class Blocking:
    """An object whose operations block. `about` are the first arguments of each operation, such as the id of a run."""

    def __init__(self, driver: Driver, *about: str) -> None:
        self.driver = driver
        self.about = about


class Awaiting:
    """An object whose operations are awaited. `about` are the first arguments of each operation, as in `Blocking`."""

    def __init__(self, driver: AsyncDriver, *about: str) -> None:
        self.driver = driver
        self.about = about


class Method(Generic[P, T]):
    """A descriptor: an operation in the body of a class."""

    def __init__(self, describe: Callable[..., T], *, given: int = 0) -> None:
        self._describe, self.__doc__ = describe, describe.__doc__
        known = signature(describe)
        # `about` is not a parameter of the method.
        self._signature = known.replace(parameters=[*known.parameters.values()][given:])

    def __set_name__(self, kind: type, name: str) -> None:
        self.__name__ = name

    def bound(self, face: Blocking | Awaiting, act: Callable[[T], object]) -> Callable[P, object]:
        def method(*args: P.args, **options: P.kwargs) -> object:
            return act(self._describe(*face.about, *args, **options))

        method.__name__, method.__doc__ = self.__name__, self.__doc__
        method.__signature__ = self._signature  # type: ignore[attr-defined]
        return method


class Asks(Method[P, OneAnswer[T]]):
    """An operation with one answer."""

    @overload
    def __get__(self, face: None, kind: type) -> Self: ...
    @overload
    def __get__(self, face: Blocking, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, face: Awaiting, kind: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, face: Blocking | Awaiting | None, kind: type) -> object:
        return self if face is None else self.bound(face, face.driver.ask)


class Streams(Method[P, ManyAnswers[T]]):
    """An operation that yields answers one by one."""

    @overload
    def __get__(self, face: None, kind: type) -> Self: ...
    @overload
    def __get__(self, face: Blocking, kind: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, face: Awaiting, kind: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, face: Blocking | Awaiting | None, kind: type) -> object:
        return self if face is None else self.bound(face, face.driver.stream)


def asks(describe: Callable[P, OneAnswer[T]]) -> Asks[P, T]:
    return Asks(describe)


def streams(describe: Callable[P, ManyAnswers[T]]) -> Streams[P, T]:
    return Streams(describe)
