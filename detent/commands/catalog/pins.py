"""Pins: a version of a workflow names the version of each action that is data. So its requests never change.

An action that is code runs as its node has it. If a node has code of the same name, the code is called.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from detent.catalog.action import ActionFacts
from detent.catalog.connections import EnvironmentConnections, connection_of
from detent.catalog.connector import Auth
from detent.catalog.parameters import branch_problems, constant_misfits, no_probe
from detent.commands.catalog.rows import definition_of, effect_of
from detent.errors import Problem
from detent.forms.compile import FORMS
from detent.forms.compiled import Compiled
from detent.forms.kinds import user_actions
from detent.graph.check import called_actions
from detent.graph.model import Graph, OnCrash, Probe, Step
from detent.store.catalog_rows import ActionRow, ConnectorRow
from detent.store.protocol import Store
from detent.tenants.limits import is_confined, read_limits, refusal
from detent.vault.credential import CredentialState
from detent.views.catalog import stored_connector

#: How many names of actions a definition is compared with.
MOST_NAMES: Final = 50_000


class Pinned(NamedTuple):
    """A definition whose actions are pinned. `problems` keep it from being published."""

    compiled: Compiled
    problems: tuple[Problem, ...] = ()


async def pin_actions(
    store: Store,
    tenant: int,
    compiled: Compiled,
    served: Sequence[str],
    connections: EnvironmentConnections,
    versions: Mapping[str, str] | None = None,
) -> Pinned:
    """Pin the actions of a definition that are data, and the probes of its steps. `served` is the code that this
    process has. `versions` are the versions to pin, by action; of others it is the newest."""
    rows = await _rows(store, tenant, compiled.code, versions)
    stored = await _stored_credentials(store, tenant, compiled.graph)
    compiled = dataclasses.replace(compiled, warnings=(*compiled.warnings, *_credential_warnings(compiled, stored)))
    asked = _probes(compiled.graph, rows)
    rows |= await _rows(store, tenant, sorted({*asked.values()} - rows.keys()), versions)
    code = set(served)
    if asked or any(row.definition is not None for row in rows.values()):
        code |= {name for offer in await store.offers() for name in offer.actions}
        rows = {name: row for name, row in rows.items() if row.definition is None or name not in code}
    refused = await _refused(store, tenant, compiled.graph, rows, asked)
    if not rows and not has_probes(compiled.graph):
        return Pinned(compiled, tuple(refused))
    calls = [(step, rows[name]) for step, name in called_actions(compiled.graph) if name in rows]
    pinned = {step: row.version for step, row in calls if row.definition is not None}
    steps = tuple(_pinned(step, pinned, asked.get(step.name), rows) for step in compiled.graph.steps)
    graph = dataclasses.replace(compiled.graph, steps=steps)
    made = dataclasses.replace(
        compiled,
        graph=graph,
        code=user_actions(graph.steps),
        warnings=(*compiled.warnings, *_warnings(compiled, graph, calls, connections, stored)),
    )
    disabled = [problem for step, row in calls if (problem := _problem(step, row))]
    configs = {step.name: step.config for step in steps}
    written = {row.connector for _, row in calls if row.definition is None}
    described = [found for name in sorted(written) if (found := await store.connector(tenant, name)) is not None]
    missing = _missing(calls, configs, described, connections)
    made = dataclasses.replace(made, warnings=(*made.warnings, *missing))
    misfits = [problem for step, row in calls for problem in _misfits(step, row, configs[step].get("with"))]
    unprobed = [problem for step in steps if (problem := _probe_problem(step, rows, code))]
    outputs = {step: _facts(row) for step, row in calls if row.definition is not None}
    return Pinned(made, (*refused, *disabled, *misfits, *unprobed, *branch_problems(compiled, outputs)))


async def _refused(
    store: Store, tenant: int, graph: Graph, rows: Mapping[str, ActionRow], probes: Mapping[str, str]
) -> list[Problem]:
    """Return the actions and probes that the tenant may not use. Those of its own connectors are its own."""
    found = await store.tenant(tenant)
    limits = read_limits(None if found is None else found.settings)
    if not is_confined(tenant, limits):
        return []
    name_of_tenant = str(tenant) if found is None else found.name
    own = {name for name, row in rows.items() if row.tenant == tenant and row.definition is not None}
    used = [(f"steps.{step}.action", name) for step, name in called_actions(graph)]
    used += [(f"steps.{step}.on_crash", probe) for step, probe in probes.items()]
    return [
        Problem(field, refusal(name_of_tenant, name))
        for field, name in used
        if name not in own and not limits.allowed.allow(name)
    ]


async def _stored_credentials(store: Store, tenant: int, graph: Graph) -> dict[str, str]:
    """Return the states of the stored credentials that steps name, or that have the name of a connector."""
    named = {str(step.config["credential"]) for step in graph.steps if "credential" in step.config}
    connectors = {name.partition(".")[0] for _, name in called_actions(graph)}
    return await store.credential_states(tenant, {*named, *connectors}) if named or connectors else {}


def _credential_warnings(compiled: Compiled, stored: Mapping[str, str]) -> list[str]:
    """Return which credentials that steps name cannot be used now. They may be stored later."""
    found: dict[str, None] = {}
    for step in compiled.graph.steps:
        name = step.config.get("credential")
        if name is None or stored.get(name) == CredentialState.READY:
            continue
        if name in stored:
            verb = f"must be connected: `detent credentials connect {name}`"
        else:
            verb = f"is not stored: `detent credentials set {name}`"
        found[f"the credential {name!r} of the step {step.name!r} {verb}"] = None
    return list(found)


async def _rows(
    store: Store, tenant: int, names: Sequence[str], versions: Mapping[str, str] | None
) -> dict[str, ActionRow]:
    rows = {row.id: row for row in await store.newest_actions(tenant, names)}
    for name in rows.keys() & (versions or {}).keys():
        if versions and rows[name].version != versions[name]:
            rows[name] = await store.action(tenant, name, versions[name]) or rows[name]
    return rows


def _missing(
    calls: list[tuple[str, ActionRow]],
    configs: Mapping[str, Mapping[str, Any]],
    described: Sequence[ConnectorRow],
    connections: EnvironmentConnections,
) -> list[str]:
    """Return what the connections of actions in Python lack here. Those of users' own code are not known."""
    known = {row.id: stored_connector(row) for row in described}
    found: dict[str, None] = {}
    for step, row in calls:
        connector = known.get(row.connector)
        if row.definition is None and connector is not None:
            name = connection_of(connector.id, configs[step].get("with"))
            auth = Auth() if "credential" in configs[step] else connector.auth
            for one in connections.missing(name, connector.base_url, auth) if name else ():
                found[f"the connection {name!r} needs {one}, which this process does not have"] = None
    return list(found)


