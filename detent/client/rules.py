"""The operations on rules, entities, alerts and action templates: each function describes one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypedDict, Unpack

from detent.client.calls import JSON, PAGE, Answer, Call, Pages, given, instant, json_body, one, page, url_path
from detent.documents.answers import Json
from detent.documents.rules import (
    ActionTemplateDocument,
    ActionTypeDocument,
    AlertDocument,
    CheckedRuleDocument,
    DeletedRuleDocument,
    EntityDocument,
    LayoutDocument,
    RuleActionDocument,
    RuleDocument,
    RuleDraftDocument,
    RuleEdgeDocument,
    RuleSummary,
    RuleVersionDocument,
    TriggerTypeDocument,
)
from detent.documents.runs import RunSummary

_RULES: Final = "rules"
_ENTITIES: Final = "entities"
_ALERTS: Final = "alerts"
_TEMPLATES: Final = "action-templates"


class TaggedRule(RuleDocument, kw_only=True):
    """A rule with the `ETag` of its answer. The tag names this state of the rule, for `if_match`."""

    etag: str | None = None


class AlertFilter(TypedDict, total=False):
    """A filter of alerts. `status` is open, acknowledged or resolved; `since` and `before` bound when it was raised.

    Several statuses or severities mean any of them."""

    status: str | Sequence[str]
    severity: str | Sequence[str]
    alert_type: str
    rule: str
    run: str
    since: datetime | str
    before: datetime | str


_read_rule: Final = one(TaggedRule)
_action: Final = one(RuleActionDocument)
_edge: Final = one(RuleEdgeDocument)
_entity: Final = one(EntityDocument)
_alert: Final = one(AlertDocument)
_template: Final = one(ActionTemplateDocument)


def _rule(answer: Answer) -> TaggedRule:
    found = _read_rule(answer)
    found.etag = answer.headers.get("etag")
    return found


def _headers(if_match: str | None) -> dict[str, str]:
    return dict(JSON) if if_match is None else {**JSON, "If-Match": if_match}


# Rules.


def create(rule: Mapping[str, Json]) -> Call[TaggedRule]:
    """Save a new rule with its actions, edges and layout, in one transaction. Raise Conflict if its key is taken,
    InvalidRequest with every problem."""
    return Call("POST", url_path(_RULES), _rule, body=json_body(rule), headers=JSON, repeatable=False)


def save(id: str, rule: Mapping[str, Json], *, if_match: str | None = None) -> Call[TaggedRule]:  # noqa: A002
    """Save a rule that exists with its actions, edges and layout, in one transaction.

    `if_match` is the `etag` of the rule that was edited. Raise PreconditionFailed if it has changed since then: its
    `current` says who changed it, when and what."""
    is_safe = if_match is None
    headers = _headers(if_match)
    return Call("PUT", url_path(_RULES, id), _rule, body=json_body(rule), headers=headers, repeatable=is_safe)


def validate(rule: Mapping[str, Json], *, id: str | None = None) -> Call[CheckedRuleDocument]:  # noqa: A002
    """Check everything that a save of a rule checks, and store nothing. Raise InvalidRequest with every problem."""
    method, where = ("POST", url_path(_RULES)) if id is None else ("PUT", url_path(_RULES, id))
    query = given(validate_only=True)
    return Call(method, where, one(CheckedRuleDocument), query=query, body=json_body(rule), headers=JSON)


def save_draft(rule: Mapping[str, Json], *, id: str | None = None) -> Call[RuleDraftDocument]:  # noqa: A002
    """Save the draft of a rule: anything that can be read, with its problems. No version is made."""
    method, where = ("POST", url_path(_RULES)) if id is None else ("PUT", url_path(_RULES, id))
    sent, query = json_body(rule), given(draft=True)
    return Call(method, where, one(RuleDraftDocument), query=query, body=sent, headers=JSON, repeatable=id is not None)


def get(rule: str, *, version: int | None = None) -> Call[TaggedRule]:
    """Return a rule by its id or its key: its current version, or the one given."""
    return Call("GET", url_path(_RULES, rule), _rule, query=given(version=version))


def list_all(
    *,
    entity: str | None = None,
    trigger_type: str | None = None,
    is_active: bool | None = None,
    search: str | None = None,
    limit: int = PAGE,
) -> Pages[RuleSummary]:
    """Yield the rules by key, `limit` per request, without their actions and edges."""
    query = given(entity=entity, trigger_type=trigger_type, is_active=is_active, search=search, limit=limit)
    return Pages(Call("GET", url_path(_RULES), page(RuleSummary), query=query))


def activate(rule: str) -> Call[TaggedRule]:
    """Let events, schedules and callers start a rule. No version is made."""
    return Call("POST", url_path(_RULES, rule, "activate"), _rule)


def deactivate(rule: str) -> Call[TaggedRule]:
    """Let nothing start a rule until it is activated again. Runs in flight go on."""
    return Call("POST", url_path(_RULES, rule, "deactivate"), _rule)


def delete(rule: str, *, if_match: str | None = None) -> Call[DeletedRuleDocument]:
    """Delete a rule. Runs in flight go on."""
    where, headers = url_path(_RULES, rule), _headers(if_match)
    return Call("DELETE", where, one(DeletedRuleDocument), headers=headers, repeatable=False)


def save_layout(rule: str, layout: Mapping[str, Json]) -> Call[LayoutDocument]:
    """Change where the nodes of a rule are on a canvas. Neither its version nor its `etag` changes."""
    where = url_path(_RULES, rule, "layout")
    return Call("PATCH", where, one(LayoutDocument), body=json_body(layout), headers=JSON)


def versions(rule: str, *, limit: int = PAGE) -> Pages[RuleVersionDocument]:
    """Yield the versions of a rule, newest first."""
    where = url_path(_RULES, rule, "versions")
    return Pages(Call("GET", where, page(RuleVersionDocument), query=given(limit=limit)))


def history(rule: str, *, limit: int = PAGE) -> Pages[RuleVersionDocument]:
    """Yield the versions of a rule, newest first, each with what differs from the one before."""
    where = url_path(_RULES, rule, "history")
    return Pages(Call("GET", where, page(RuleVersionDocument), query=given(limit=limit)))


def restore(rule: str, version: int, *, if_match: str | None = None) -> Call[TaggedRule]:
    """Make a version of a rule its current one."""
    where = url_path(_RULES, rule, "versions", str(version), "restore")
    return Call("POST", where, _rule, headers=_headers(if_match), repeatable=if_match is None)


def runs(rule: str, *, limit: int = PAGE) -> Pages[RunSummary]:
    """Yield the runs of a rule, newest first."""
    return Pages(Call("GET", url_path(_RULES, rule, "runs"), page(RunSummary), query=given(limit=limit)))


# The parts of a rule.


def add_action(rule: str, action: Mapping[str, Json], *, if_match: str | None = None) -> Call[RuleActionDocument]:
    """Add an action to a rule. Its `edges` call it `new`, and an edge without a target leads to it."""
    where = url_path(_RULES, rule, "actions")
    return Call("POST", where, _action, body=json_body(action), headers=_headers(if_match), repeatable=False)


def change_action(
    rule: str, action: str, fields: Mapping[str, Json], *, if_match: str | None = None
) -> Call[RuleActionDocument]:
    """Change the given fields of an action; `None` removes one."""
    where, headers = url_path(_RULES, rule, "actions", action), _headers(if_match)
    return Call("PATCH", where, _action, body=json_body(fields), headers=headers, repeatable=if_match is None)


def remove_action(
    rule: str, action: str, *, reconnect: bool | None = None, if_match: str | None = None
) -> Call[RuleActionDocument]:
    """Remove an action and its edges. With `reconnect`, what led to it leads to what followed it."""
    where, query = url_path(_RULES, rule, "actions", action), given(reconnect=reconnect)
    return Call("DELETE", where, _action, query=query, headers=_headers(if_match), repeatable=False)


def add_edge(rule: str, edge: Mapping[str, Json], *, if_match: str | None = None) -> Call[RuleEdgeDocument]:
    """Add an edge to a rule."""
    where = url_path(_RULES, rule, "edges")
    return Call("POST", where, _edge, body=json_body(edge), headers=_headers(if_match), repeatable=False)


def change_edge(
    rule: str, edge: str, fields: Mapping[str, Json], *, if_match: str | None = None
) -> Call[RuleEdgeDocument]:
    """Change the given fields of an edge. An edge with other ends or another type has another id."""
    where, headers = url_path(_RULES, rule, "edges", edge), _headers(if_match)
    return Call("PATCH", where, _edge, body=json_body(fields), headers=headers, repeatable=False)


def remove_edge(rule: str, edge: str, *, if_match: str | None = None) -> Call[RuleEdgeDocument]:
    """Remove an edge from a rule."""
    where = url_path(_RULES, rule, "edges", edge)
    return Call("DELETE", where, _edge, headers=_headers(if_match), repeatable=False)


# Entities and types.


def create_entity(
    name: str, *, title: str | None = None, fields: Mapping[str, Json] | None = None
) -> Call[EntityDocument]:
    """Add an entity. `fields` is the JSON Schema of a record. Raise Conflict if the name is taken."""
    body = json_body({"name": name, "title": title, "fields": fields})
    return Call("POST", url_path(_ENTITIES), _entity, body=body, headers=JSON, repeatable=False)


def change_entity(
    entity: str, *, title: str | None = None, fields: Mapping[str, Json] | None = None
) -> Call[EntityDocument]:
    """Replace the title and the fields of an entity."""
    body = json_body({"title": title, "fields": fields})
    return Call("PUT", url_path(_ENTITIES, entity), _entity, body=body, headers=JSON)


def get_entity(entity: str) -> Call[EntityDocument]:
    """Return an entity by its id or its name."""
    return Call("GET", url_path(_ENTITIES, entity), _entity)


def list_entities(*, limit: int = PAGE) -> Pages[EntityDocument]:
    """Yield the entities by name."""
    return Pages(Call("GET", url_path(_ENTITIES), page(EntityDocument), query=given(limit=limit)))


def delete_entity(entity: str) -> Call[EntityDocument]:
    """Delete an entity. Raise Conflict if it has rules."""
    return Call("DELETE", url_path(_ENTITIES, entity), _entity, repeatable=False)


def trigger_types() -> Pages[TriggerTypeDocument]:
    """Yield when a rule can run."""
    return Pages(Call("GET", url_path("trigger-types"), page(TriggerTypeDocument)))


def action_types() -> Pages[ActionTypeDocument]:
    """Yield the types of actions, with the JSON Schemas of their configs."""
    return Pages(Call("GET", url_path("action-types"), page(ActionTypeDocument)))


# Alerts.


def list_alerts(*, limit: int = PAGE, **which: Unpack[AlertFilter]) -> Pages[AlertDocument]:
    """Yield the alerts that match, newest first, `limit` per request."""
    query: list[tuple[str, str]] = []
    for name, value in which.items():
        several = value if isinstance(value, list | tuple) else (value,)
        query += [(name, instant(each) if isinstance(each, datetime) else str(each)) for each in several]
    return Pages(Call("GET", url_path(_ALERTS), page(AlertDocument), query=(*query, *given(limit=limit))))


def get_alert(alert: str) -> Call[AlertDocument]:
    """Return an alert."""
    return Call("GET", url_path(_ALERTS, alert), _alert)


def acknowledge_alert(alert: str) -> Call[AlertDocument]:
    """Record that you have seen an alert. Raise Conflict if it is resolved."""
    return Call("POST", url_path(_ALERTS, alert, "acknowledge"), _alert)


def resolve_alert(alert: str) -> Call[AlertDocument]:
    """Record that the cause of an alert is gone."""
    return Call("POST", url_path(_ALERTS, alert, "resolve"), _alert)


# Action templates.


def create_template(
    name: str,
    action_type: str,
    default_config: Mapping[str, Json] | None = None,
    *,
    description: str | None = None,
    is_active: bool = True,
) -> Call[ActionTemplateDocument]:
    """Store a configuration that new actions can begin with. Raise Conflict if the name is taken."""
    body = _template_body(name, action_type, default_config, description, is_active)
    return Call("POST", url_path(_TEMPLATES), _template, body=body, headers=JSON, repeatable=False)


def replace_template(
    id: str,  # noqa: A002
    name: str,
    action_type: str,
    default_config: Mapping[str, Json] | None = None,
    *,
    description: str | None = None,
    is_active: bool = True,
) -> Call[ActionTemplateDocument]:
    """Replace an action template. Rules that were made of it stay as they are."""
    body = _template_body(name, action_type, default_config, description, is_active)
    return Call("PUT", url_path(_TEMPLATES, id), _template, body=body, headers=JSON)


def _template_body(name: str, action_type: str, config: Any, description: str | None, is_active: bool) -> bytes:
    return json_body(
        {
            "name": name,
            "action_type": action_type,
            "default_config": config,
            "description": description,
            "is_active": is_active,
        }
    )


def get_template(id: str) -> Call[ActionTemplateDocument]:  # noqa: A002
    """Return an action template."""
    return Call("GET", url_path(_TEMPLATES, id), _template)


def list_templates(
    *, action_type: str | None = None, is_active: bool | None = None, limit: int = PAGE
) -> Pages[ActionTemplateDocument]:
    """Yield the action templates by name."""
    query = given(action_type=action_type, is_active=is_active, limit=limit)
    return Pages(Call("GET", url_path(_TEMPLATES), page(ActionTemplateDocument), query=query))


def delete_template(id: str) -> Call[ActionTemplateDocument]:  # noqa: A002
    """Delete an action template."""
    return Call("DELETE", url_path(_TEMPLATES, id), _template, repeatable=False)
