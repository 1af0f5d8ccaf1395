"""Ctrl-C while a command begins: it leaves without a word, whatever it was about to load."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import detent, environment

#: Presses Ctrl-C when the module that is named first is about to be loaded, then runs `detent` with the rest.
PRESS = """
import signal, sys
from detent.cli import main

module = sys.argv.pop(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Press())
main()
"""


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("typer", ("validate", "echo.yaml")),
        ("detent.cli.commands.node.serve", ("serve", "--port", "0")),
        ("sqlalchemy", ("dev", "--port", "0", "--no-examples")),
        ("litestar", ("serve", "--port", "0")),
        ("detent.cli.completion", ("--show-completion", "bash")),
    ],
)
def test_ctrl_c_while_modules_are_loaded_ends_a_command_quietly(
    folder: Path, module: str, arguments: tuple[str, ...]
) -> None:
    (folder / "echo.yaml").write_text("name: echo\ntasks:\n  a: {action: core.echo}\n")
    done = subprocess.run(
        [sys.executable, "-c", PRESS, module, *arguments],
        cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGINT, "", "")


def test_ctrl_c_while_a_module_of_the_user_is_loaded_ends_a_command_quietly(folder: Path) -> None:
    (folder / "slow.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    for arguments in (("serve", "--port", "0", "--import", "slow"), ("run", "slow:Name"), ("worker", "slow")):
        done = detent(folder, *arguments)
        assert (done.returncode, done.stderr) == (128 + signal.SIGINT, ""), arguments
