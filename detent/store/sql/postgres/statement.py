"""The statements of a commit, put together from the parts of flush.sql.

Setting up a statement costs by its parts, whether there is anything in them or not: all of them take more than a
millisecond, the entries alone a third of that. So there are three, and a flush goes with the smallest that holds it.
"""

from __future__ import annotations

import re
from itertools import count
from typing import Final

from detent.store.sql.text import once_and_again, read_sql

_PART: Final = re.compile(r"^-- part (\w+)$\n", re.MULTILINE)
_HELD: Final = "\nselect (select count(*) from fence) as held, clock_timestamp() as now"
_EXPIRED: Final = """,
       array(select run from known where state = 'expired') as expired_runs,
       array(select step from known where state = 'expired') as expired_steps"""


def _parts() -> dict[str, str]:
    _, *pieces = _PART.split(read_sql(__package__, "flush.sql"))
    return {name: text.strip() for name, text in zip(pieces[::2], pieces[1::2], strict=True)}


def _statement(parts: dict[str, str], answer: str) -> dict[bool, str]:
    numbers = count(3)  # $1 and $2 are the node and its epoch, in every part
    text = "with " + ",\n".join(parts.values()) + answer
    return once_and_again(re.sub(r"\$\?", lambda _: f"${next(numbers)}", text))


_ALL: Final = _parts()


def _of(*names: str) -> dict[bool, str]:
    return _statement({name: _ALL[name] for name in ("fence", *names)}, _HELD)


#: Journal entries and nothing else.
APPEND: Final = _of("written")
#: Runs that start, entries, runs that end: what most flushes are.
USUAL: Final = _of("started", "written", "ended", "closed", "dropped")
#: Everything.
FLUSH: Final = _statement(_ALL, _HELD + _EXPIRED)
