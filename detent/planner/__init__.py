"""The planner says what happens next: pure, the same answer for the same question, in microseconds.

`advance` takes an event and gives a plan; `fold` makes a state from a journal without evaluating anything again. A run
begins by `open_run`, by `open_later` and the event `Opened`, or, with results of another run, by `begin_again`. `why`
says what keeps a run from going on.
"""

from detent.planner.advance import advance, open_later, open_run
from detent.planner.fold import fold
from detent.planner.prepared import Prepared, prepare
from detent.planner.reuse import Reuse, begin_again, fork_plan, retry_plan
from detent.planner.why import Reason, why

__all__ = [
    "Prepared",
    "Reason",
    "Reuse",
    "advance",
    "begin_again",
    "fold",
    "fork_plan",
    "open_later",
    "open_run",
    "prepare",
    "retry_plan",
    "why",
]
