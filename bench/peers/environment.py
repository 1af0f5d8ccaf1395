"""The virtual environment of the peer: made once, beside ours and not in it."""

import subprocess
import sys
import venv
from pathlib import Path

DBOS = "3.3.0"
PACKAGES = (f"dbos=={DBOS}", "psycopg[binary]", "aiohttp", "httpx", "uvloop")
FOLDER = Path(__file__).parents[2] / ".bench-venv"


def peer_python() -> Path:
    """The Python that has the peer, after installing it if need be."""
    python, note = FOLDER / "bin" / "python", FOLDER / "packages"
    wanted = "\n".join(PACKAGES)
    if python.exists() and note.exists() and note.read_text() == wanted:
        return python
    venv.create(FOLDER, clear=True, with_pip=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"the peer cannot be installed (measure without it: --no-peer):\n{done.stderr}")
    note.write_text(wanted)
    return python
