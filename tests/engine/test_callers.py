"""Commands read and change what belongs to their caller, and the journal records the caller's name."""

from __future__ import annotations

import pytest

from detent.auth.caller import Caller, local_caller
from detent.commands import EngineCommands
from detent.commands.bulk import BulkAction
from detent.errors import NotFound
from detent.run.journal import Kind, decode_data
from detent.run.start import StartRequest
from detent.store.rows import RunCriteria
from tests.engine.commands import run_id, save, start
from tests.engine.rig import TENANT, rig, virtual

OTHER = Caller(TENANT + 1, "eve")


@virtual
async def test_a_caller_of_another_tenant_finds_neither_the_workflow_nor_the_run() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {"sleep": 60}})
        run = run_id(await start(engine, "w", request_id="r1"))
        theirs = EngineCommands(engine).for_caller(OTHER)
        for refused in (
            theirs.workflows.get("w"),
            theirs.starts.start(StartRequest("w")),
            theirs.runs.get(run),
            theirs.runs.why(run),
            theirs.control.cancel(run),
            theirs.reruns.rerun(run),
            theirs.signals.send(run, "go"),
        ):
            with pytest.raises(NotFound):
                await refused
        assert await theirs.starts.run_by_request("r1") is None
        assert await theirs.runs.find(limit=10) == []
        assert (await theirs.bulk.apply(BulkAction.CANCEL, RunCriteria(), limit=10, dry_run=False)).matched == 0


@virtual
async def test_the_journal_records_the_name_of_the_caller() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {"sleep": 60}})
        commands = EngineCommands(engine).for_caller(local_caller("ann"))
        run = run_id(await start(engine, "w"))
        await commands.control.pause(run)
        await commands.control.resume(run)
        await EngineCommands(engine).for_caller(local_caller("bob")).control.cancel(run)
        entries = await commands.runs.entries((await commands.runs.row(run)).id)
        said = {entry.kind: decode_data(entry.data).by for entry in entries}
        assert said[Kind.PAUSED] == said[Kind.RESUMED] == "ann"
        assert said[Kind.CANCELLED] == "bob"
