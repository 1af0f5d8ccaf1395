"""A small stage for one fault at a time: nodes, a target and a client whose every word is on record."""

import signal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from detent.engine.callbacks import CallbackTokens
from detent.ids import RUN, parse
from tests.chaos.checker import Checker, Verdict
from tests.chaos.cluster import Cluster, Node, eventually
from tests.chaos.evidence import Evidence, gather
from tests.chaos.load import ClientLog
from tests.chaos.programs import Program
from tests.chaos.tuning import SECRET
from tests.servers.target import Target

PATIENCE = 300.0


class Scene:
    """Use as a context manager; leaving it ends every process it started."""

    def __init__(self, store: str, folder: Path, *programs: Program, options: tuple[str, ...] = ()) -> None:
        self.store, self._folder, self._programs = store, folder, programs
        self.cluster = Cluster(store, folder, options)
        self.target = Target(folder / "ledger")
        self._log = ClientLog(folder / "clients")
        self._tokens = CallbackTokens(SECRET, "http://127.0.0.1")
        self._number = 0

    def __enter__(self) -> Self:
        self.target.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cluster.__exit__(kind, error, trace)
        self.target.stop()
        self._log.close()

    def node(self, *options: str, failpoint: str | None = None) -> Node:
        """A new node that is up and knows the programs."""
        node = self.cluster.add(*options, failpoint=failpoint).start()
        for program in self._programs:
            node.save(program.definition)
        return node

    def begin(self, node: Node, program: Program, **given: Any) -> str | None:
        """Start a run and give its id, or null if nobody answered."""
        self._number += 1
        self._log.write(op="start", n=self._number, program=program.name)
        try:
            run = node.begin(program.name, {"n": self._number, "target": self.target.url(), **given})
        except OSError:
            self._log.write(op="unknown", n=self._number)
            return None
        self._log.write(op="ok", n=self._number, run=run)
        return run

    def call_back(self, node: Node, run: str, step: str) -> bool:
        """Send the callback of a wait; false if nobody answered."""
        token, message = self._tokens.token(parse(RUN, run), step), f"{run}/{step}/1"
        try:
            answer = node.ask(f"/wh/{token}", {"message": message}, headers={"webhook-id": message})
        except OSError:
            return False
        self._log.write(op="callback", run=run, step=step, message=message, **answer)
        return True

    def await_hits(self, count: int, path: str = "/") -> None:
        """Wait until the target has heard so often of addresses that begin so."""
        eventually(PATIENCE, lambda: self.hits(path) >= count)

    def hits(self, path: str = "/") -> int:
        return sum(hit.path.startswith(path) for hit in self.target.hits())

    def await_end(self, node: Node) -> float:
        """Wait until no run is open; gives the seconds it took."""
        return eventually(PATIENCE, lambda: not node.ask("/open")["open"])

    def await_status(self, node: Node, run: str, *statuses: str) -> dict[str, Any]:
        eventually(PATIENCE, lambda: node.run(run)["status"] in statuses)
        return node.run(run)

    def settle(self, node: Node, *, releases: int = 0) -> tuple[Verdict, Evidence]:
        """Send the callbacks that are still wanted, wait for the end, stop every node, and judge. `releases`: how often
        a node stopped gracefully in the middle of an attempt, which is then made again with its number."""
        programs = {program.name: program for program in self._programs}
        for found in node.ask("/open")["open"]:
            for step in programs[found["workflow"]].callbacks:
                self.call_back(node, found["run"], step)
        self.await_end(node)
        # A node that lost its lease began again under another id, and takes over what it was a little later.
        alive = sum(one.is_alive for one in self.cluster.nodes)
        eventually(PATIENCE, lambda: len(self._gather().nodes) <= alive, every=0.2)
        for other in self.cluster.nodes:
            other.end(signal.SIGTERM)
        evidence = self._gather()
        if evidence.nodes:
            self.cluster.clear_up(lambda: len(self._gather().nodes))
            evidence = self._gather()
        return Checker(evidence, programs, releases).check(), evidence

    def _gather(self) -> Evidence:
        return gather(self.store, self.target.ledger, self._folder / "clients")
