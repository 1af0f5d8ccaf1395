"""The TypeScript client: its types are those of today's API, and it does its work with today's Detent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients.typescript import PACKAGE, SCHEMA, generate, install, run


@pytest.mark.slow
def test_the_types_of_the_client_are_those_of_todays_api(tmp_path: Path) -> None:
    today = tmp_path / "schema.ts"
    generate(today)
    assert today.read_text() == SCHEMA.read_text(), "the API has changed: run `make clients`"


@pytest.mark.slow
def test_the_client_is_built_and_its_tests_pass_before_a_real_detent() -> None:
    install()
    said = run("npm", "test")
    assert "# fail 0" in said
    assert "# skipped 0" in said


def test_the_lock_names_no_address_and_the_client_depends_on_nothing() -> None:
    package = json.loads((PACKAGE / "package.json").read_text())
    lock = json.loads((PACKAGE / "package-lock.json").read_text())
    assert "dependencies" not in package
    assert [name for name, facts in lock["packages"].items() if "resolved" in facts] == []
    assert [name for name, facts in lock["packages"].items() if name and "integrity" not in facts] == []
