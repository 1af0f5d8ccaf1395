"""Close the callbacks of active waits before their run ends for another reason.

A callback may be accepted while a cancel is on its way. Its payload must count then, because its sender was told so. So
the callbacks are expired in the store first. A wait whose callback was expired can receive nothing more. Where the
store answers that a payload came first, the payload is in the inbox: it is read, and then the run is stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from detent.engine.owned_run import Happen, OwnedRun, Stopping
from detent.engine.release import is_quarantined
from detent.planner.flow import can_skip
from detent.run import events
from detent.run.call import Op, op_of
from detent.run.outcomes import Cancel, Finish
from detent.run.state import Phase

#: What ends a run from outside.
_ENDING: Final = frozenset({events.Cancelled, events.Expired, events.Finished})
_ENDING_OUTCOMES: Final = (Cancel, Finish)


def may_end_waits(event: events.Event) -> bool:
    """Whether an event can end waits without their callbacks."""
    kind = type(event)
    if isinstance(event, events.AttemptEnded):
        return isinstance(event.outcome, _ENDING_OUTCOMES)
    return kind in _ENDING or kind is events.Skipped


class WaitCloser:
    """Keeps what stops a run (`OwnedRun.stopping`) until the callbacks of the waits that it ends are closed."""

    def __init__(self, handle: Happen, expire: Callable[[OwnedRun, int | str], None]) -> None:
        """`expire` asks the store to expire the callback of a wait."""
        self._handle, self._expire = handle, expire

    def defer(self, held: OwnedRun, event: events.Event, message: int | None) -> bool:
        """Return whether the event has to wait for callbacks to be closed. Then it is kept."""
        if isinstance(event, events.Skipped) and event.step is None:
            event = events.Skipped(can_skip(held.state, None), event.by)  # the step that is meant now
        waits = _ended_by(held, event)
        if not waits or is_quarantined(held.state.paused_by):  # its payload may be what it cannot be planned with
            return False
        stopping = held.stopping = held.stopping or Stopping()
        if stopping.closed.issuperset(waits):
            return False
        if (event, message) not in stopping.events:
            stopping.events.append((event, message))
        for wait in waits:
            if wait not in stopping.closing:
                stopping.closing.add(wait)
                self._expire(held, wait)
        return True

    def is_stopping(self, held: OwnedRun, wait: int | str, *, expired: bool) -> bool:
        """Note the answer of the store. Return whether it was asked because the run stops."""
        if held.stopping is None or wait not in held.stopping.closing:
            return False
        if expired:
            held.stopping.closed.add(wait)
        return True

    def go_on(self, held: OwnedRun, stopping: Stopping) -> None:
        """Handle what was kept. What must still wait is kept again."""
        kept, stopping.events = stopping.events, []
        for event, message in kept:
            self._handle(held, event, message=message)


def _ended_by(held: OwnedRun, event: events.Event) -> list[int | str]:
    """The active waits that would end without a callback. A durable function that ends gives up its waits itself."""
    state = held.state
    if isinstance(event, events.Skipped):
        return [event.step] if event.step is not None and state.phase[event.step] is Phase.WAITING else []
    waits: list[int | str] = [index for index, phase in enumerate(state.phase) if phase is Phase.WAITING]
    if type(event) in _ENDING:
        waits += [key for key in state.operations if op_of(key) is Op.WAIT]
    return waits
