"""Whatever is sent to a route, the answer is one that the OpenAPI document tells of, in time, and no mistake.

`python -m tests.property --seconds 300` looks for longer.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.property.campaign import Campaign, Report, campaign
from tests.property.requests_of import Kind
from tests.property.server import served
from tests.servers.postgres import PostgresServer

# The same requests on every machine that decides about a change, others wherever there is time to look.
SEED = 1 if os.environ.get("CI") else secrets.randbelow(1_000_000)


def check(report: Report) -> None:
    told = "\n".join(line for violation in report.violations for line in violation.lines())
    assert report.violations == [], f"seed {report.seed}: {report.summary()}\n{told}"
    assert report.requests > 100
    # With two right requests each, about half are not: their run is over, or their template was deleted.
    assert len(report.never_good()) < len(report.reached) * 2 / 3, f"too few routes were reached: {report.never_good()}"


def is_alias(label: str) -> bool:
    """Whether an operation is another address of the same function, as `/executions` is one of `/runs`."""
    return "/executions" in label or "/workflows/{workflow}/runs/{run}" in label


def right_or_plain(label: str, kind: Kind) -> bool:
    return kind is Kind.RIGHT or not is_alias(label)


def for_the_store(label: str, kind: Kind) -> bool:
    """Whether such requests reach the database: one that is wrong by the document is refused before."""
    return kind is not Kind.WRONG and not is_alias(label)


@pytest.mark.slow
@pytest.mark.case("F19")
def test_every_answer_is_one_that_the_document_tells_of(tmp_path: Path) -> None:
    check(campaign(f"sqlite:///{tmp_path}/detent.db", SEED, tmp_path, rounds=1, per_turn=2, wanted=right_or_plain))


@pytest.mark.slow
@pytest.mark.case("F19")
def test_every_answer_is_one_that_the_document_tells_of_on_postgresql(
    postgres: PostgresServer, postgres_database: str, tmp_path: Path
) -> None:
    check(campaign(postgres_database, SEED, tmp_path, rounds=1, per_turn=2, wanted=for_the_store))


ROUTE = "/api/v1/workflows/{workflow}"


def know_no_404(operation: dict[str, Any]) -> None:
    del operation["responses"]["404"]


def promise_a_list(operation: dict[str, Any]) -> None:
    operation["responses"]["200"]["content"]["application/json"]["schema"] = {"type": "array"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "reason"), [(know_no_404, "Undocumented status code"), (promise_a_list, "violates schema")]
)
def test_an_answer_that_the_document_does_not_tell_of_is_found(
    edit: Callable[[dict[str, Any]], None], reason: str, tmp_path: Path
) -> None:
    def leave_one(document: dict[str, Any]) -> None:
        operation = document["paths"][ROUTE]["get"]
        edit(operation)
        document["paths"] = {ROUTE: {"get": operation}}

    with served("memory://", tmp_path / "log") as url:
        report = Campaign(url, 1, edit=leave_one).run(rounds=40)
    assert report.violations, "nothing was found"
    for violation in report.violations:  # the same one for right and for wrong requests
        assert violation.operation == f"GET {ROUTE}"
        assert reason in violation.reason
        assert "http://127.0.0.1:8080/api/v1/workflows/" in violation.curl
