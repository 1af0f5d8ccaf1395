"""Messages to durable functions: answers to their waits, signals, and the ends of their children."""

from __future__ import annotations

import msgspec

from detent.engine.family import read_child_end
from detent.engine.held import HeldRun
from detent.graph.model import Ending
from detent.run import events
from detent.run.keys import signal_key
from detent.store.rows import Mail, MessageKind


class SignalData(msgspec.Struct):
    """A signal as it lies in the inbox."""

    name: str
    data: msgspec.Raw = msgspec.Raw(b"null")


_signal = msgspec.json.Decoder(SignalData)


def operation_event(mail: Mail, held: HeldRun) -> events.Event | None:
    """What the message means to an operation of the run's function; null if nothing."""
    match mail.kind:
        case MessageKind.CALLBACK if mail.step is not None:
            return events.OperationEnded(mail.step, 1, Ending.SUCCESS, mail.data, message=mail.id)
        case MessageKind.SIGNAL:
            return _signalled(mail, held)
        case MessageKind.CHILD:
            return _child_ended(mail, held)
        case _:
            return None


def _signalled(mail: Mail, held: HeldRun) -> events.Event | None:
    try:
        signal = _signal.decode(mail.data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    number = held.signals.get(signal.name, 0) + 1
    while (key := signal_key(signal.name, number)) in held.state.history:
        number += 1
    held.signals[signal.name] = number
    result = b'{"output":%b}' % bytes(signal.data)
    return events.OperationEnded(key, 1, Ending.SUCCESS, result, message=mail.id)


def _child_ended(mail: Mail, held: HeldRun) -> events.Event | None:
    end = read_child_end(mail.data)
    if end is None:
        return None
    key = next((key for key, operation in held.state.operations.items() if operation.child == end.child), None)
    if key is None:
        return None
    if end.continued_as is not None:
        return events.OperationBegan(key, 0, child=end.continued_as, message=mail.id)
    return events.OperationEnded(key, 1, end.ending(), end.result(), end.failure(), message=mail.id)
