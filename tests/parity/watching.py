"""Looks at runs as a program would: through their handles."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from detent import sync

PATIENCE = 300.0
_NEVER = threading.Event()


def ended(run: sync.RunHandle) -> Any:
    """The run once it has ended."""
    return run.wait(timeout=PATIENCE)


def until(run: sync.RunHandle, status: str) -> Any:
    """The run once it has that status."""
    return until_so(run, lambda document: document.status == status)


def until_step(run: sync.RunHandle, step: str, *statuses: str) -> Any:
    """The run once that step has one of these statuses."""
    return until_so(run, lambda document: document.steps[step].status in statuses)


def until_so(run: sync.RunHandle, is_so: Callable[[Any], bool]) -> Any:
    limit = time.monotonic() + PATIENCE
    while not is_so(document := run.get()):
        assert time.monotonic() < limit, f"it never came to be: {document}"
        _NEVER.wait(0.01)  # only the store knows
    return document


def wait_for(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < limit, "it never came to be"
        _NEVER.wait(0.005)


def endings(document: Any) -> dict[str, str]:
    return {name: step.status for name, step in document.steps.items()}


def outcomes(run: sync.RunHandle) -> list[tuple[str, str]]:
    """Every attempt that is over, with what came of it."""
    return [(attempt.step, attempt.outcome) for attempt in run.history()]
