"""Tests of workflows: a run to its end at once, and a run killed at each of its moments.

    from detent.testing import crash_matrix, speedrun

What is here runs the engine itself, on a memory store under a fake clock.
"""

from detent.store.memory import MemoryStore
from detent.testing.answers import Asked, Response
from detent.testing.clock import FakeClock
from detent.testing.crash_matrix import CrashMatrix, Point, crash_matrix
from detent.testing.ending import Speedrun, StepRun
from detent.testing.engine import MemoryEngine, MemoryRun
from detent.testing.speedrun import speedrun, speedrun_async
from detent.testing.trial import NeverEnds

__all__ = [
    "Asked",
    "CrashMatrix",
    "FakeClock",
    "MemoryEngine",
    "MemoryRun",
    "MemoryStore",
    "NeverEnds",
    "Point",
    "Response",
    "Speedrun",
    "StepRun",
    "crash_matrix",
    "speedrun",
    "speedrun_async",
]
