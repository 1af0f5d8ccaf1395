"""The version of Detent."""

from typing import Final

VERSION: Final = "0.1.0"
