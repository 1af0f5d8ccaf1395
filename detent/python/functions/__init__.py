"""Durable functions: coroutines whose steps, sleeps and waits are stored.

`workflow` decorates one, `Run` is its first argument, `gather` waits for several operations at once.
"""

from asyncio import gather

from detent.python.functions.approval import Approval
from detent.python.functions.errors import ChildFailed, StepFailed, WaitTimeout
from detent.python.functions.run import Run, WaitCallback
from detent.python.functions.step import StepContext
from detent.python.functions.workflow import FunctionWorkflow, workflow

__all__ = [
    "Approval",
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
