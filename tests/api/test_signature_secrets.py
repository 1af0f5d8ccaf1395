"""Signature secrets of webhooks are secrets of the store, also those that an older release has stored as plain text."""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from detent.commands.vault.signatures import SEALED, SignatureSecrets
from detent.vault.sealing import new_key
from tests.api.server import Detent, serving

FIRST, SECOND, OWN, SHORT = "plain-secret-of-version-1", "plain/secret+of'version 2", "secret-of-own-trigger", "s3cret"
YAML = """# a comment that stays
name: hook
trigger:
  type: webhook
  signature:
    preset: github
    secrets: {secrets}
tasks:
  a: {{action: core.echo, with: {{value: 1}}}}
"""


def _rows(path: Path) -> str:
    """Return every row of the database as text."""
    found = []
    with closing(sqlite3.connect(path)) as connection:
        for (table,) in connection.execute("select name from sqlite_master where type = 'table'").fetchall():
            for row in connection.execute(f'select * from "{table}"'):
                cells = (one.decode(errors="replace") if isinstance(one, bytes) else str(one) for one in row)
                found.append(f"{table}: {' '.join(cells)}")
    return "\n".join(found)


async def _accepts(detent: Detent, trigger: str, secret: str) -> bool:
    body = b'{"n": 1}'
    digest = hmac.digest(secret.encode(), body, hashlib.sha256).hex()
    headers = {"X-Hub-Signature-256": f"sha256={digest}", "Content-Type": "application/json"}
    answer = await detent.call("POST", f"/api/v1/triggers/{trigger}", data=body, headers=headers)
    assert answer.status in (200, 201, 202, 401), answer.text
    return answer.status != 401


async def _triggers(detent: Detent) -> dict[str, dict[str, Any]]:
    found = (await detent.call("GET", "/api/v1/triggers")).json["data"]
    return {one["owned_by"]: one for one in found}


async def _saved_by_an_older_release(detent: Detent) -> None:
    await detent.save(YAML.format(secrets=FIRST))
    quoted = json.dumps(
        [
            SECOND,
            {"env": "HOOK"},
        ]
    )
    assert (await detent.call("PUT", "/api/v1/workflows/hook", data=YAML.format(secrets=quoted))).status == 200
    draft = await detent.call("PUT", "/api/v1/workflows/hook?draft=true", data=YAML.format(secrets=json.dumps([FIRST])))
    assert draft.status == 200, draft.text
    config = {"signature": {"preset": "github", "secrets": [OWN, SHORT]}}
    made = await detent.call("POST", "/api/v1/triggers", json={"workflow": "hook", "type": "webhook", "config": config})
    assert made.status == 201, made.text


async def _sealed(detent: Detent, secrets: Any) -> None:
    """Seal everything with two nodes that take turns, after one of them was killed in between."""
    dead, *others = [SignatureSecrets(detent.app.store, secrets) for _ in range(3)]
    await dead.poll()
    while [await one.poll() for one in others] != [600.0, 600.0]:
        pass


async def test_plain_secrets_of_an_older_release_are_sealed_and_still_checked(tmp_path: Path) -> None:
    path, key, newer = tmp_path / "detent.db", new_key(), new_key()
    url = f"sqlite:///{path}"
    async with serving(url) as detent:
        await _saved_by_an_older_release(detent)
        before = await _triggers(detent)
        assert await _accepts(detent, before["api"]["id"], OWN), "a node without a key reads the plain ones"
        text = json.dumps(before)
        assert not any(secret in text for secret in (FIRST, SECOND, OWN, SHORT))
    assert all(secret in _rows(path) for secret in (FIRST, SECOND, OWN, SHORT))
    async with serving(url, encryption_key=key) as detent:
        await _sealed(detent, detent.app.engine.secrets)
        assert await detent.app.store.setting(SEALED, "") == "yes"
        after = await _triggers(detent)
        for trigger, secret in (("definition", SECOND), ("api", OWN), ("api", SHORT)):
            assert await _accepts(detent, after[trigger]["id"], secret)
        assert not await _accepts(detent, after["api"]["id"], FIRST)
        shown = (await detent.call("GET", "/api/v1/workflows/hook?as=yaml")).text
        names = [one["name"] for one in (await detent.call("GET", "/api/v1/secrets")).json["data"]]
        assert len(names) == 4
        step = {"name": "steal", "tasks": {"a": {"url": detent.app.local_url, "body": f"{{{{secrets.{names[0]}}}}}"}}}
        await detent.save(json.dumps(step))
        run = await detent.ended(await detent.start("steal", {}))
        assert run["tasks"]["a"]["error"]["code"] == "secret_host"
    rows = _rows(path)
    assert [secret for secret in (FIRST, SECOND, OWN, SHORT) if secret in rows or secret in shown] == []
    assert "# a comment that stays" in rows
    async with serving(url, encryption_key=f"{newer},{key}") as detent:
        assert (await detent.call("POST", "/api/v1/rotate-secrets")).json["data"]["sealed"] == 4
    async with serving(url, encryption_key=newer) as detent:
        assert await _accepts(detent, after["definition"]["id"], SECOND)


async def test_with_a_key_no_plain_secret_reaches_the_database(tmp_path: Path) -> None:
    path, key, newer = tmp_path / "detent.db", new_key(), new_key()
    url, text = f"sqlite:///{path}", YAML.format(secrets=FIRST)
    async with serving(url, encryption_key=key) as detent:
        await _saved_by_an_older_release(detent)
        wrong = await detent.call("POST", "/api/v1/workflows", data=text.replace("github", "githug"))
        assert wrong.status == 422 or wrong.status == 400
        assert FIRST not in wrong.text
        triggers = await _triggers(detent)
        assert await _accepts(detent, triggers["definition"]["id"], SECOND)
        assert await _accepts(detent, triggers["api"]["id"], SHORT)
        same = {"config": triggers["api"]["config"]}
        place = f"/api/v1/triggers/{triggers['api']['id']}"
        assert (await detent.call("PUT", place, json=same)).status == 200
        assert await _accepts(detent, triggers["api"]["id"], OWN)
    rows = _rows(path)
    assert [secret for secret in (FIRST, SECOND, OWN, SHORT) if secret in rows] == []
    async with serving(url, encryption_key=f"{newer},{key}") as detent:
        again = await detent.call("PUT", "/api/v1/workflows/hook", data=text)
        assert again.json["data"]["current_version"] == 1, "the same text is the same version, with a newer key too"
        asked = {"definitions": [{"file": "a.yaml", "text": text}]}
        planned = await detent.call("POST", "/api/v1/workflows/plan", json=asked)
        assert planned.status == 200, planned.text
        assert planned.json["data"][0]["change"] == "unchanged", planned.text
