"""How the verbs that are the same on every SQL database reach it: a dialect gives them three ways."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from sqlalchemy import ClauseElement

from detent.store.sql.compiling import Values

T = TypeVar("T")
Rows = Sequence[Sequence[Any]]
Step = tuple[ClauseElement, Values]
#: A transaction as a dialogue: it asks for one statement after the other and is given the rows of each.
Talk = Generator[Step, Rows, T]


class Reach(ABC):
    """What a dialect must be able to do."""

    @abstractmethod
    async def now(self) -> int:
        """The database's time."""

    @abstractmethod
    async def _read(self, clause: ClauseElement, values: Values) -> Rows:
        """The rows of one statement that changes nothing."""

    @abstractmethod
    async def _talk(self, begin: Callable[[], Talk[T]]) -> T:
        """Run what a dialogue asks for as one transaction, in which every statement sees what was committed before it;
        with what the dialogue returns it is committed."""

    async def _write(self, clause: ClauseElement, values: Values) -> Rows:
        """Run one statement as a transaction of its own."""

        def only() -> Talk[Rows]:
            return (yield clause, values)

        return await self._talk(only)
