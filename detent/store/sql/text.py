"""SQL that lives in files beside the code that runs it."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

_AGAIN: Final = re.compile(r"/\*again (.*?) \*/")
_ONCE: Final = re.compile(r"/\*once (.*?) \*/")
_CHECKED: Final = re.compile(r"/\*checked (.*?) \*/")


def read_sql(package: str, name: str) -> str:
    """The text of a file of that package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def once_and_again(sql: str) -> dict[bool, str]:
    """The two readings of a statement: the clauses marked `again` are alive in the second one, those marked `once` in
    the first."""
    return {False: _AGAIN.sub("", _ONCE.sub(r"\1", sql)), True: _AGAIN.sub(r"\1", _ONCE.sub("", sql))}


def checking(sql: str, *, checked: bool) -> str:
    """The statement with or without the clauses that are marked `checked`."""
    return _CHECKED.sub(r"\1" if checked else "", sql)
