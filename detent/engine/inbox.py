"""The inbox of the runs that this node owns: callbacks, signals, ends of children, and the commands of users."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from detent.blobs.contents import BlobContents
from detent.engine.cache import GraphCache, Version
from detent.engine.children.family import read_child_end
from detent.engine.owned_run import OwnedRun
from detent.engine.release import is_quarantined
from detent.engine.runner import Runner
from detent.engine.tuning import Tuning
from detent.errors import StoreError
from detent.graph.model import Ending
from detent.ids import RUN, NewId, show
from detent.observe import emit
from detent.planner.context import restore
from detent.planner.moves.version import MoveWish
from detent.planner.prepared import Prepared, reads_inside
from detent.run import events
from detent.run.call import signal_key
from detent.run.outcomes import StepError
from detent.store.protocol import NodeStore
from detent.store.rows import Mail, MessageKind
from detent.values.blob import MARK

# Messages to durable functions: answers to their waits, signals, and the ends of their children.


class SignalData(msgspec.Struct):
    """A signal as it is stored in the inbox."""

    name: str
    data: msgspec.Raw = msgspec.Raw(b"null")


_signal = msgspec.json.Decoder(SignalData)


def child_event(mail: Mail, run: OwnedRun, new_id: NewId) -> events.Event | None:
    """Return the event of a message to an operation of the run's function, or from a child of a step.

    Return None if it means nothing to the run. `new_id` makes the id of the next page of a map.
    """
    match mail.kind:
        case MessageKind.CALLBACK if mail.step is not None:
            return events.OperationEnded(mail.step, 1, Ending.SUCCESS, mail.data, message=mail.id)
        case MessageKind.SIGNAL:
            return _signalled(mail, run)
        case MessageKind.CHILD:
            return _child_ended(mail, run, new_id)
        case _:
            return None


def _signalled(mail: Mail, run: OwnedRun) -> events.Event | None:
    try:
        signal = _signal.decode(mail.data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    number = run.signals.get(signal.name, 0) + 1
    while (key := signal_key(signal.name, number)) in run.state.history:
        number += 1
    run.signals[signal.name] = number
    result = b'{"output":%b}' % bytes(signal.data)
    return events.OperationEnded(key, 1, Ending.SUCCESS, result, message=mail.id)


def _child_ended(mail: Mail, run: OwnedRun, new_id: NewId) -> events.Event | None:
    end = read_child_end(mail.data)
    if end is None:
        return None
    key = run.state.children.get(end.child)
    if key is None:
        return None  # no operation and no step waits for it any more
    if isinstance(key, int):
        if end.continued_as is not None:
            return events.ChildContinued(key, end.child, end.continued_as, mail.id)
        error, result, spare = end.failure(), end.step_result(), None
        if key in run.state.maps:
            error = error and StepError("child", end.error or error.message)
            spare = show(RUN, new_id())
        return events.ChildEnded(key, end.child, end.ending(), result, error, mail.id, end.counts, spare)
    if end.continued_as is not None:
        return events.OperationBegan(key, 0, child=end.continued_as, message=mail.id)
    return events.OperationEnded(key, 1, end.ending(), end.result(), end.failure(), message=mail.id)


def is_settling(run: OwnedRun) -> bool:
    """Return whether the move of a run is being written. Its mail is left until that is durable.

    What a message means may depend on the one before it, and events are deferred until then: the end of a child means
    nothing before the message that names this child is handled.
    """
    return run.unsettled is not None


BATCH: Final = 1_000
#: Seconds until the blobs of a message are read again, after their place did not answer.
_PAUSE: Final = 2.0
#: Messages that are handled although an earlier one cannot be read yet.
_COMMANDS: Final = (MessageKind.CANCEL, MessageKind.PAUSE, MessageKind.RESUME)


class Mailbox:
    """The poller that reads the inbox. A message is journalled and deleted in the same flush, so it counts once."""

    name = "mailbox"

    def __init__(
        self,
        store: NodeStore,
        node: bytes,
        *,
        runner: Runner,
        tuning: Tuning,
        graphs: GraphCache,
        contents: BlobContents,
    ) -> None:
        self._store, self._node, self._runner, self._tuning = store, node, runner, tuning
        self._graphs = graphs
        self._contents = contents
        self._versions: Mapping[Version, tuple[str, Prepared]] = {}
        self._deferred: dict[int, float] = {}  # messages whose blobs could not be read, and when to try again

    async def poll(self) -> float:
        if not self._runner.owned:
            return self._tuning.mail_poll
        mails = await self.look()
        self._versions = await self._load_versions(mails)
        await self._restore_results(mails)
        readable = await self._readable(mails)
        fresh = sum(self._read(mail) for mail in sorted(readable, key=self._waits))
        return 0.0 if fresh and len(mails) == BATCH else self._tuning.mail_poll

    async def _readable(self, mails: Sequence[Mail]) -> list[Mail]:
        """Read the blobs that messages name, and return the messages that can be handled.

        A message whose blobs cannot be read now stays in the inbox, and so do those of its run that came after it. But
        a run can be paused and cancelled meanwhile.
        """
        now = asyncio.get_running_loop().time()
        self._deferred = {mail.id: self._deferred[mail.id] for mail in mails if mail.id in self._deferred}
        readable, blocked = [], set()
        for mail in mails:
            if mail.run in blocked:
                if mail.kind in _COMMANDS:
                    readable.append(mail)
            elif (mail.data.find(MARK) < 0 and mail.kind != MessageKind.MOVE) or await self._has_contents(mail, now):
                readable.append(mail)
            else:
                blocked.add(mail.run)
        return readable

    async def _has_contents(self, mail: Mail, now: float) -> bool:
        run = self._runner.owned.get(mail.run)
        if run is None:
            return False  # it may be claimed before this message is handled
        if mail.id in run.read:
            return True
        if self._deferred.get(mail.id, now) <= now:
            try:
                if mail.kind == MessageKind.MOVE:
                    await self._read_for_move(mail, run)
                else:
                    await self._contents.add(run.reader(), run.state, [mail.data])
            except StoreError as error:
                emit("engine.error", where="content of blobs", run=run.id, error=error.message)
                self._deferred[mail.id] = now + _PAUSE
                run.has_unread = True
                self._runner.stop_unread(run)
            else:
                self._deferred.pop(mail.id, None)
                run.has_unread = False
        return mail.id not in self._deferred

    async def _read_for_move(self, mail: Mail, run: OwnedRun) -> None:
        """Read the blobs of a run for the expressions of another version, if those of its own read none."""
        wish = _move_data(mail.data)
        found = None if wish is None else self._versions.get((bytes.fromhex(wish.workflow), wish.version))
        if found is not None and not reads_inside(run.prepared):
            state = run.state
            known = (state.results, state.early, state.reused)
            raws = [state.facts.input, *(raw for results in known for raw in results.values())]
            await self._contents.add(found[1], state, raws)

    async def _load_versions(self, mails: Sequence[Mail]) -> Mapping[Version, tuple[str, Prepared]]:
        """Return the graphs of the versions that runs are to be moved to, in one query."""
        wishes = [wish for mail in mails if mail.kind == MessageKind.MOVE and (wish := _move_data(mail.data))]
        wanted = [(bytes.fromhex(wish.workflow), wish.version) for wish in wishes]
        return await self._graphs.get(wanted) if wanted else {}

    async def _restore_results(self, mails: Sequence[Mail]) -> None:
        """Take back the results of the runs that are to be moved: another version may read those that left memory."""
        moving = {mail.run for mail in mails if mail.kind == MessageKind.MOVE}
        runs = [run for id_ in moving if (run := self._runner.owned.get(id_)) is not None]
        for run in runs:
            run.state.keeps_results = True
        lean = [run for run in runs if run.state.let_go]
        journals = await self._store.journals([run.id for run in lean]) if lean else {}
        for run in lean:
            restore(run.prepared, run.state, journals.get(run.id, ()))

    async def look(self) -> list[Mail]:
        """Return the oldest messages of the runs that this node owns, without handling them."""
        return await self._store.mail(self._node, limit=BATCH)

    def _waits(self, mail: Mail) -> bool:
        """Return the sort key of a message. Messages are read in order, but the cancel of a quarantined run is first.

        So a run that is quarantined because of one of its messages can still be cancelled.
        """
        run = self._runner.owned.get(mail.run)
        return run is None or mail.kind != MessageKind.CANCEL or not is_quarantined(run.state.paused_by)

    def _read(self, mail: Mail) -> bool:
        run = self._runner.owned.get(mail.run)
        # The message belongs to another generation, or was read already: the run changed while the query was under way.
        if run is None or run.generation != mail.generation or mail.id in run.read:
            return False
        if run.state.is_over:
            return False  # the flush of its end deletes or forwards its unread messages
        if mail.kind == MessageKind.MOVE and run.state.let_go:
            return False  # a result is not durable yet: the message is read again later
        if is_settling(run):
            return False
        run.read.add(mail.id)
        if mail.kind == MessageKind.MOVE:
            self._move(mail, run)
            return True
        event = self._event(mail, run.prepared.numbers) or child_event(mail, run, self._runner.new_id)
        if event is None:
            self._runner.drop_message(run, mail.id)
        else:
            self._runner.handle(run, event, message=mail.id)
        return True

    def _move(self, mail: Mail, run: OwnedRun) -> None:
        wish = _move_data(mail.data)
        if wish is None:
            self._runner.drop_message(run, mail.id)
            return
        found = self._versions.get((bytes.fromhex(wish.workflow), wish.version))
        asked = MoveWish(wish.version, run.version, wish.names, wish.by)
        self._runner.moves.ask(run, asked, None if found is None else found[1], wish.code, mail.id)

    def _event(self, mail: Mail, numbers: dict[str, int]) -> events.Event | None:
        match mail.kind:
            case MessageKind.CALLBACK if mail.step in numbers:
                return events.Received(numbers[mail.step], mail.data, mail.id)
            case MessageKind.NOTE if mail.step is not None:
                return events.Noted(numbers.get(mail.step, mail.step), mail.data, mail.id)
            case MessageKind.CANCEL:
                return events.Cancelled(_by(mail.data))
            case MessageKind.PAUSE:
                return events.Paused(_by(mail.data))
            case MessageKind.RESUME:
                return events.Resumed(_by(mail.data))
            case MessageKind.FINISH:
                return events.Finished(_by(mail.data))
            case MessageKind.RESOLVE:
                return _resolved(mail.data, numbers)
            case MessageKind.SKIP | MessageKind.REATTEMPT:
                return _steered(mail, numbers)
            case _:
                return None


class _Sender(msgspec.Struct):
    by: str = "unknown"


_sender = msgspec.json.Decoder(_Sender)


def _by(data: bytes) -> str:
    try:
        return _sender.decode(data).by
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _Sender().by  # the command counts, even if its sender is unknown


class MoveData(msgspec.Struct):
    """A move to another version as stored in the inbox. `workflow` is its id in hexadecimal. `code` is what a node
    must have to run that version."""

    workflow: str
    version: int
    code: list[str]
    names: dict[str, str] = {}
    by: str = "unknown"


_read_move = msgspec.json.Decoder(MoveData)


def _move_data(data: bytes) -> MoveData | None:
    try:
        wish = _read_move.decode(data)
        bytes.fromhex(wish.workflow)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError):
        return None
    return wish


class _Wish(msgspec.Struct):
    """A skip or reattempt as stored in the inbox. `step=None` means the current step of the run."""

    step: str | None = None
    by: str = "unknown"
    wait: float = 0.0


_wish = msgspec.json.Decoder(_Wish)


def _steered(mail: Mail, numbers: dict[str, int]) -> events.Event | None:
    try:
        wish = _wish.decode(mail.data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if wish.step is not None and wish.step not in numbers:
        return None
    step = None if wish.step is None else numbers[wish.step]
    if mail.kind == MessageKind.SKIP:
        return events.Skipped(step, wish.by)
    return events.Reattempted(step, wish.wait, wish.by)


class _Resolution(msgspec.Struct):
    """A user's answer whether a step happened. `result` is in the form in which an executor returns it."""

    step: str
    happened: bool
    by: str = "unknown"
    result: msgspec.Raw = msgspec.Raw(b"")


_resolution = msgspec.json.Decoder(_Resolution)


def _resolved(data: bytes, numbers: dict[str, int]) -> events.Event | None:
    try:
        said = _resolution.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if said.step not in numbers:
        return None
    return events.Resolved(numbers[said.step], said.happened, bytes(said.result) or None, said.by)
