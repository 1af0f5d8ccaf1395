"""A node's executor of actions, with the connections of a test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from detent.catalog.connections import EnvironmentConnections
from detent.run.outcomes import Fail, Outcome
from detent.steps.action_step import ActionExecutor
from detent.steps.connectors.library import SHIPPED
from detent.steps.connectors.shipped import CONNECTORS
from detent.steps.egress import EgressPolicy
from detent.steps.http.client import ActionServices
from tests.steps.calls import done, perform

PATIENCE = 300.0

__all__ = ["PATIENCE", "SHIPPED", "Node", "open_node"]


class Node:
    """Runs attempts of the shipped actions."""

    def __init__(self, executor: ActionExecutor) -> None:
        self._executor = executor

    async def attempt(self, action: str, **given: Any) -> Outcome:
        return await perform(self._executor, action, given, timeout=PATIENCE)

    async def run(self, action: str, **given: Any) -> Any:
        """The output of an attempt that must succeed."""
        return done(await self.attempt(action, **given))["output"]

    async def refused(self, action: str, *, retry: bool = False, **given: Any) -> tuple[str, str]:
        """The code and the message of an attempt that must fail."""
        outcome = await self.attempt(action, **given)
        assert isinstance(outcome, Fail), outcome
        assert outcome.retry is retry, outcome
        return outcome.error.code, outcome.error.message


@asynccontextmanager
async def open_node(environ: Mapping[str, str], *allow: str) -> AsyncIterator[Node]:
    """A node with this environment. It may call loopback, unless other networks are given."""
    assert {one.connector for one in SHIPPED.facts()} == {one.id for one in CONNECTORS}
    policy = EgressPolicy.from_texts(allow or ("127.0.0.0/8",))
    services = ActionServices(policy, connections=EnvironmentConnections(environ))
    executor = ActionExecutor(SHIPPED, services=services)
    try:
        yield Node(executor)
    finally:
        await executor.close()
