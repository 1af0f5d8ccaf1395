"""The planner says what happens next: pure, the same answer for the same question, in microseconds.

`advance` takes an event and gives a plan; `fold` makes a state from a journal without evaluating anything again.
"""

from detent.planner.advance import advance, open_run
from detent.planner.fold import fold
from detent.planner.prepared import Prepared, prepare

__all__ = ["Prepared", "advance", "fold", "open_run", "prepare"]
