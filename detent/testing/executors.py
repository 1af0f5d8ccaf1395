"""The executors of a test's node: those of any node, on the stage."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from detent.app import LOOPBACK
from detent.clock import Clock
from detent.graph.model import StepKind
from detent.python.function.function_step import FunctionStep
from detent.settings import Settings
from detent.steps.action_step import ActionStep
from detent.steps.actions import registry
from detent.steps.egress import EgressPolicy
from detent.steps.http import HttpStep
from detent.steps.http_client import HttpSettings
from detent.steps.protocol import StepExecutor
from detent.testing.children import WithChildren
from detent.testing.keeping import MemoryKeeper
from detent.testing.python_stage import StagedBodies, StagedChainStep, StagedRegistry
from detent.testing.stage import Counted, SameThread, Stage, Staged


def executors(
    stage: Stage,
    settings: Settings,
    clock: Clock,
    initial_state: Any,
    kept: dict[tuple[bytes, str], bytes],
    *,
    strict: bool = False,
) -> Mapping[StepKind, StepExecutor]:
    """One for each kind of steps. Steps may call this machine; `kept` is what transactional ones keep.
    If `strict`, durable functions must do the same in every replay."""
    policy = _policy(settings.egress_allow)
    http = HttpSettings(ca_file=Path(settings.ca_file) if settings.ca_file else None)
    whole: list[StepExecutor] = [HttpStep(policy, http, wall=clock.wall), ActionStep(registry, threads=SameThread())]
    staged, keeper = StagedRegistry(stage, initial_state), MemoryKeeper(kept)
    functions = FunctionStep(clock=clock, registry=staged, bodies=StagedBodies(stage, keeper), strict=strict)
    inside: list[StepExecutor] = [
        StagedChainStep(staged, clock.wall, keeper),
        WithChildren(functions, stage),
    ]
    made: dict[StepKind, Any] = {one.kind: Staged(one, stage) for one in whole}
    made |= {one.kind: Counted(one, stage) for one in inside}
    return cast(Mapping[StepKind, StepExecutor], made)


@cache
def _policy(allowed: tuple[str, ...]) -> EgressPolicy:
    return EgressPolicy.from_texts((*allowed, *LOOPBACK), [])
