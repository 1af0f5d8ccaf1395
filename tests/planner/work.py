"""Work that can be counted: it is the same on every machine, however busy."""

import sys
from collections.abc import Callable
from typing import Any


def calls_in(act: Callable[[], object]) -> int:
    """Call `act`, and return how many functions of Python and of C were called within."""
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count