def _pinned(step: Step, versions: dict[str, str], probe: str | None, rows: Mapping[str, ActionRow]) -> Step:
    if probe is not None:
        row = rows.get(probe)
        version = None if row is None or row.definition is None else row.version
        step = dataclasses.replace(step, probe=Probe(probe, version))
    if step.name not in versions:
        return step
    return dataclasses.replace(step, config={**step.config, "version": versions[step.name]})


def has_credentials(graph: Graph) -> bool:
    """Return whether a step of a graph names a stored credential."""
    return any("credential" in step.config for step in graph.steps)


def has_probes(graph: Graph) -> bool:
    """Return whether a step of a graph asks a probe after a crash."""
    return any(step.on_crash is OnCrash.PROBE for step in graph.steps)


def _probes(graph: Graph, rows: Mapping[str, ActionRow]) -> dict[str, str]:
    """Return the probe of each step that asks one, as its action declares it."""
    found = {}
    for step in graph.steps:
        row = rows.get(str(step.config.get("action")))
        if step.on_crash is not OnCrash.PROBE:
            continue
        if step.probe is not None:
            found[step.name] = step.probe.action
        elif row is not None and (probe := effect_of(row.effect).probe) is not None:
            found[step.name] = probe if row.definition is None else f"{row.connector}.{probe}"
    return found


def _probe_problem(step: Step, rows: Mapping[str, ActionRow], code: Collection[str]) -> Problem | None:
    if step.on_crash is not OnCrash.PROBE:
        return None
    if step.probe is None:
        return no_probe(step.name, str(step.config.get("action")))
    if step.probe.action in rows or step.probe.action in code:
        return None
    return Problem(f"steps.{step.name}.on_crash", f"its probe {step.probe.action!r} does not exist; no node has it")


def _problem(step: str, row: ActionRow) -> Problem | None:
    if row.is_listed and row.enabled:
        return None
    state = "disabled" if row.is_listed else "removed"
    hint = f": {row.deprecation}" if row.deprecation else ""
    return Problem(f"steps.{step}.action", f"the action {row.id!r} is {state}{hint}")


def _misfits(step: str, row: ActionRow, given: Any) -> list[Problem]:
    """Return what the schema of an action that is data refuses of the constant parts of a `with`."""
    if row.definition is None:
        return []
    return constant_misfits(_facts(row), given or {}, f"steps.{step}.with")


def _facts(row: ActionRow) -> ActionFacts:
    return ActionFacts(
        row.id, row.connector, parameters=json.loads(row.parameters), output=json.loads(row.output or "{}")
    )


def _warnings(
    compiled: Compiled,
    graph: Graph,
    calls: list[tuple[str, ActionRow]],
    connections: EnvironmentConnections,
    stored: Mapping[str, str],
) -> list[str]:
    """Return what the author of a definition should know of its actions."""
    found: list[str] = []
    form = FORMS.get(compiled.form)
    attempts = {step.name: step.retry.attempts for step in graph.steps}
    named = {step.name for step in graph.steps if "credential" in step.config}
    missing: dict[str, None] = {}
    for step, row in calls:
        field = f"steps.{step}.action"
        where = field if form is None else form.place(field, compiled)
        definition = definition_of(row)
        if definition is None:
            continue  # `check_actions` knows code
        if row.deprecation and row.enabled:
            found.append(f"{where}: the action {row.id!r} is deprecated: {row.deprecation}")
        if step in compiled.retried and attempts[step] > 1 and not effect_of(row.effect).is_repeatable:
            found.append(
                f"{where}: {row.id!r} does not say what a repeated attempt does, and this step may be tried"
                f" {attempts[step]} times; it may have its effect more than once"
            )
        has_stored = step in named or definition.connector in stored
        auth = Auth() if has_stored else definition.auth
        for name in connections.missing(definition.connector, definition.base_url, auth):
            missing[f"the connector {definition.connector!r} needs {name}, which this process does not have"] = None
    return [*found, *missing]
