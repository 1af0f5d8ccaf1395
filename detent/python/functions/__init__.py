"""Durable functions: plain control flow whose steps, sleeps and waits are kept.

`workflow` makes one, `Run` is what it is given, `gather` waits for several operations at once.
"""

from asyncio import gather

from detent.python.functions.errors import ChildFailed, StepFailed, WaitTimeout
from detent.python.functions.run import Run, WaitCallback
from detent.python.functions.step import StepContext
from detent.python.functions.workflow import FunctionWorkflow, workflow

__all__ = [
    "WaitCallback",
    "ChildFailed",
    "FunctionWorkflow",
    "Run",
    "StepContext",
    "StepFailed",
    "WaitTimeout",
    "gather",
    "workflow",
]
