"""How runs that nobody works on are found and taken.

Looking costs nothing that grows with sleeping or owned runs: the lanes and the owners are found by hopping from one
value of the index `run_due` to the next, and every lane is asked for what is due in it, which is where it begins.
Neither server lets an inner query begin where an outer one says, so each hop is a statement. What was there last time
is a good guess for what is there now, so nearly always all hops go in one packet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from detent.store.sql.mysql.flush import NOW
from detent.store.sql.mysql.literal import blob, listed, text

#: (queue, priority)
Lane = tuple[str, int]
V = TypeVar("V")

_CANDIDATE: Final = "r.id, r.epoch, r.priority, r.wake_at"
TAKEN: Final = """
select id, tenant, workflow, version, status, input, opening, epoch, expires_at, wake_at, queue, priority, started_at,
       parent, hero_type, hero_id
from run force index (primary) where ({places}) and ended_at is null for update skip locked"""


def next_lane(after: Lane | None) -> str:
    """The lane of unowned runs that comes after that one; null: the first."""
    beyond = ""
    if after is not None:
        queue, priority = text(after[0]), after[1]
        beyond = f" and (queue > {queue} or queue = {queue} and priority > {priority:d})"
    return (
        f"select queue, priority from run force index (run_due) where owner is null and ended_at is null{beyond}"
        " order by queue, priority limit 1"
    )


def next_owner(after: bytes | None) -> str:
    """The owner of runs that comes after that one; null: the first."""
    beyond = "is not null" if after is None else f"> {blob(after)}"
    return f"select owner from run force index (run_due) where owner {beyond} order by owner limit 1"


class Trail(Generic[V]):
    """The values of an index, walked through from each to the next."""

    def __init__(self, question: Callable[[V | None], str], guesses: Sequence[V]) -> None:
        self._question = question
        self._places: list[V | None] = [None, *guesses]
        self._next: dict[V | None, V | None] = {}

    def questions(self) -> list[str]:
        """What must be asked to go on; nothing at the end."""
        return [self._question(place) for place in self._places]

    def answer(self, found: Sequence[V | None]) -> None:
        """What comes after each place that was asked for."""
        self._next.update(zip(self._places, found, strict=True))
        self._places = []
        last: V | None = None
        for value in self.values():
            last = value
        if last not in self._next:
            self._places = [last]

    def values(self) -> Iterator[V]:
        """Those known so far."""
        value = self._next.get(None)
        while value is not None:
            yield value
            value = self._next.get(value)


class Candidate(NamedTuple):
    """A run that may be taken if it is still at that generation."""

    id: bytes
    generation: int
    priority: int
    wake_at: int | None
    adopted: bool

    def order(self) -> tuple[Any, ...]:
        """Larger priority first, then the longest due, mail before time."""
        return -self.priority, self.wake_at is not None, self.wake_at or 0, self.id


class Asked(NamedTuple):
    """What a claim is for."""

    limit: int
    queues: Collection[str] | None
    serves: Collection[str]
    horizon: int

    def looks(self, lanes: Sequence[Lane], owners: Sequence[bytes]) -> Iterator[str]:
        """A statement per lane, one for mail, one per owner that is gone. Each gives what `Candidate` begins with."""
        fits = self._fits()
        for queue, priority in lanes:
            if self.queues is None or queue in self.queues:
                yield (
                    f"select {_CANDIDATE}, 0 from run r force index (run_due) where r.owner is null"
                    f" and r.ended_at is null and r.queue = {text(queue)} and r.priority = {priority:d}"
                    f" and r.wake_at <= {NOW} + {self.horizon:d}{fits} order by r.wake_at limit {self.limit * 2:d}"
                )
        # From the inbox to the run and only then to the limit, or mail of owned runs would starve the others.
        yield (
            f"select {_CANDIDATE}, 0 from (select distinct run from inbox) m straight_join run r force index (primary)"
            f" on r.id = m.run where r.owner is null and r.ended_at is null{self._queued()}{fits}"
        )
        for owner in owners:
            yield (
                f"select {_CANDIDATE}, 1 from run r force index (run_due)"
                f" where r.owner = {blob(owner)} and r.ended_at is null{self._queued()}{fits}"
                f" and not exists (select 1 from node where id = {blob(owner)})"
                f" order by r.priority desc, r.wake_at, r.id limit {self.limit * 2:d}"
            )

    def _queued(self) -> str:
        if self.queues is None:
            return ""
        return f" and r.queue in ({listed(self.queues)})" if self.queues else " and false"

    def _fits(self) -> str:
        served = msgspec.json.encode(sorted(self.serves)).decode()
        return f" and (r.code is null or json_contains({text(served)}, r.code))"


def chosen(found: Sequence[Sequence[Any]], limit: int) -> list[Candidate]:
    """The best of what was found; a run may have been found in two ways."""
    best: dict[bytes, Candidate] = {}
    for id_, generation, priority, wake_at, adopted in found:
        best.setdefault(id_, Candidate(id_, generation, priority, wake_at, bool(adopted)))
    return sorted(best.values(), key=Candidate.order)[:limit]


def lock(candidates: Sequence[Candidate]) -> str:
    """Lock those that are as they were when they were found. Rows that another claim holds are passed over."""
    places = " or ".join(f"id = {blob(one.id)} and epoch = {one.generation:d}" for one in candidates)
    return TAKEN.format(places=places)


def take(node: bytes, runs: Sequence[bytes]) -> str:
    return f"update run force index (primary) set owner = {blob(node)}, epoch = epoch + 1 where id in ({listed(runs)})"
