"""Row security behind the API: a statement that forgets its condition shows nothing of another tenant."""

from __future__ import annotations

import pytest
from sqlalchemy import bindparam

from detent.ids import RUN, parse
from detent.store.sql import run_statements
from detent.store.sql.schema import run
from tests.servers.postgres import PostgresServer
from tests.tenants.world import CANARIES, A, B, two_tenants

LISTS = (
    "runs", "workflows", "triggers", "entities", "rules", "connectors", "actions", "keys", "users", "sessions",
    "secrets", "credentials", "audit", "alerts", "dead-letters", "templates/workflows", "action-templates",
)  # fmt: skip


@pytest.mark.case("K1")
async def test_a_forgotten_condition_shows_a_caller_nothing_of_another_tenant(
    postgres: PostgresServer, postgres_template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.create_database(template=postgres_template)
    async with two_tenants(url, row_security=True) as world:
        forgetful = run_statements._SELECTED["row"].where(run.c.id == bindparam("run"))  # noqa: SLF001
        monkeypatch.setattr(run_statements, "RUN", forgetful)
        theirs = world.objects[B]["run"][0]
        assert (await world.call(A, "GET", f"/api/v1/runs/{world.objects[A]['run'][0]}")).status == 200
        assert (await world.call(A, "GET", f"/api/v1/runs/{theirs}")).status == 404
        row = await world.app.store.run(A, parse(RUN, theirs))
        assert row is not None, "without row security it shows the run"
        assert row.tenant == B
        for name in LISTS:
            answer = await world.call(A, "GET", f"/api/v1/{name}")
            assert answer.status == 200, f"{name}: {answer.text}"
            assert CANARIES[B] not in answer.text, name
    postgres.drop_database(url)
