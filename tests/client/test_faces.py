"""Both faces can do the same, and importing one costs only what it needs."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from detent import AsyncClient, Client
from detent.client import client

PAIRS = [
    (Client("http://x"), AsyncClient("http://x")),
    (Client("http://x").workflows, AsyncClient("http://x").workflows),
    (Client("http://x").triggers, AsyncClient("http://x").triggers),
    (Client("http://x").workflow_templates, AsyncClient("http://x").workflow_templates),
    (Client("http://x").document_templates, AsyncClient("http://x").document_templates),
    (Client("http://x").rules, AsyncClient("http://x").rules),
    (Client("http://x").entities, AsyncClient("http://x").entities),
    (Client("http://x").alerts, AsyncClient("http://x").alerts),
    (Client("http://x").action_templates, AsyncClient("http://x").action_templates),
    (Client("http://x").run("run_1"), AsyncClient("http://x").run("run_1")),
]
ROOT = Path(__file__).parents[2]


def methods(face: object) -> dict[str, inspect.Signature]:
    found = {name: getattr(face, name) for name in dir(face) if not name.startswith("_")}
    return {name: inspect.signature(one) for name, one in found.items() if callable(one)}


def without_result(signature: inspect.Signature) -> inspect.Signature:
    return signature.replace(return_annotation=inspect.Signature.empty)


@pytest.mark.parametrize(("blocking", "awaiting"), PAIRS, ids=lambda face: type(face).__name__)
def test_both_faces_have_the_same_methods_with_the_same_parameters(blocking: object, awaiting: object) -> None:
    one, other = methods(blocking), methods(awaiting)
    assert {name: without_result(found) for name, found in one.items()} == {
        name: without_result(found) for name, found in other.items()
    }
    assert len(one) >= 4


def test_a_method_of_a_run_does_not_ask_for_the_run() -> None:
    assert list(methods(Client("http://x").run("run_1"))["fork"].parameters) == [
        "step",
        "output",
        "status_code",
        "request_id",
    ]


@pytest.mark.parametrize(
    "kind",
    [
        client.ClientOperations,
        client.RunOperations,
        client.WorkflowOperations,
        client.TriggerOperations,
        client.WorkflowTemplateOperations,
        client.DocumentTemplateOperations,
        client.RuleOperations,
        client.EntityOperations,
        client.AlertOperations,
        client.ActionTemplateOperations,
    ],
)
def test_every_operation_says_what_it_does(kind: type) -> None:
    operations = [one for name, one in vars(kind).items() if not name.startswith("_")]
    assert operations
    assert all(one.__doc__ and one.__doc__ != type(one).__doc__ for one in operations)


def loaded(code: str) -> set[str]:
    script = f"import sys; {code}; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300, cwd=ROOT
    )
    return set(found.stdout.split())


def test_the_blocking_face_does_not_load_aiohttp_nor_the_engine() -> None:
    modules = loaded("from detent import Client")
    assert "detent.client.client" in modules
    assert not {"aiohttp", "detent.engine", "detent.steps", "litestar", "sqlalchemy"} & modules


def test_importing_detent_loads_no_client() -> None:
    assert "detent.client" not in loaded("import detent")
