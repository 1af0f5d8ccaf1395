"""The wall between tenants: every statement has the tenant in its conditions, or a line that says why not."""

from __future__ import annotations

from types import ModuleType

import pytest
from sqlalchemy import bindparam, delete, or_, select, text, update

from detent.store.sql.compiler import InsertIfAbsent, Unindexed
from detent.store.sql.schema import run, setting, trigger, workflow
from detent.store.sql.tenants.engine_statements import ENGINE_STATEMENTS
from tests.store.statement_walls import is_walled, statements, statements_of

EVERY = list(statements())
_TENANT = run.c.tenant == bindparam("tenant")
_RUN = run.c.id == bindparam("run")


def has_line(key: str) -> bool:
    return key in ENGINE_STATEMENTS or key.partition(":")[0] in ENGINE_STATEMENTS


def test_every_statement_has_the_tenant_in_its_conditions_or_a_reason() -> None:
    assert len(EVERY) > 250
    assert sorted({key for key, clause in EVERY if not is_walled(clause) and not has_line(key)}) == []


def test_every_line_is_needed() -> None:
    broken = {key for key, clause in EVERY if not is_walled(clause)}
    modules = {key.partition(":")[0] for key, _ in EVERY}
    known = {key for key, _ in EVERY}
    names = [key for key in ENGINE_STATEMENTS if ":" in key]
    assert [key for key in names if key not in known] == []
    assert [key for key in names if key not in broken] == []
    assert [key for key in ENGINE_STATEMENTS if ":" not in key and key not in modules] == []


@pytest.mark.parametrize(
    "forgetful",
    [
        select(run.c.id).where(_RUN),
        select(run.c.id).where(or_(_TENANT, _RUN)),
        select(run.c.id).where(run.c.tenant != bindparam("tenant")),
        select(run.c.id).where(run.c.tenant == workflow.c.tenant),
        select(run.c.id).join_from(run, workflow, workflow.c.id == run.c.workflow).where(_RUN),
        select(select(run.c.id).where(_RUN).subquery().c.id),
        select(select(run.c.id).where(_RUN).scalar_subquery()),
        select(run.c.id).where(_TENANT).union_all(select(run.c.id).where(_RUN)),
        update(trigger).where(trigger.c.id == bindparam("trigger")).values({trigger.c.name: bindparam("new")}),
        delete(run).where(_RUN),
        InsertIfAbsent(text("insert into run (id, workflow) values (:id, :workflow)")),
        text("select id from run where id = :run"),
        "select id, tenant from run where id = $1",
        "update run set status = 'x' where id = $1",
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_statement_that_forgets_the_tenant_is_found(forgetful: object) -> None:
    module = ModuleType("detent.store.sql.new_statements")
    module.FORGETFUL = forgetful  # type: ignore[attr-defined]
    found = list(statements_of(module))
    assert [key for key, clause in found if not is_walled(clause)] == ["new_statements:FORGETFUL"]


@pytest.mark.parametrize(
    "careful",
    [
        select(run.c.id).where(_TENANT, _RUN),
        select(run.c.id).where(Unindexed(run.c.tenant) == bindparam("tenant"), _RUN),
        select(select(run.c.id).where(_TENANT).subquery().c.id),
        delete(run).where(_TENANT, _RUN),
        select(setting.c.value),
        "select id from run where tenant = $1 and id = $2",
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_statement_about_one_tenant_or_about_none_passes(careful: object) -> None:
    assert is_walled(careful)  # type: ignore[arg-type]
