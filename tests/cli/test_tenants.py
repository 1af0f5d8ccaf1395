"""Tenants on the command line, on a database without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import detent


@pytest.mark.slow
def test_what_a_tenant_may_do_is_set_shown_and_restored(tmp_path: Path) -> None:
    def says(*arguments: str, code: int = 0) -> str:
        done = detent(tmp_path, "tenants", *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr

    says("create", "acme")
    assert says("show", "acme").splitlines() == [
        "tenant  acme  active",
        "actions    core actions, http and its own connectors",
        "egress     as the installation says",
        "retention  as the installation says",
    ]
    says("set", "acme", "--allow", "slack.*", "--allow", "workflow:Invoice", "--retention-days", "30")
    changed = says("set", "acme", "--allow", "billing.charge", "--forbid", "slack.*", "--egress", "api.example.com")
    assert changed.splitlines() == [
        "changed  acme  active",
        "actions    core actions, http, its own connectors, workflow:Invoice, billing.charge",
        "egress     api.example.com",
        "retention  30 days",
    ]
    assert "'slack.*' is not in the list" in says("set", "acme", "--forbid", "slack.*", code=2)
    assert "is not a name or a pattern of actions" in says("set", "acme", "--allow", "slack", "--allow", "a b", code=2)
    assert "nothing to set" in says("set", "acme", code=2)
    assert "is not one of actions" in says("set", "acme", "--default", "plan", code=2)
    says("set", "acme", "--egress", "none", "--default", "actions", "--default", "retention-days")
    found = json.loads(says("show", "acme", "--json"))
    assert (found["actions"], found["egress"], found["retention_days"]) == (None, [], None)
