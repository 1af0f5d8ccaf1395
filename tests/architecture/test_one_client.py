"""Exchanges with a Detent are run by two drivers, both in `detent.client`."""

import ast
from pathlib import Path

import detent

PACKAGE = Path(detent.__file__).parent
EFFECTS = {"Send", "OpenStream", "ReadStream", "Wait", "Yield"}


def effects_imported(file: Path) -> set[str]:
    imports = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
    return {name.name for node in imports if node.module == "detent.client.calls" for name in node.names} & EFFECTS


def test_only_the_client_does_what_exchanges_want() -> None:
    found = {file.relative_to(PACKAGE).as_posix(): effects_imported(file) for file in PACKAGE.rglob("*.py")}
    assert [name for name, effects in found.items() if "Send" in effects] == ["client/drivers.py"]
    assert [name for name, effects in found.items() if effects and not name.startswith("client/")] == []
