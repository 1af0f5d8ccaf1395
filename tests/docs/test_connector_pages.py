"""The pages about connectors: their manifests are valid, and their lists have everything that there is."""

from __future__ import annotations

import re

import pytest

from detent.catalog.connector import SECRETS, AuthType
from detent.catalog.manifest import read_manifest
from detent.catalog.manifest_schema import SCHEMA
from detent.catalog.shipped import load_shipped
from detent.steps.connectors.library import EXTRAS, SHIPPED
from detent.steps.connectors.shipped import CONNECTORS
from tests.docs.pages import DOCS, Block, blocks, table

MANIFESTS = [block for block in blocks("yaml") if block.remark("manifest") is not None]


def test_there_is_a_manifest_on_the_page() -> None:
    assert MANIFESTS


@pytest.mark.parametrize("block", MANIFESTS, ids=lambda block: block.place)
def test_a_manifest_of_a_page_is_valid_and_short(block: Block) -> None:
    assert read_manifest(block.text, syntax="yaml").actions
    assert len(block.text.splitlines()) <= 35


def test_every_shipped_action_has_its_row_with_its_parameters() -> None:
    expected = {}
    for connector in load_shipped():
        for action in connector.actions:
            required = action.parameters.get("required", ())
            names = (f"`{name}`" if name in required else f"`{name}`?" for name in action.parameters["properties"])
            row = (action.title, ", ".join(names), action.effect.kind.value)
            expected[f"{connector.id}.{action.id}"] = row
    for facts in SHIPPED.facts():
        required = facts.parameters.get("required", ())
        names = (f"`{name}`" if name in required else f"`{name}`?" for name in facts.parameters["properties"])
        expected[facts.id] = (facts.title, ", ".join(names), facts.effect.kind.value)
    text = (DOCS / "connectors.md").read_text()
    rows = re.findall(r"^\| `([a-z0-9]+\.[a-z-]+)` \| (.*?) \| (.*?) \| (\w+) \|$", text, flags=re.MULTILINE)
    assert {name: tuple(rest) for name, *rest in rows} == expected


def test_every_connector_in_python_has_its_row_with_its_extra_and_its_address() -> None:
    rows = table("call-any-service.md", "connector", "CONNECTOR_ID_URL", "further variables")
    assert set(rows) == {one.id for one in CONNECTORS} == set(EXTRAS)


def test_every_field_of_a_manifest_has_its_row() -> None:
    written = {name for row in table("connectors.md", "field", "meaning") for name in re.findall(r"[a-z_]+", row)}
    action = SCHEMA["properties"]["actions"]["additionalProperties"]["properties"]
    assert written >= {*SCHEMA["properties"], *action}


def test_every_type_of_authentication_has_its_row_with_its_variables() -> None:
    text = (DOCS / "connectors.md").read_text()
    for kind in AuthType:
        [row] = re.findall(rf"^\| `{kind.value}`.*$", text, flags=re.MULTILINE)
        assert all(f"CONNECTOR_ID_{name.upper()}" in row for name in SECRETS[kind])
