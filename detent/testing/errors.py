"""Errors that the test helpers raise, as failed assertions."""

from __future__ import annotations


class NeverEnds(AssertionError):
    """A run waits for something that never happens."""


class AnswerRefused(AssertionError):
    """An answer of the test was refused by the wait that it is for. `name` is that of the wait."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"the answer of {name!r} is refused: {message}")
        self.name, self.message = name, message


class NotDeterministic(AssertionError):
    """A durable function took another route when it was replayed."""
