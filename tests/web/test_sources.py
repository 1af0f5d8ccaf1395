"""The sources of the page: their types, their pure functions, and what the policy forbids."""

from __future__ import annotations

import re

import pytest

from tests.web.browser import WEB, install, run

FORBIDDEN = re.compile(r"dangerouslySetInnerHTML|\binnerHTML\b|\beval\(|new Function\(|<style[ >]|createObjectURL")


@pytest.mark.slow
def test_types_are_right() -> None:
    install()
    run("npm", "run", "--silent", "types")


@pytest.mark.slow
def test_pure_functions_do_what_they_say() -> None:
    install()
    run("npm", "run", "--silent", "unit")


def test_no_source_makes_code_or_style_of_text() -> None:
    sources = [path for path in (WEB / "src").rglob("*") if path.suffix in {".ts", ".tsx"}]
    assert len(sources) > 50
    assert [str(path) for path in sources if FORBIDDEN.search(path.read_text())] == []


def test_colours_are_named_in_one_file() -> None:
    """Only the tokens have colours; two places need the white and the black of a button and of a shadow."""
    colour = re.compile(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsla?\(")
    found = {
        path.name
        for path in (WEB / "src").rglob("*.css")
        if path.name != "tokens.css" and colour.search(re.sub(r"url\([^)]*\)", "", path.read_text()))
    }
    assert found <= {"button.module.css", "dialog.module.css"}
