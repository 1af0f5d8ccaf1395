"""What can be asked of triggers. The API, the command line and the tests all call this and nothing else."""

from __future__ import annotations

from detent.triggers.editor import MOST_PREVIEWED, KeepingCommands
from detent.triggers.firing import Backfilled
from detent.triggers.receiver import FORGED, ReceivingCommands, Sent

__all__ = ["FORGED", "MOST_PREVIEWED", "Backfilled", "Sent", "TriggerCommands"]


class TriggerCommands(KeepingCommands, ReceivingCommands):
    """Commands on the triggers of one engine's store."""
