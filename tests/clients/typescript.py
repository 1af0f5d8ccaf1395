"""The TypeScript client's tools. `python -m tests.clients.typescript` writes its types anew."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.clients.document import openapi_text
from tests.servers.locks import exclusive

PACKAGE: Final = Path(__file__).parents[2] / "clients" / "typescript"
SCHEMA: Final = PACKAGE / "src" / "schema.ts"
_LOCK: Final = PACKAGE / "package-lock.json"
#: npm writes it last, so that it is there only when everything is.
_INSTALLED: Final = PACKAGE / "node_modules" / ".package-lock.json"
_INSTALL_SECONDS: Final = 900.0
_SECONDS: Final = 900.0


def install() -> None:
    """Exactly the packages of the lock, if they are not there yet."""
    with exclusive(Path(tempfile.gettempdir()) / "detent-client-npm"):
        if not _INSTALLED.exists() or _INSTALLED.stat().st_mtime < _LOCK.stat().st_mtime:
            run("npm", "ci", "--no-progress", "--ignore-scripts", seconds=_INSTALL_SECONDS)


def run(*command: str, seconds: float = _SECONDS) -> str:
    """What a command in the package's folder prints; AssertionError if it fails. It leaves no process behind."""
    program = shutil.which(command[0])
    assert program, f"there is no {command[0]}: scripts/setup requirements-dev.lock installs it"
    environment = {**os.environ, "NO_UPDATE_NOTIFIER": "1"}
    process = subprocess.Popen(
        [program, *command[1:]],
        cwd=PACKAGE, env=environment, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        raise AssertionError(f"{' '.join(command)} took longer than {seconds:g} s:\n{said}") from None
    assert process.returncode == 0, f"{' '.join(command)}:\n{said}"
    return said


def generate(target: Path) -> None:
    """The types of today's API."""
    install()
    with tempfile.TemporaryDirectory(prefix="detent-openapi-") as folder:
        document = Path(folder) / "openapi.json"
        document.write_text(asyncio.run(openapi_text()))
        run("npm", "run", "--silent", "generate", "--", str(document), str(target))


if __name__ == "__main__":
    generate(Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else SCHEMA)
