"""People on the command line, on a database without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import detent

PASSWORD = "correct horse battery"


@pytest.mark.slow
def test_people_are_added_changed_and_disabled(tmp_path: Path) -> None:
    def says(*arguments: str, code: int = 0, given: str | None = None) -> str:
        done = detent(tmp_path, "users", *arguments, given=given)
        assert done.returncode == code, done.stdout + done.stderr
        assert PASSWORD not in done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr

    created = says("create", "Alice", "--role", "admin", "--password-stdin", given=f"{PASSWORD}\n")
    assert created == "added  alice  admin\n"
    assert "10 to 256" in says("create", "bob", "--role", "admin", "--password-stdin", code=2, given="short\n")
    assert "--password-stdin" in says("create", "bob", "--role", "admin", code=2)
    assert says("role", "alice", "editor") == "editor is  alice  editor\n"
    says("password", "alice", "--password-stdin", given="another one here\n")
    assert says("disable", "alice") == "disabled  alice  editor\n"
    [alice] = json.loads(says("list", "--json"))
    assert (alice["name"], alice["role"], alice["disabled"]) == ("alice", "editor", True)
    says("enable", "alice")
    assert "active" in says("list")
    assert json.loads(says("sessions", "--json")) == []
    assert "there is no session" in says("end-session", "ses_nope", code=1)
    assert "there is no person" in says("disable", "nope", code=1)

    listed = json.loads(detent(tmp_path, "audit", "list", "--limit", "1000", "--json").stdout)
    exported = detent(tmp_path, "audit", "export", "--from", "1h").stdout.splitlines()
    assert [json.loads(line) for line in exported] == listed
    assert ("create_user", "alice", "done") in {(row["action"], row["object"], row["outcome"]) for row in listed}
