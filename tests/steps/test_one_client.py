"""G14: the guarded client is the only way out that Detent's own code has."""

import ast
from collections.abc import Iterator
from pathlib import Path

import detent

PACKAGE = Path(detent.__file__).parent
CLIENTS = {"http.client", "httpx", "niquests", "requests", "urllib.request", "urllib3", "pycurl", "ftplib", "smtplib"}
ONLY_HERE = {"aiohttp": {"steps/http/step.py"}}
# The operator names these servers in the settings: the identity provider, and the Vault of secrets.
OF_THE_OPERATOR = {"auth/http_fetcher.py", "steps/http/source.py"}
# The client and the command line ask the user's own node, and the examples' shop plays the outside world.
NOT_STEPS = {"cli", "client", "testing", "examples"}


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def sources() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.split("/")[0] not in NOT_STEPS:
            yield name, path


def test_g14_no_module_imports_another_http_client() -> None:
    found = {name: used for name, path in sources() if (used := CLIENTS & set(imports_of(path)))}
    assert found == {}


def test_g14_sessions_and_connectors_are_made_in_one_module() -> None:
    makers = {
        name
        for name, path in sources()
        for word in ("ClientSession(", "TCPConnector", "open_connection(", "create_connection(")
        if word in path.read_text() and "aiohttp" in path.read_text()
    }
    assert makers == ONLY_HERE["aiohttp"] | OF_THE_OPERATOR
