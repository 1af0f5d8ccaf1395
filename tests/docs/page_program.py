"""A page of Python as one program: its `python` blocks are executed and its `pycon` blocks compared, top to bottom.

    python -m tests.docs.page_program docs/heroes.md

What a page prints is looked at in `pycon` blocks only. `test_...` functions that it defines are called at the end.
"""

from __future__ import annotations

import doctest
import sys
from pathlib import Path
from types import ModuleType

from tests.docs.pages import Block, blocks_of, module_name

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def program(page: Path) -> int:
    """How many examples differ from what the page shows."""
    name = module_name(page)
    module = sys.modules[name] = ModuleType(name)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for block in blocks_of(page):
        if block.remark("shown only") is not None:
            continue
        if block.language == "python":
            # Blank lines before the code make the line numbers of errors those of the page.
            exec(compile("\n" * block.line + block.text, str(page), "exec"), module.__dict__)
        elif block.language == "pycon":
            _compare(runner, block, module)
    for called, function in list(vars(module).items()):
        if called.startswith("test_"):
            function()
    return runner.summarize().failed


def _compare(runner: doctest.DocTestRunner, block: Block, module: ModuleType) -> None:
    examples = doctest.DocTestParser().get_doctest(
        block.text, module.__dict__, block.place, str(block.page), block.line
    )
    examples.globs = module.__dict__  # what a block defines is there for the next
    runner.run(examples, clear_globs=False)


if __name__ == "__main__":
    sys.exit(program(Path(sys.argv[1]).resolve()))
