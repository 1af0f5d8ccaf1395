"""What can be asked of Detent. The API, the command line, the triggers and the tests all call this and nothing else.

No rule lives in a door: a door translates what it got, calls one command, and renders the answer.
"""

from __future__ import annotations

from detent.commands.bulk import BulkCommands
from detent.commands.callbacks import CallbackCommands
from detent.commands.control import FlowCommands
from detent.commands.runs import HeroCommands, WhyCommands
from detent.commands.signals import FunctionCommands
from detent.commands.start import RunInput, StartAnswer, StartOptions, encode_input
from detent.commands.workflows import WorkflowCommands
from detent.settings import DEFAULT_TENANT
from detent.values.limits import INPUT_LIMIT

__all__ = ["DEFAULT_TENANT", "INPUT_LIMIT", "Commands", "RunInput", "StartAnswer", "StartOptions", "encode_input"]


class Commands(
    FunctionCommands, FlowCommands, WorkflowCommands, BulkCommands, WhyCommands, HeroCommands, CallbackCommands
):
    """Commands on one engine's store."""
