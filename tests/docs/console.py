"""Runs the `$ detent ...` and `$ python FILE` lines of a page in a folder with its files, and compares what they print.

Loosely: times, ids and blanks may differ."""

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.docs.pages import Block, blocks_of
from tests.servers import programs

#: Commands that end by themselves, soon, and change nothing outside their folder.
QUICK: Final = frozenset(
    {"validate", "graph", "run", "--help", "--version", "apply", "doctor", "migrate", "test", "convert", "plan"}
)
LONGEST: Final = 30.0
_TIME: Final = re.compile(r"\b[0-9.]+ ?(ms|s|m|h|d)\b")
_ID: Final = re.compile(r"\b(run|wf)_[0-9a-z]+…?")


@dataclass(frozen=True)
class Call:
    """One command of a page, and the lines the page shows below it."""

    place: str
    command: str
    shown: tuple[str, ...]

    @property
    def is_quick(self) -> bool:
        program, _, rest = self.command.partition(" ")
        if program == "python":
            return rest.endswith(".py")
        return program == "detent" and rest.partition(" ")[0] in QUICK and " --url " not in rest


def calls_of(block: Block) -> list[Call]:
    """The commands of a console block."""
    found: list[Call] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append(Call(block.place, line[2:], ()))
        elif found:
            found[-1] = Call(block.place, found[-1].command, (*found[-1].shown, line))
    return found


def save_files(page: Path, before: Block, folder: Path) -> None:
    """The files the page has told its reader to save so far."""
    for block in blocks_of(page):
        if block is before:
            return
        if (name := block.remark("file")) is not None:
            (folder / name).write_text(block.text)


def output_of(command: str, folder: Path) -> str:
    """Everything the command prints."""
    program, *rest = shlex.split(command)
    words = [sys.executable, *(() if program == "python" else ("-m", "detent")), *rest]
    done = programs.run(words, cwd=folder, timeout=LONGEST)
    return done.stdout + done.stderr


def missing(shown: tuple[str, ...], printed: str) -> list[str]:
    """The shown lines that were not printed, in this order. Times, ids and blanks may differ."""
    lines = iter([_plain(line) for line in printed.splitlines()])
    return [line for line in shown if line.strip() and _plain(line) not in lines]


def _plain(line: str) -> str:
    return " ".join(_ID.sub("ID", _TIME.sub("TIME", line)).split())
