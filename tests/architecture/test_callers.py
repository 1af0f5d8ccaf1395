"""Commands know who asks: no command has a tenant by default, and no caller names itself in an argument."""

from __future__ import annotations

import pytest

from tests.architecture import measure
from tests.architecture.test_budgets import SOURCES

BOUND = ("commands", "triggers")


def test_the_default_tenant_is_named_where_callers_are_made_and_as_the_owner_of_the_installation() -> None:
    naming = {"/".join(source.path.parts[1:3]) for source in SOURCES if "DEFAULT_TENANT" in source.text}
    assert naming == {"settings.py", "auth/caller.py", "tenants/limits.py"}


@pytest.mark.parametrize(
    "source", [one for one in SOURCES if one.path.parts[1] in BOUND], ids=lambda one: str(one.path)
)
def test_no_command_takes_a_tenant_by_default_or_the_name_of_its_caller(source: measure.Source) -> None:
    found = []
    for node in source.functions:
        given = node.args
        optional = (given.posonlyargs + given.args)[len(given.posonlyargs + given.args) - len(given.defaults) :]
        optional += [one for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default]
        every = given.posonlyargs + given.args + given.kwonlyargs
        found += [f"{node.name}({one.arg}=)" for one in optional if one.arg == "tenant"]
        found += [f"{node.name}({one.arg})" for one in every if one.arg == "by"]
    assert found == []
