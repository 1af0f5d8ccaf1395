"""What a page lets its reader type does what the page shows."""

from pathlib import Path

import pytest

from tests.docs.console import Call, calls_of, missing, output_of, save_files
from tests.docs.pages import Block, blocks

CALLS = [
    pytest.param(block, call, id=f"{block.place} {call.command[:40]}")
    for block in blocks("console")
    for call in calls_of(block)
    if call.is_quick
]


def test_there_is_something_to_type() -> None:
    assert len(CALLS) >= 8


@pytest.mark.slow
@pytest.mark.parametrize(("block", "call"), CALLS)
def test_the_command_prints_what_the_page_shows(block: Block, call: Call, tmp_path: Path) -> None:
    save_files(block.page, block, tmp_path)
    printed = output_of(call.command, tmp_path)
    assert "Traceback" not in printed
    assert missing(call.shown, printed) == [], printed


def test_a_line_that_was_not_printed_is_seen() -> None:
    printed = "hello run_01abc\ngreet  success    12 ms\n✓ completed in 2.0 s\n"
    assert missing(("hello run_01k…", "greet  success    0 ms", "", "✓ completed in 1.9 s"), printed) == []
    assert missing(("greet  failed  0 ms",), printed) == ["greet  failed  0 ms"]
    assert missing(("✓ completed in 2.0 s", "greet  success  0 ms"), printed) == ["greet  success  0 ms"]
