"""`detent credentials` on a database. No command prints a sealed part."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from detent.vault.sealing import new_key
from tests.cli.program import detent as run_detent

pytestmark = pytest.mark.slow
SECRET = "correct-horse-battery"


def test_a_credential_is_set_from_parts_files_and_the_standard_input(folder: Path) -> None:
    key = new_key()

    def detent(*arguments: str, given: str = "") -> tuple[int, str]:
        done = run_detent(folder, "credentials", *arguments, given=given, DETENT_ENCRYPTION_KEY=key)
        return done.returncode, done.stdout + done.stderr

    code, said = detent(
        "set", "crm", "--kind", "basic", "--part", "username=ann", "--host", "crm.example.com", given=f"{SECRET}\n"
    )
    assert code == 0, said
    assert "ready" in said
    (folder / "aws.txt").write_text(f"{SECRET}\n")
    parts = ("--part", "access_key_id=AKIA", "--part", "service=s3", "--part", "region=eu-west-1")
    kind = ("set", "aws", "--kind", "aws4", "--host", "*.amazonaws.com")
    assert detent(*kind, *parts, "--secret-file", "secret_access_key=aws.txt")[0] == 0
    (folder / "code.yaml").write_text(
        "kind: oauth2_code\nhosts: [crm.example.com]\nclient_id: detent\n"
        "authorization_url: https://id.example.com/a\ntoken_url: https://id.example.com/t\n"
    )
    assert "detent credentials connect code" in detent("set", "code", "--file", "code.yaml")[1]
    listed = detent("list")[1]
    assert all(name in listed for name in ("aws", "code", "crm"))
    shown = detent("show", "aws", "--json")[1]
    assert json.loads(shown)["config"]["region"] == "eu-west-1"
    assert all(words in detent("show", "aws")[1] for words in ("AKIA", "1, of its values and tokens"))
    assert SECRET not in listed + shown
    code, said = detent("connect", "code")
    assert code != 0
    assert "needs an engine" in said
    assert detent("delete", "aws", "--yes")[0] == 0
    assert detent("show", "aws")[0] != 0
    code, said = detent("set", "x", "--kind", "tokn", "--host", "a.example", given="x")
    assert code != 0
    assert "did you mean 'token'" in said
