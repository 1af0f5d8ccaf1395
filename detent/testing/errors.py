"""Errors that the test helpers raise, as failed assertions."""

from __future__ import annotations


class NeverEnds(AssertionError):
    """A run waits for something that never happens."""


class NotDeterministic(AssertionError):
    """A durable function took another route when it was replayed."""
