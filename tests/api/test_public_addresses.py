"""Public addresses have no tenant in them, and find the one of what they name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from detent.auth.caller import Caller
from detent.commands import Commands
from detent.ids import TRIGGER, WORKFLOW, show
from tests.api.server import Detent, serving

HOOK = "name: hook\ntrigger: {type: webhook}\ntasks:\n  w: {wait_for_webhook: {timeout: 1h}}\n"


@pytest.fixture
async def detent(tmp_path: Path) -> AsyncIterator[Detent]:
    async with serving(f"sqlite:///{tmp_path}/detent.db") as opened:
        yield opened


def commands_of(detent: Detent, tenant: int) -> Commands:
    return detent.app.commands.for_caller(Caller(tenant, "test"))


async def test_a_webhook_and_its_callback_belong_to_the_tenant_of_the_trigger(detent: Detent) -> None:
    bound = commands_of(detent, 2)
    workflow, *_ = await bound.workflows.save(HOOK)
    [trigger] = await detent.app.triggers.for_caller(Caller(2, "test")).editor.find(limit=9)
    address = f"/api/v1/triggers/{show(TRIGGER, trigger.id)}"
    by_id = f"/webhook/workflow/trigger/{show(WORKFLOW, workflow.id)}"
    for path in (address, by_id):
        answer = await detent.call("POST", path, json={})
        assert answer.status == 201, answer.text
        run = answer.json["data"]["run_id"]
        assert (await bound.runs.row(run)).tenant == 2
        token = "/wh/" + (await bound.runs.get(run)).callbacks[0].url.rpartition("/")[2]
        assert (await detent.call("GET", token)).status == 200
        assert (await detent.call("POST", token, json={})).status in (200, 202)
    assert (await detent.call("POST", "/webhook/workflow/trigger/hook", json={})).status == 404, "a name is of tenant 1"
