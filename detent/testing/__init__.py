"""Tests of workflows: a run to its end at once, and a run killed at each of its moments.

    from detent.testing import crash_matrix, speedrun

What is here runs the engine itself, on a memory store under a fake clock. It is loaded when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detent.store.memory import MemoryStore
    from detent.testing.answers import After, Asked, Output, Response
    from detent.testing.at_once import speedrun, speedrun_async
    from detent.testing.clock import FakeClock
    from detent.testing.crashing import CrashMatrix, Point, crash_matrix
    from detent.testing.ending import Speedrun, StepRun
    from detent.testing.engine import MemoryEngine, MemoryRun
    from detent.testing.raising import raised
    from detent.testing.trial import NeverEnds, NotTheSame

_HOMES = {
    "After": "detent.testing.answers",
    "Asked": "detent.testing.answers",
    "CrashMatrix": "detent.testing.crashing",
    "FakeClock": "detent.testing.clock",
    "MemoryEngine": "detent.testing.engine",
    "MemoryRun": "detent.testing.engine",
    "MemoryStore": "detent.store.memory",
    "NeverEnds": "detent.testing.trial",
    "NotTheSame": "detent.testing.trial",
    "Output": "detent.testing.answers",
    "Point": "detent.testing.crashing",
    "Response": "detent.testing.answers",
    "Speedrun": "detent.testing.ending",
    "StepRun": "detent.testing.ending",
    "crash_matrix": "detent.testing.crashing",
    "raised": "detent.testing.raising",
    "speedrun": "detent.testing.at_once",
    "speedrun_async": "detent.testing.at_once",
}
__all__ = [
    "After",
    "Asked",
    "CrashMatrix",
    "FakeClock",
    "MemoryEngine",
    "MemoryRun",
    "MemoryStore",
    "NeverEnds",
    "NotTheSame",
    "Output",
    "Point",
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
