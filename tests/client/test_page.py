"""The page about the client: its Python runs as it stands there, and its tables name everything there is."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import pytest

import detent.client
from detent.client import client, runs
from detent.errors import DetentError
from detent.settings import load_settings
from tests.docs.pages import DOCS, Block, blocks_of, module_name, table

PAGE = DOCS / "python-client.md"
SHOWN = re.compile(r"^\s*print\(.*\)  # (?P<told>.*)$", re.MULTILINE)
BLOCKS = [block for block in blocks_of(PAGE) if block.language == "python"]


def test_the_python_of_the_page_prints_what_it_says(detent_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DETENT_URL", detent_url)
    module = ModuleType(module_name(PAGE))
    for block in BLOCKS:
        assert told_by(block, module) == SHOWN.findall(block.text), block.place
    module.__dict__["client"].close()


def told_by(block: Block, module: ModuleType) -> list[str]:
    told: list[str] = []

    def remember(*words: Any) -> None:
        told.append(" ".join(map(str, words)))

    vars(module)["print"] = remember
    exec(compile("\n" * block.line + block.text, str(PAGE), "exec"), vars(module))
    return told


def test_the_page_has_examples_of_every_sort() -> None:
    assert len(BLOCKS) >= 8
    assert sum(len(SHOWN.findall(block.text)) for block in BLOCKS) >= 10


def test_every_option_of_a_start_has_a_row() -> None:
    known = set(runs.start.__annotations__) - {"workflow", "body", "return"}
    assert set(table(PAGE.name, "option", "meaning")) == known


def test_every_error_has_a_row() -> None:
    public = {name: getattr(detent.client, name) for name in detent.client.__all__}
    errors = {name for name, one in public.items() if isinstance(one, type) and issubclass(one, DetentError)}
    assert set(table(PAGE.name, "raised", "when")) == errors


def test_every_method_has_a_row() -> None:
    places = {
        "client": client.ClientOperations,
        "client.workflows": client.WorkflowOperations,
        "client.workflow_templates": client.WorkflowTemplateOperations,
        "client.document_templates": client.DocumentTemplateOperations,
        "client.rules": client.RuleOperations,
        "client.entities": client.EntityOperations,
        "client.alerts": client.AlertOperations,
        "client.action_templates": client.ActionTemplateOperations,
        "client.triggers": client.TriggerOperations,
        "client.dead_letters": client.LetterOperations,
        "client.connectors": client.ConnectorOperations,
        "client.blobs": client.BlobOperations,
        "client.keys": client.KeyOperations,
        "client.tenants": client.TenantOperations,
        "client.secrets": client.SecretOperations,
        "client.credentials": client.CredentialOperations,
        "client.audit": client.AuditOperations,
        "run": client.RunOperations,
    }
    known = {f"{place}.{name}" for place, kind in places.items() for name in vars(kind) if not name.startswith("_")}
    assert set(table(PAGE.name, "method", "does")) == known


def test_the_address_in_the_environment_is_no_unknown_setting(tmp_path: Any) -> None:
    assert load_settings({}, environ={"DETENT_URL": "http://x"}, folder=tmp_path).warnings == ()
