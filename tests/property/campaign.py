"""Asks every operation of the document again and again until the time is over, and keeps what was broken."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import hypothesis
import requests
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Flaky, Unsatisfiable
from hypothesis.strategies import SearchStrategy
from schemathesis.core.result import Ok

from tests.property.judging import Broken, ask, judge
from tests.property.pools import Pools
from tests.property.requests_of import Kind, Operation, Request, can_be, cases
from tests.property.server import served

Tell = Callable[[str], None]
#: Whether an operation gets requests of that kind.
Wanted = Callable[[str, Kind], bool]
Edit = Callable[[dict[str, Any]], None]

#: How many requests an operation gets in one turn, and how long a smaller request that breaks the same is sought.
PER_TURN: Final = 5
_SHRINK_SECONDS: Final = 5.0
_ENOUGH: Final = 20
#: Where a person would ask again.
_ADDRESS: Final = "http://127.0.0.1:8080"


@dataclass(frozen=True)
class Violation:
    """One promise broken: by which request of which operation, and how to ask it again."""

    operation: str
    kind: str
    reason: str
    curl: str

    def lines(self) -> list[str]:
        return [f"BROKEN {self.operation} ({self.kind})", *self.reason.splitlines(), f"  {self.curl}"]


@dataclass
class Report:
    """What a campaign did and found."""

    seed: int
    requests: int = 0
    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    reached: dict[str, Counter[int]] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)

    def never_good(self) -> list[str]:
        """Operations that have never answered with success: nothing behind them was tried."""
        return [name for name, seen in self.reached.items() if not any(status < 400 for status in seen)]

    def summary(self) -> str:
        seen = ", ".join(f"{count} x {status}" for status, count in sorted(self.statuses.items()))
        return f"{self.requests} requests to {len(self.reached)} operations in {self.seconds:.0f} s: {seen}"


class Campaign:
    """One server under one seed."""

    def __init__(
        self,
        url: str,
        seed: int,
        tell: Tell = lambda text: None,
        *,
        edit: Edit = lambda document: None,
        pools: Pools | None = None,
        per_turn: int = PER_TURN,
        wanted: Wanted = lambda label, kind: True,
    ) -> None:
        """`edit` changes the document before it is read: so a test can make it promise what is not kept."""
        self._url, self._tell, self._per_turn, self._wanted = url, tell, per_turn, wanted
        self._session = requests.Session()
        self._session.trust_env = False
        self._pools = pools or Pools()
        self._strategies: dict[tuple[str, Kind], SearchStrategy[Request]] = {}
        self.report = Report(seed)
        document = self._session.get(f"{url}/openapi.json", timeout=60).json()
        document["paths"] = dict(sorted(document["paths"].items()))  # the same seed, the same order
        edit(document)
        self._schema = schemathesis.openapi.from_dict(document)

    def run(self, seconds: float = math.inf, *, rounds: float = math.inf) -> Report:
        """Until the time is over, every operation had so many rounds, or there is enough to mend."""
        began = time.monotonic()
        until = began + seconds
        for turn, operation, kind in self._turns(rounds):
            if time.monotonic() >= until or len(self.report.violations) >= _ENOUGH:
                break
            self._try(operation, kind, turn, until)
            self.report.seconds = time.monotonic() - began
            self._tell(f"{self.report.summary()}; {len(self.report.violations)} broken; {operation.label}")
        self._session.close()
        return self.report

    def _turns(self, rounds: float) -> Iterator[tuple[int, Operation, Kind]]:
        operations = [found.ok() for found in self._schema.get_all_operations() if isinstance(found, Ok)]
        turn = done = 0
        while done < rounds and (
            open_ := [(kind, one) for kind in Kind for one in operations if self._is_open(one, kind)]
        ):
            done += 1
            was = None
            for kind, operation in open_:
                if kind is not was:
                    self._pools.furnish(self._session, self._url)
                was = kind
                yield turn, operation, kind
                turn += 1

    def _is_open(self, operation: Operation, kind: Kind) -> bool:
        """Whether there are such requests, they are wanted, and none of them has broken anything yet."""
        broken = ((one.operation, one.kind) for one in self.report.violations)
        return can_be(operation, kind) and self._wanted(operation.label, kind) and (operation.label, kind) not in broken

    def _try(self, operation: Operation, kind: Kind, turn: int, until: float) -> None:
        """One turn of an operation. Its smallest broken request is kept."""
        found: list[Violation] = []
        deadline = until

        def one(case: Request) -> None:
            nonlocal deadline
            if time.monotonic() > deadline:
                return
            try:
                self._ask(case)
            except Broken as broken:
                if not found:
                    deadline = time.monotonic() + _SHRINK_SECONDS
                curl = case.as_curl_command().replace("http://localhost/", f"{_ADDRESS}/")
                found.append(Violation(operation.label, kind, str(broken), curl))
                raise

        try:
            self._examples(one, self._requests(operation, kind), turn)
        except (Broken, Flaky):
            self.report.violations.append(found[-1])
        except Unsatisfiable:
            pass  # there is no wrong request for an operation that takes nothing

    def _requests(self, operation: Operation, kind: Kind) -> SearchStrategy[Request]:
        known = self._strategies.get((operation.label, kind))
        if known is None:
            known = self._strategies[operation.label, kind] = cases(operation, kind, self._pools)
        return known

    def _examples(self, one: Callable[[Request], None], strategy: SearchStrategy[Request], turn: int) -> None:
        settings = hypothesis.settings(
            max_examples=self._per_turn,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            verbosity=hypothesis.Verbosity.quiet,
        )
        test = hypothesis.given(case=strategy)(one)
        hypothesis.seed(self.report.seed * 1_000_003 + turn)(settings(test))()

    def _ask(self, case: Request) -> None:
        answer = ask(self._session, case, self._url)
        status = answer.response.status_code
        self.report.requests += 1
        self.report.statuses[status] += 1
        self.report.reached.setdefault(case.operation.label, Counter())[status] += 1
        self._pools.learn(answer.response)
        judge(case, answer)


def campaign(
    database: str,
    seed: int,
    folder: Path,
    *,
    seconds: float = math.inf,
    rounds: float = math.inf,
    tell: Tell = lambda text: None,
    per_turn: int = PER_TURN,
    wanted: Wanted = lambda label, kind: True,
) -> Report:
    """A server of its own on that database, asked for so long or so often."""
    log = folder / f"{database.partition(':')[0]}.log"
    with served(database, log) as url:
        report = Campaign(url, seed, tell, per_turn=per_turn, wanted=wanted).run(seconds, rounds=rounds)
    for line in log.read_text(errors="replace").splitlines()[:_ENOUGH]:
        report.violations.append(Violation("the server", "inside", line, "see its log"))
    return report
