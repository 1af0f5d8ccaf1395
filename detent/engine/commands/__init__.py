"""What can be asked of Detent. The API, the command line, the triggers and the tests all call this and nothing else.

No rule lives in a door: a door translates what it got, calls one command, and renders the answer.
"""

from __future__ import annotations

from detent.engine.commands.bulk import BulkCommands
from detent.engine.commands.callbacks import CallbackCommands
from detent.engine.commands.flow import FlowCommands
from detent.engine.commands.functions import FunctionCommands
from detent.engine.commands.ground import DEFAULT_TENANT, INPUT_LIMIT
from detent.engine.commands.heroes import HeroCommands
from detent.engine.commands.starts import Given, Start, StartOptions, encode_input
from detent.engine.commands.why import WhyCommands
from detent.engine.commands.workflows import WorkflowCommands

__all__ = ["DEFAULT_TENANT", "INPUT_LIMIT", "Commands", "Given", "Start", "StartOptions", "encode_input"]


class Commands(
    FunctionCommands, FlowCommands, WorkflowCommands, BulkCommands, WhyCommands, HeroCommands, CallbackCommands
):
    """Commands on one engine's store."""
