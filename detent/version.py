"""The version of Detent, and the name that its packages are installed by."""

from typing import Final

VERSION: Final = "0.1.0"
#: On the package index `detent` is another project. The module and the command are `detent` all the same.
DISTRIBUTION: Final = "detent-workflows"


def install_hint(extra: str) -> str:
    """Return the command that installs an optional part of Detent."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
