"""The engine of one process: it serves one node, and replaces a lost node, until `stop` is called."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from detent.blobs.contents import BlobContents
from detent.blobs.library import BlobLibrary
from detent.clock import Clock, DatabaseTime, SystemClock
from detent.engine.cache import GraphCache
from detent.engine.callbacks import CallbackTokens
from detent.engine.children.family import Children
from detent.engine.committer import Fenced
from detent.engine.context import AvailableCode, Executors, NodeContext
from detent.engine.node import Node
from detent.engine.tuning import Tuning
from detent.errors import StoreError, Unavailable
from detent.graph.model import StepKind
from detent.ids import NewId
from detent.observe import emit
from detent.steps.child_step import ChildExecutor
from detent.steps.logs.attempt_log import hear_logging
from detent.steps.logs.loop_watch import LoopWatch
from detent.steps.protocol import StepExecutor
from detent.store.protocol import Hints, Store
from detent.vault.sealing import Vault
from detent.vault.secrets import SecretOpener

AFTER_LOSS: Final = 0.2


def _nothing_heard() -> None:
    """Do nothing: the engine was not started."""


class Engine:
    """The engine of one process. It owns the current node and what its nodes share: graphs, clock, executors.

    Call `start`, use `node` to reach its runs, then call `stop`.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        tokens: CallbackTokens,
        executors: Mapping[StepKind, StepExecutor],
        serves: Collection[str] = (),
        tuning: Tuning | None = None,
        new_id: NewId,
        claims: bool = True,
        hints: Hints | None = None,
        secrets: SecretOpener | None = None,
        seal_key: bytes | None = None,
        seals: bool = False,
        blobs: BlobLibrary | None = None,
    ) -> None:
        self.blobs = blobs or BlobLibrary(store)
        self.contents = BlobContents(self.blobs)
        self.seal_key = seal_key
        self.store, self.clock, self.tokens = store, clock, tokens
        self.tuning = tuning or Tuning()
        self.time = DatabaseTime(clock)
        self.graphs = GraphCache(store)
        self.new_id = new_id
        self.does_claim = claims
        self._executors: dict[StepKind, StepExecutor] = {ChildExecutor.kind: ChildExecutor(), **executors}
        self.children = Children(new_id, store.existing, store.run, store.journals)
        self.served = AvailableCode(serves)
        self.secrets = secrets or SecretOpener(Vault(()))
        self._watch = LoopWatch(clock.monotonic) if isinstance(clock, SystemClock) else None
        self._context = NodeContext(
            store,
            clock,
            self.time,
            self.tuning,
            self.graphs,
            Executors(self._executors, self.secrets, self.contents),
            self.served,
            tokens.url,
            self.children,
            hints,
            seal_key if seals else None,
            self._watch,
        )
        self._node: Node | None = None
        self._serving: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._unhear: Callable[[], None] = _nothing_heard
        self._outage: str | None = None  # why no new node could be registered
        self._mine: tuple[bytes, ...] = ()  # the nodes of this engine that the store may know

    @property
    def node(self) -> Node:
        """Return the current node. Raise Unavailable if there is none or the engine is stopping."""
        if self._node is None or self._is_stopping:
            raise Unavailable("the engine is not running; try again")
        return self._node

    @property
    def serves(self) -> Sequence[str]:
        """Return the names of the user code that it can run."""
        return self.served.all()

    @property
    def is_ready(self) -> bool:
        return self.outage() is None

    def outage(self) -> str | None:
        """Return why this engine cannot take work now, or None."""
        if self._is_stopping:
            return "the engine is draining"
        if self._node is None:
            return self._outage or "the engine is starting"
        return self._node.outage()

    async def start(self) -> None:
        """Register the first node and begin to work. Raise StoreError if the store cannot be reached."""
        node = await self._register(None)
        self._unhear = hear_logging()
        if self._watch is not None:
            self._watch.start()
        self._serving = asyncio.get_running_loop().create_task(self._serve(node))

    async def stop(self) -> None:
        """Drain and retire the node. Attempts in flight get time to end; all other runs are released at once."""
        node, self._is_stopping = self._node, True
        if node is not None:
            await node.drain()
        if self._serving:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
        for mine in self._mine:
            await self._retire(mine)
        self._unhear()
        if self._watch is not None:
            self._watch.stop()
        for executor in self._executors.values():
            await executor.close()
        emit("engine.stopped")

    async def _serve(self, node: Node) -> None:
        while True:
            try:
                await node.serve(claims=self.does_claim)
            except Fenced:
                emit("engine.lost", node=node.id)
            except Exception as error:  # noqa: BLE001 - a bug in one loop: start a new node instead of stopping
                emit("engine.error", where="node", error=_describe(error))
            self._node = None
            if self._is_stopping:
                return  # `stop` was called while the node was being lost, and its cancellation was swallowed
            node = await self._begin_again(node.id)

    async def _begin_again(self, lost: bytes) -> Node:
        while True:
            await asyncio.sleep(AFTER_LOSS)
            try:
                return await self._register(lost)
            except StoreError as error:
                self._outage = error.outage
                emit("engine.error", where="register", error=error.message)

    async def _register(self, lost: bytes | None) -> Node:
        id_ = self.new_id()
        if lost is not None:
            self._mine = (lost, id_)
        epoch, now = await self.store.register(
            id_,
            ttl=self.tuning.lease,
            queues=self.tuning.queues if self.does_claim else (),
            actions=self.served.all(),
        )
        self.time.heard(now)
        if lost is not None:
            await self._retire(lost)  # other nodes can claim its runs at once
        self._mine = (id_,)
        self._node, self._outage = Node(self._context, id_, epoch), None
        emit("engine.started", node=id_)
        return self._node

    async def _retire(self, node: bytes) -> None:
        try:
            await self.store.retire(node)
        except StoreError as error:
            # No retry: the lease of the node expires anyway.
            emit("engine.error", where="retire", error=error.message)


def _describe(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return "".join(traceback.format_exception(error))[-4000:]
