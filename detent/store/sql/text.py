"""SQL that lives in files beside the code that runs it."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

_AGAIN: Final = re.compile(r"/\*again (.*?) \*/")


def read_sql(package: str, name: str) -> str:
    """The text of a file of that package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def once_and_again(sql: str) -> dict[bool, str]:
    """The two readings of a statement: with `again` the clauses marked so are alive."""
    return {False: _AGAIN.sub("", sql), True: _AGAIN.sub(r"\1", sql)}
