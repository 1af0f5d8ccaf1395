"""Ten operations of a public API, called through a node, against a server that is generated from its document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from detent.values.yaml import load_yaml
from tests.api.described import described
from tests.api.server import serving

DOCUMENT = Path(__file__).with_name("box.yaml")
FOLDER = {"folder_id": "12345"}
CALLS: dict[str, dict[str, Any]] = {
    "post-folders": {"body": {"name": "Offers", "parent": {"id": "0"}}, "fields": ["id", "name"]},
    "get-folders-id": {**FOLDER, "if-none-match": "1", "sort": "name"},
    "put-folders-id": {**FOLDER, "if-match": "1", "body": {"name": "Won", "tags": ["a", "b"]}},
    "delete-folders-id": {**FOLDER, "recursive": True},
    "get-folders-id-items": {**FOLDER, "limit": 100, "fields": ["id", "type"]},
    "get-files-id": {"file_id": "a b/c"},
    "post-comments": {"body": {"message": "Seen", "item": {"id": "7", "type": "file"}}},
    "get-search": {"query": "offer & more", "file_extensions": ["pdf", "docx"], "type": "file"},
    "post-webhooks": {
        "body": {
            "target": {"id": "7", "type": "file"},
            "address": "https://shop.example/hooks",
            "triggers": ["FILE.DELETED"],
        }
    },
    "get-users-me": {"fields": ["id"]},
}


async def test_ten_operations_of_a_public_api_fit_its_document(monkeypatch: pytest.MonkeyPatch) -> None:
    text = DOCUMENT.read_bytes()
    async with described(load_yaml(text.decode(), depth=50)) as (url, service), serving("memory://") as api:
        monkeypatch.setenv("CONNECTOR_BOX_URL", url)
        monkeypatch.setenv("CONNECTOR_BOX_TOKEN", "token-of-box")
        headers = {"Content-Type": "application/yaml"}
        made = await api.call("POST", "/api/v1/connectors/import/openapi?name=box", data=text, headers=headers)
        assert made.status == 200, made.text
        assert (made.json["data"]["actions"], made.json["data"]["skipped"]) == (10, [])
        tasks = {name: {"action": f"box.{name}", "with": given} for name, given in CALLS.items()}
        await api.save(json.dumps({"name": "all", "tasks": tasks}))
        run = await api.ended(await api.start("all", {}))
        assert service.problems == []
        assert run["status"] == "completed", run
        assert sorted(service.called) == sorted(name.replace("-", "_") for name in CALLS)
        outputs = {name: run["tasks"][name]["output"] for name in CALLS}
        assert [*service.fits({"$ref": "#/components/schemas/File"}, outputs["get-files-id"])] == []
        assert outputs["get-files-id"]["size"] is not None
        assert outputs["delete-folders-id"] is None
        async with aiohttp.ClientSession() as session:
            await session.get(f"{url}/folders/1?sort=colour&page=2")
            await session.post(f"{url}/comments", json={"message": "x"})
        assert len(service.problems) == 3, "the server does refuse what the document does not allow"
