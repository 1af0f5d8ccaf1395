"""Secrets from elsewhere: variables, files, and a KV store on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from detent.errors import InvalidInput
from detent.steps.http.source import OperatorJson
from detent.steps.http.step import HttpSettings
from detent.vault.providers import KvProvider, build_providers
from detent.vault.sealing import Vault
from detent.vault.secrets import SecretOpener, SecretUnavailable

VALUE = "a-value-from-elsewhere"
READ = OperatorJson(HttpSettings())


@asynccontextmanager
async def _kv(answer: Any, status: int = 200) -> AsyncIterator[tuple[str, list[str | None]]]:
    asked: list[str | None] = []

    async def get(request: web.Request) -> web.Response:
        asked.append(request.headers.get("X-Vault-Token"))
        return web.json_response(answer, status=status)

    app = web.Application()
    app.router.add_get("/v1/kv/data/detent", get)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1/kv/data/detent", asked
    finally:
        await runner.cleanup()


def _opener(written: list[str], **environ: str) -> SecretOpener:
    opener = SecretOpener(Vault(()), providers=build_providers(written, READ, environ=environ))
    opener.provided_to = 1
    return opener


async def test_only_variables_that_are_listed_are_read() -> None:
    opener = _opener(["env:STRIPE_KEY", "env:GONE"], STRIPE_KEY=VALUE, DETENT_ENCRYPTION_KEY="k" * 43)
    assert (await opener.open(1, ["STRIPE_KEY"]))["STRIPE_KEY"].value == VALUE
    assert opener.redactors[1].text(f"x {VALUE}") == "x ***"
    for name in ("DETENT_ENCRYPTION_KEY", "GONE"):
        with pytest.raises(SecretUnavailable, match="there is no secret"):
            await opener.open(1, [name])
    with pytest.raises(SecretUnavailable, match="there is no secret"):
        await opener.open(2, ["STRIPE_KEY"])
    assert await opener.missing(1, ["STRIPE_KEY", "GONE"]) == ["GONE"]


async def test_a_file_is_a_secret_and_no_name_leaves_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "KEY").write_text(VALUE + "\n")
    (folder / "SHORT").write_text("abc")
    (tmp_path / "OUTSIDE").write_text(VALUE)
    opener = _opener([f"file:{folder}"])
    assert (await opener.open(1, ["KEY"]))["KEY"].value == VALUE
    for name in ("../OUTSIDE", "MISSING"):
        with pytest.raises(SecretUnavailable, match="there is no secret"):
            await opener.open(1, [name])
    with pytest.raises(SecretUnavailable, match="has 3 bytes"):
        await opener.open(1, ["SHORT"])


async def test_a_kv_store_is_read_again_after_five_minutes() -> None:
    now = [0.0]
    async with _kv({"data": {"data": {"KEY": VALUE, "NUMBER": 7}}}) as (url, asked):
        provider = KvProvider(url, "token", READ, now=lambda: now[0])
        assert [await provider.read(name) for name in ("KEY", "KEY", "NUMBER", "OTHER")] == [VALUE, VALUE, None, None]
        assert asked == ["token"]
        now[0] = 301.0
        assert await provider.read("KEY") == VALUE
        assert asked == ["token", "token"]
        await provider.close()


@pytest.mark.parametrize(("answer", "status"), [({"errors": []}, 403), ({"data": {"KEY": VALUE}}, 200), ([], 200)])
async def test_a_kv_store_that_answers_something_else_is_tried_again(answer: Any, status: int) -> None:
    async with _kv(answer, status) as (url, _):
        opener = _opener([f"vault:{url}"], VAULT_TOKEN="token")
        with pytest.raises(SecretUnavailable) as refused:
            await opener.open(1, ["KEY"])
        assert refused.value.retry
        assert refused.value.code == "secret_unavailable"
    with pytest.raises(SecretUnavailable, match="cannot be read"):
        await _opener(["vault:http://127.0.0.1:9/v1/kv/data/x"]).open(1, ["KEY"])


@pytest.mark.parametrize("written", ["env:", "env:not a name", "file:relative", "vault:host", "other:x", ""])
def test_a_provider_that_cannot_be_read_is_refused(written: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build_providers([written], READ)
    assert refused.value.problems[0].field == "DETENT_SECRET_PROVIDERS"
