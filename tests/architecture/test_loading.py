"""A command that opens the database by itself begins at once: what only others need is not loaded."""

import subprocess
import sys

import pytest

ASKING = """
import sys
from detent.embed.local import open_here
from detent.client.calls import Request
from detent.settings import Settings

with open_here(Settings(database_url="memory://")) as transport:
    answer = transport.send(Request("GET", "/api/v1/runs", {}, None, 10.0))
assert answer.status == 200, answer
print(*sys.modules)
"""
NODE = "import sys, detent.process, detent.api.server.listener; print(*sys.modules)"


def loaded(program: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def answering() -> set[str]:
    return loaded(ASKING)


@pytest.fixture(scope="module")
def working() -> set[str]:
    return loaded(NODE)


@pytest.mark.parametrize(
    "module", ["aiohttp", "uvicorn", "detent.process", "detent.steps.http.step", "detent.python.classes.executor"]
)
def test_only_a_node_that_runs_workflows_loads(module: str, answering: set[str], working: set[str]) -> None:
    assert module not in answering
    assert module in working


@pytest.mark.parametrize(
    "module", ["pydantic", "attr", "sqlalchemy.orm", "sqlalchemy.dialects.mysql", "sqlalchemy.dialects.postgresql"]
)
def test_who_answers_from_a_database_of_his_own_does_not_load(module: str, answering: set[str]) -> None:
    assert module not in answering


def test_sessions_of_sqlalchemy_are_loaded_only_by_those_who_have_some(working: set[str]) -> None:
    assert "sqlalchemy.orm" not in working
