"""Refuse to build a package without the web page: its users have no Node to build it with.

`make web` builds the page, and `make package` both. A source distribution has the built page, so a wheel is built from
it without Node. An editable installation, which is what a checkout uses, needs no page.
"""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WITHOUT = "DETENT_PACKAGE_WITHOUT_PAGE"


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Checks that the page is there, before a wheel or a source distribution is built."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raise RuntimeError if the page is not built. `version` is `editable` for an installation of a checkout."""
        is_built = (Path(self.root) / "detent" / "web" / "built" / "index.html").is_file()
        if version != "editable" and not is_built and os.environ.get(WITHOUT) != "1":
            raise RuntimeError(
                "the web page is not built, so the package would not have it: run `make web` first, or set "
                f"{WITHOUT}=1 for a package without it"
            )
