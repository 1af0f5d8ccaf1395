"""Names of HTTP headers."""

from __future__ import annotations

import re
from typing import Final

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def is_header_name(text: str) -> bool:
    """Whether a text may be the name of a header, in any case."""
    return _HEADER_NAME.fullmatch(text) is not None
