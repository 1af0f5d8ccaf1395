"""The statements of a commit, put together from the parts of flush.sql.

Setting up a statement costs by its parts, whether there is anything in them or not: all of them take more than a
millisecond, the entries alone a third of that. So there are several, and a flush goes with the smallest that holds it.
"""

from __future__ import annotations

import re
from itertools import count
from typing import Final

from detent.store.sql.text import checking, once_and_again, read_sql

_PART: Final = re.compile(r"^-- part (\w+)$\n", re.MULTILINE)
_HELD: Final = "\nselect (select count(*) from fence) as held, clock_timestamp() as now"
_REFUSED: Final = ",\n       array(select id from refused) as refused"
_EXPIRED: Final = """,
       array(select run from known where state = 'expired') as expired_runs,
       array(select step from known where state = 'expired') as expired_steps"""


def _parts() -> dict[str, str]:
    _, *pieces = _PART.split(read_sql(__package__, "flush.sql"))
    return {name: text.strip() for name, text in zip(pieces[::2], pieces[1::2], strict=True)}


_ALL: Final = _parts()
_STARTS: Final = {False: ("started",), True: ("checked", "refused")}
_ENDS: Final = ("ended", "closed", "dropped")
_REST: Final = ("awaited", "activated", "lapsed", "parked", *_ENDS, "posted", "consumed", "known")


def _of(*names: str, answer: str = _HELD, checked: bool = False) -> dict[bool, str]:
    numbers = count(3)  # $1 and $2 are the node and its epoch, in every part
    text = "with " + ",\n".join(_ALL[name] for name in ("fence", *names)) + answer
    return once_and_again(checking(re.sub(r"\$\?", lambda _: f"${next(numbers)}", text), checked=checked))


#: Journal entries and nothing else.
APPEND: Final = _of("written")
#: Runs that start, entries, runs that end: what most flushes are.
USUAL: Final = _of(*_STARTS[False], "written", *_ENDS)
#: The same with starts that may be refused.
CHECKED_USUAL: Final = _of(*_STARTS[True], "written", *_ENDS, answer=_HELD + _REFUSED, checked=True)
#: Everything.
FLUSH: Final = _of(*_STARTS[False], "written", *_REST, answer=_HELD + _EXPIRED)
CHECKED_FLUSH: Final = _of(*_STARTS[True], "written", *_REST, answer=_HELD + _REFUSED + _EXPIRED, checked=True)
