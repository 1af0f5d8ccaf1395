"""Executes the Python of a page: its blocks one after the other, as one module, once."""

import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.docs.pages import blocks_of, module_name


@cache
def execute(page: Path) -> dict[str, Any]:
    """The names the page's Python blocks define. Actions they register stay registered."""
    name = module_name(page)
    module = ModuleType(name)
    sys.modules[name] = module
    for block in blocks_of(page):
        if block.language == "python" and block.remark("shown only") is None:
            # Blank lines before the code make the line numbers of errors those of the page.
            exec(compile("\n" * block.line + block.text, str(page), "exec"), module.__dict__)
    return module.__dict__
