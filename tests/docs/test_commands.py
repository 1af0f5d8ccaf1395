"""The page of the command line knows every command, argument and option, and no others."""

from functools import cache
from typing import Any

import pytest
import typer

from detent.cli import COMMANDS
from detent.cli.main import module_of
from tests.docs.pages import DOCS, headings, tables


@cache
def commands() -> dict[str, Any]:
    """Every command by its words, those below a command too."""
    made: dict[str, Any] = {}
    for name in COMMANDS:
        app = typer.Typer(add_completion=False)
        module_of(name).add_to(app)
        command = typer.main.get_command(app)
        below = getattr(command, "commands", None) or {"": command}
        made |= {f"detent {name} {child}".rstrip(): found for child, found in below.items()}
    return made


def parameters(command: Any) -> set[str]:
    """`--database`, `--fast`; an argument in capitals, as it is written on the page."""
    found = set()
    for one in command.params:
        if one.param_type_name == "argument":
            found.add((one.metavar or one.name).strip("[]{}").rstrip(".").upper())
        elif "--help" not in one.opts:
            found.add(max(one.opts, key=len))
    return found


def rows(section: str) -> set[str]:
    """The first words of the page's tables under that heading: `--input JSON` is the row of `--input`."""
    found = [one for one in tables("cli.md") if one.section == section and one.header == ("option", "meaning")]
    return {row[0].split(" ")[0].split("/")[0].rstrip(".,") for one in found for row in one.rows}


def test_every_command_has_its_heading_and_no_other() -> None:
    shown = {heading for heading in headings(DOCS / "cli.md") if heading.startswith("detent ")}
    assert shown == set(commands())


@pytest.mark.parametrize("name", commands())
def test_every_option_of_the_command_has_its_row(name: str) -> None:
    assert rows(name) == parameters(commands()[name])
