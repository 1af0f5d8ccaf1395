"""The planner decides what happens next in a run. It is pure: the same input returns the same plan, in microseconds.

`advance` turns an event into a plan. `fold` builds the state from a journal and evaluates no expression again. A run
begins with `open_run`, with `open_later` and the event `Opened`, or with `begin_again` if it reuses results of another
run. `why` explains what blocks a run.
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
