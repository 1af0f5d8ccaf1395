"""Exchanges with a Detent are run by two drivers, both in `detent.client`."""

import ast

from tests.architecture import measure
from tests.architecture.test_budgets import SOURCES

EFFECTS = {"Send", "OpenStream", "ReadStream", "Wait", "Yield"}


def effects_imported(source: measure.Source) -> set[str]:
    imports = [node for node in source.imports if isinstance(node, ast.ImportFrom)]
    return {name.name for node in imports if node.module == "detent.client.calls" for name in node.names} & EFFECTS


def test_only_the_client_does_what_exchanges_want() -> None:
    found = {source.path.relative_to("detent").as_posix(): effects_imported(source) for source in SOURCES}
    assert [name for name, effects in found.items() if "Send" in effects] == ["client/drivers.py"]
    assert [name for name, effects in found.items() if effects and not name.startswith("client/")] == []
