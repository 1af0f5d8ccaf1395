"""The sources of the page: their types, their pure functions, and what the policy forbids."""

from __future__ import annotations

import re

import pytest

from detent.auth.policy import POLICY
from detent.auth.scopes import Scope
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


def test_the_page_knows_what_its_operations_need() -> None:
    """The page's table of operations has the lines of the policy."""
    text = (WEB / "src" / "api" / "policy.ts").read_text()
    scopes = dict(re.findall(r'^const ([A-Z_]+) = "([a-z:]+)";$', text, re.MULTILINE))
    lines = re.findall(r"^  ([a-z_]+): ([A-Z_]+),$", text, re.MULTILINE)
    assert len(lines) > 40
    assert {name: scopes[need] for name, need in lines} == {name: POLICY[name].need for name, _ in lines}
    listed = re.search(r"export const SCOPES = \[(.*?)\]", text, re.DOTALL)
    assert listed is not None
    words = re.findall(r'"([a-z:]+)"|\b([A-Z]+)\b', listed[1])
    assert {word or scopes[name] for word, name in words} == set(Scope)
