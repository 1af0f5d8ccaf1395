"""Workflows by name in a rig, and the commands of its engines."""

from __future__ import annotations

import json
from typing import Any

from detent.commands import Commands, StartAnswer
from detent.engine.engine import Engine
from detent.forms.steps.form import compile_steps
from detent.graph import codec
from detent.ids import RUN, new_id, show
from detent.run.start import StartRequest
from detent.store.rows import NewVersion, SavedVersion
from tests.callers import commands_of
from tests.engine.rig import TENANT, Rig


async def save(world: Rig, name: str, steps: dict[str, Any], **given: Any) -> SavedVersion:
    """Save a workflow as another process would: past every cache. A step that says nothing is an action."""
    whole = {key: step if len(set(step) - {"needs", "if", "on_crash", "retries"}) else {"action": "core.echo", **step}
             for key, step in steps.items()}  # fmt: skip
    compiled = compile_steps({"name": name, "tasks": whole, **given})
    graph = codec.encode(compiled.graph)
    facts: dict[str, Any] = {
        "code": [], "queue": compiled.queue, "priority": compiled.priority, "payload": compiled.trigger_schema
    }  # fmt: skip
    version = NewVersion(
        TENANT, new_id(), name, "steps", None, compiled.enabled, json.dumps(facts), None, "", graph, graph.hex(), 1
    )
    saved = await world.store.save_workflow(version, replace=True)
    assert isinstance(saved, SavedVersion)
    return saved


async def start(
    engine: Engine, workflow: str, body: Any = None, *, commands: Commands | None = None, **options: Any
) -> StartAnswer:
    """Start a run through an engine's commands."""
    return await (commands or commands_of(engine)).starts.start(StartRequest(workflow, body, **options))


def run_id(start: StartAnswer) -> str:
    return show(RUN, start.run)
