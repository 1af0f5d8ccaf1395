"""Upgrades: new versions of workflows that pin newer versions of the actions of a connector."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from detent.auth.caller import Caller
from detent.catalog.connector import Connector, rank_of
from detent.catalog.update import compare
from detent.commands.catalog.connectors import CatalogCommands
from detent.commands.catalog.rows import definition_of
from detent.commands.context import CommandContext, CommandPart
from detent.commands.workflows import WorkflowCommands
from detent.errors import InvalidDefinition, InvalidInput, Problem
from detent.forms.compile import FORMS
from detent.forms.compiled import Compiled
from detent.graph import codec
from detent.graph.model import Graph, Step
from detent.store.catalog_rows import ActionRow
from detent.store.rows import SavedVersion, WorkflowRow

_PAGE: Final = 200
_MESSAGE: Final = "the connector cannot be upgraded"


@dataclass(frozen=True, slots=True)
class StepUpgrade:
    """A step that pins an older version of an action. `problems` say why it cannot pin the new one."""

    step: str
    action: str
    old: str
    new: str
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class WorkflowUpgrade:
    """A workflow with such steps. `made` is the number of its new version; `None` if there is none.

    `problems` concern the whole workflow. With a problem of its own or of a step it is left as it is."""

    workflow: str
    version: int
    steps: list[StepUpgrade]
    problems: list[str] = field(default_factory=list)
    made: int | None = None

    @property
    def is_blocked(self) -> bool:
        return bool(self.problems) or any(one.problems for one in self.steps)


class UpgradeCommands(CommandPart):
    """Upgrades of workflows. An older version of a workflow keeps the actions that it pins, and so do its runs."""

    def __init__(self, context: CommandContext, caller: Caller, workflows: WorkflowCommands) -> None:
        super().__init__(context, caller)
        self._workflows = workflows

    async def upgrade(self, connector: str, *, to: str | None = None, dry_run: bool = False) -> list[WorkflowUpgrade]:
        """Give each active workflow that pins older versions of the actions of a connector a version with newer ones.

        Without `to` that is the newest version of each action, unless its first number is another one. With `to` it is
        this version, for the actions that have it. Other connectors, drafts, and whether a workflow is enabled stay as
        they are. Raise NotFound, or InvalidInput if no action has the version `to`."""
        await CatalogCommands(self._context, self._caller).connector(connector)
        if to is not None:
            await self._check_version(connector, to)
        found: list[WorkflowUpgrade] = []
        after: str | None = None
        while rows := await self._store.workflows(self._tenant, limit=_PAGE, after=after, status="active"):
            for row in rows:
                upgrade = await self._upgrade(row, connector, to, dry_run=dry_run)
                found += [] if upgrade is None else [upgrade]
            after = rows[-1].name
        return found

    async def _check_version(self, connector: str, to: str) -> None:
        try:
            rank_of(to)
        except ValueError as error:
            raise InvalidInput(_MESSAGE, problems=[Problem("to", str(error))]) from None
        after: str | None = None
        while page := await self._store.actions(self._tenant, limit=_PAGE, after=after, connector=connector):
            for mark in page:
                if mark.version == to or await self._store.action(self._tenant, mark.id, to) is not None:
                    return
            after = page[-1].id
        words = f"no action of the connector {connector!r} has the version {to}; `GET /actions` lists the newest"
        raise InvalidInput(_MESSAGE, problems=[Problem("to", words)])

    async def _upgrade(
        self, row: WorkflowRow, connector: str, to: str | None, *, dry_run: bool
    ) -> WorkflowUpgrade | None:
        """Upgrade one workflow. Return `None` if it has no step to upgrade."""
        if not row.graph or not row.version or f'"{connector}.' not in row.graph.decode("utf-8", "replace"):
            return None
        graph = await asyncio.to_thread(codec.decode, row.graph)
        steps = [one for pin in _pins(graph) if (one := await self._step(pin, connector, to)) is not None]
        if not steps:
            return None
        found = WorkflowUpgrade(row.name, row.version, steps)
        if found.is_blocked:
            return found
        versions = {pin.action: pin.version for pin in _pins(graph)} | {one.action: one.new for one in steps}
        try:
            compiled, problems = await self._workflows.pin(row.source, versions=versions)
        except InvalidDefinition as error:
            found.problems = [_words(one) for one in error.problems] or [error.message]
            return found
        place = FORMS[compiled.form].place
        found.problems = [_words(Problem(place(one.field, compiled), one.message)) for one in problems]
        if not found.problems and not dry_run:
            await self._save(row, compiled, found)
        return found

    async def _step(self, pin: _Pin, connector: str, to: str | None) -> StepUpgrade | None:
        """Return how a step is upgraded; `None` if it stays as it is."""
        if not pin.action.startswith(f"{connector}."):
            return None
        new = await self._store.action(self._tenant, pin.action, to)
        if new is None or new.connector != connector or new.ranking <= rank_of(pin.version):
            return None
        if to is None and _major(new.version) != _major(pin.version):
            words = f"version {new.version} may be incompatible; name a version to upgrade to it"
            return StepUpgrade(pin.step, pin.action, pin.version, new.version, (words,))
        old = await self._store.action(self._tenant, pin.action, pin.version)
        given = pin.given if isinstance(pin.given, dict) else {}
        problems = () if old is None or pin.is_probe else tuple(_breaks(old, new, given))
        return StepUpgrade(pin.step, pin.action, pin.version, new.version, problems)

    async def _save(self, row: WorkflowRow, compiled: Compiled, found: WorkflowUpgrade) -> None:
        """Make the new version current, unless the workflow has changed since it was read."""
        version = await self._workflows.as_version(row.id, compiled, row.source)
        saved = await self._store.save_workflow(
            version._replace(enabled=row.enabled), replace=True, expected=(row.version, row.updated_at)
        )
        self._context.workflows.forget(self._tenant, row)
        if isinstance(saved, SavedVersion):
            found.made = saved.version
        else:
            found.problems = ["the workflow was changed meanwhile; upgrade again"]


@dataclass(frozen=True, slots=True)
class _Pin:
    """A version of an action that a step pins, to call it or to ask it as its probe."""

    step: str
    action: str
    version: str
    given: object = None
    is_probe: bool = False


def _pins(graph: Graph) -> Iterator[_Pin]:
    for step in graph.steps:
        yield from _pins_of(step)


def _pins_of(step: Step) -> Iterator[_Pin]:
    action, version = step.config.get("action"), step.config.get("version")
    if isinstance(action, str) and isinstance(version, str):
        yield _Pin(step.name, action, version, step.config.get("with"))
    if step.probe is not None and step.probe.version is not None:
        yield _Pin(step.name, step.probe.action, step.probe.version, is_probe=True)


def _breaks(old: ActionRow, new: ActionRow, given: dict[str, object]) -> list[str]:
    before, after = definition_of(old), definition_of(new)
    if before is None or after is None:
        return []
    connector = Connector(id=new.connector, version=new.version, title="", actions=(after.action,))
    return compare([before.action], connector).problems_of(new.id, given)


def _major(version: str) -> str:
    return version.partition(".")[0]


def _words(problem: Problem) -> str:
    return f"{problem.field}: {problem.message}" if problem.field else problem.message
