"""The page about testing says what is true: its tests pass."""

from __future__ import annotations

from typing import Any

import pytest

from detent import testing
from tests.docs import python_blocks
from tests.docs.pages import DOCS

PAGE = DOCS / "testing.md"
TESTS = [name for name in python_blocks.execute(PAGE) if name.startswith("test_")]


@pytest.mark.parametrize("name", TESTS)
def test_every_test_of_the_page_passes(name: str) -> None:
    test: Any = python_blocks.execute(PAGE)[name]
    test()


def test_the_page_names_everything_that_is_public() -> None:
    text = PAGE.read_text()
    results = {"CrashMatrix", "MemoryRun", "CrashPoint", "Speedrun", "StepRequest", "StepRun"}  # what is given back
    assert [name for name in testing.__all__ if name not in text and name not in results] == []
