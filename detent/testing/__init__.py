"""Test helpers for workflows: a run to its end at once, and a run killed at each of its moments.

    from detent.testing import crash_matrix, speedrun

The helpers run the real engine, on a memory store with a fake clock. Each name is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detent.store.memory.store import MemoryStore
    from detent.testing.answers import After, Output, Response, StepRequest, raised
    from detent.testing.clock import FakeClock
    from detent.testing.crashes import CrashMatrix, CrashPoint, crash_matrix
    from detent.testing.engine import MemoryEngine, MemoryRun
    from detent.testing.errors import AnswerRefused, NeverEnds, NotDeterministic
    from detent.testing.result import Speedrun, StepRun
    from detent.testing.speedruns import speedrun, speedrun_async

_HOMES = {
    "After": "detent.testing.answers",
    "AnswerRefused": "detent.testing.errors",
    "StepRequest": "detent.testing.answers",
    "CrashMatrix": "detent.testing.crashes",
    "FakeClock": "detent.testing.clock",
    "MemoryEngine": "detent.testing.engine",
    "MemoryRun": "detent.testing.engine",
    "MemoryStore": "detent.store.memory.store",
    "NeverEnds": "detent.testing.errors",
    "NotDeterministic": "detent.testing.errors",
    "Output": "detent.testing.answers",
    "CrashPoint": "detent.testing.crashes",
    "Response": "detent.testing.answers",
    "Speedrun": "detent.testing.result",
    "StepRun": "detent.testing.result",
    "crash_matrix": "detent.testing.crashes",
    "raised": "detent.testing.answers",
    "speedrun": "detent.testing.speedruns",
    "speedrun_async": "detent.testing.speedruns",
}
__all__ = [
    "After",
    "AnswerRefused",
    "StepRequest",
    "CrashMatrix",
    "FakeClock",
    "MemoryEngine",
    "MemoryRun",
    "MemoryStore",
    "NeverEnds",
    "NotDeterministic",
    "Output",
    "CrashPoint",
    "Response",
    "Speedrun",
    "StepRun",
    "crash_matrix",
    "raised",
    "speedrun",
    "speedrun_async",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'detent.testing' has no attribute {name!r}")
