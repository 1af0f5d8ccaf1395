"""Routes of the actions and edges of a rule, one at a time. Each change is a save of the whole rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from litestar import Response, delete, get, patch, post, put
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.etags import etag_of
from detent.api.openapi import rule_examples as examples
from detent.api.openapi.operations import BOOLEAN, Plain, answers, operation, query, refusals, takes
from detent.api.request import AnyRequest, QueryValues, aliases, commands, flag_of, object_body
from detent.api.routes.rules.rules import BASE, IF_MATCH, TAGS, state_of
from detent.api.rules import action_document, action_documents, edge_document, edge_documents
from detent.commands.rules.save import RuleView
from detent.documents.answers import Many, One
from detent.documents.rules import RuleActionDocument, RuleEdgeDocument
from detent.values.limits import DEFINITION_LIMIT

_ACTIONS: Final = f"{BASE}/{{rule:str}}/actions"
_EDGES: Final = f"{BASE}/{{rule:str}}/edges"
_OBJECT: Final = Schema(type=OpenAPIType.OBJECT)
_ACTION_BODY: Final = takes(_OBJECT, examples.NEW_ACTION, required=True)
_EDGE_BODY: Final = takes(_OBJECT, examples.NEW_EDGE, required=True)
_WRITTEN: Final = refusals(400, 403, 404, 409, 412, 413)
_RECONNECT: Final = query("reconnect", BOOLEAN, "Let what led to it lead to what followed it.", True)
_CHANGES_ACTION: Final[dict[str, Any]] = {
    "tags": TAGS,
    "status_code": 200,
    "operation_class": operation(IF_MATCH, body=_ACTION_BODY),
    "responses": {**answers(200, One[RuleActionDocument], "The action.", {"data": examples.ACTION}), **_WRITTEN},
    "request_max_body_size": DEFINITION_LIMIT,
}
_CHANGES_EDGE: Final[dict[str, Any]] = {
    "tags": TAGS,
    "status_code": 200,
    "operation_class": operation(IF_MATCH, body=_EDGE_BODY),
    "responses": {**answers(200, One[RuleEdgeDocument], "The edge.", {"data": examples.EDGE}), **_WRITTEN},
}

ActionAnswer = Response[One[RuleActionDocument]]
EdgeAnswer = Response[One[RuleEdgeDocument]]


@get(
    _ACTIONS,
    tags=TAGS,
    summary="List the actions of a rule",
    operation_class=Plain,
    responses={
        **answers(200, Many[RuleActionDocument], "All actions.", {"data": [examples.ACTION], "next_cursor": None}),
        **refusals(404),
    },
)
async def list_rule_actions(request: AnyRequest, rule: FromPath[str]) -> Response[Many[RuleActionDocument]]:
    """List the actions of a rule in their order."""
    found = await commands(request).rules.get(rule)
    return Response(Many(action_documents(found.document)), headers=_tag(found))


@get(
    f"{_ACTIONS}/{{action:str}}",
    tags=TAGS,
    summary="Get an action of a rule",
    operation_class=Plain,
    responses={
        **answers(200, One[RuleActionDocument], "The action.", {"data": examples.ACTION}),
        **refusals(404),
    },
)
async def get_rule_action(request: AnyRequest, rule: FromPath[str], action: FromPath[str]) -> ActionAnswer:
    """Return an action of a rule by its id or its step."""
    return _action(*await commands(request).rule_parts.action(rule, action))


@post(
    _ACTIONS,
    tags=TAGS,
    summary="Add an action to a rule",
    operation_class=operation(IF_MATCH, body=_ACTION_BODY),
    responses={**answers(201, One[RuleActionDocument], "The action.", {"data": examples.ACTION}), **_WRITTEN},
    request_max_body_size=DEFINITION_LIMIT,
)
async def add_rule_action(request: AnyRequest, rule: FromPath[str]) -> ActionAnswer:
    """Add an action, with the `edges` that lead to it and from it. They call it `new`, and an edge without
    `target_action_id` leads to it. An action that no edge leads to is refused."""
    body, state = await _body(request), await state_of(request, rule)
    return _action(*await commands(request).rule_parts.add_action(rule, body, expected=state), status=201)


@put(f"{_ACTIONS}/{{action:str}}", summary="Replace an action of a rule", **_CHANGES_ACTION)
async def replace_rule_action(request: AnyRequest, rule: FromPath[str], action: FromPath[str]) -> ActionAnswer:
    """Replace an action, all but its id and its step."""
    return await _change_action(request, rule, action, whole=True)


@patch(f"{_ACTIONS}/{{action:str}}", summary="Change an action of a rule", **_CHANGES_ACTION)
async def change_rule_action(request: AnyRequest, rule: FromPath[str], action: FromPath[str]) -> ActionAnswer:
    """Change the fields of an action that are sent; `null` removes one. Its id and its step stay."""
    return await _change_action(request, rule, action, whole=False)


async def _change_action(request: AnyRequest, rule: str, action: str, *, whole: bool) -> ActionAnswer:
    body, state = await _body(request), await state_of(request, rule)
    part = commands(request).rule_parts
    return _action(*await part.change_action(rule, action, body, whole=whole, expected=state))


@delete(
    f"{_ACTIONS}/{{action:str}}",
    tags=TAGS,
    summary="Remove an action from a rule",
    status_code=200,
    operation_class=operation(_RECONNECT, IF_MATCH),
    responses={
        **answers(200, One[RuleActionDocument], "The action that was removed.", {"data": examples.ACTION}),
        **_WRITTEN,
    },
)
async def remove_rule_action(request: AnyRequest, rule: FromPath[str], action: FromPath[str]) -> ActionAnswer:
    """Remove an action and its edges. If an action behind it could not be reached any more, the request is refused,
    unless `reconnect` is true."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("reconnect"))
    reconnect = values.one("reconnect", flag_of)
    values.refuse("the action cannot be removed")
    state = await state_of(request, rule)
    part = commands(request).rule_parts
    return _action(*await part.remove_action(rule, action, reconnect=bool(reconnect), expected=state))


@get(
    _EDGES,
    tags=TAGS,
    summary="List the edges of a rule",
    operation_class=Plain,
    responses={
        **answers(200, Many[RuleEdgeDocument], "All edges.", {"data": [examples.EDGE], "next_cursor": None}),
        **refusals(404),
    },
)
async def list_rule_edges(request: AnyRequest, rule: FromPath[str]) -> Response[Many[RuleEdgeDocument]]:
    """List the edges of a rule."""
    found = await commands(request).rules.get(rule)
    return Response(Many(edge_documents(found.document)), headers=_tag(found))


@get(
    f"{_EDGES}/{{edge:str}}",
    tags=TAGS,
    summary="Get an edge of a rule",
    operation_class=Plain,
    responses={**answers(200, One[RuleEdgeDocument], "The edge.", {"data": examples.EDGE}), **refusals(404)},
)
async def get_rule_edge(request: AnyRequest, rule: FromPath[str], edge: FromPath[str]) -> EdgeAnswer:
    """Return an edge of a rule."""
    return _edge(*await commands(request).rule_parts.edge(rule, edge))


@post(
    _EDGES,
    tags=TAGS,
    summary="Add an edge to a rule",
    operation_class=operation(IF_MATCH, body=_EDGE_BODY),
    responses={**answers(201, One[RuleEdgeDocument], "The edge.", {"data": examples.EDGE}), **_WRITTEN},
)
async def add_rule_edge(request: AnyRequest, rule: FromPath[str]) -> EdgeAnswer:
    """Add an edge between actions of a rule."""
    body, state = await _body(request), await state_of(request, rule)
    return _edge(*await commands(request).rule_parts.add_edge(rule, body, expected=state), status=201)


@put(f"{_EDGES}/{{edge:str}}", summary="Replace an edge of a rule", **_CHANGES_EDGE)
async def replace_rule_edge(request: AnyRequest, rule: FromPath[str], edge: FromPath[str]) -> EdgeAnswer:
    """Replace an edge. An edge with other ends or another type has another id."""
    return await _change_edge(request, rule, edge, whole=True)


@patch(f"{_EDGES}/{{edge:str}}", summary="Change an edge of a rule", **_CHANGES_EDGE)
async def change_rule_edge(request: AnyRequest, rule: FromPath[str], edge: FromPath[str]) -> EdgeAnswer:
    """Change the fields of an edge that are sent. An edge with other ends or another type has another id."""
    return await _change_edge(request, rule, edge, whole=False)


async def _change_edge(request: AnyRequest, rule: str, edge: str, *, whole: bool) -> EdgeAnswer:
    body, state = await _body(request), await state_of(request, rule)
    part = commands(request).rule_parts
    return _edge(*await part.change_edge(rule, edge, body, whole=whole, expected=state))


@delete(
    f"{_EDGES}/{{edge:str}}",
    tags=TAGS,
    summary="Remove an edge from a rule",
    status_code=200,
    operation_class=operation(IF_MATCH),
    responses={
        **answers(200, One[RuleEdgeDocument], "The edge that was removed.", {"data": examples.EDGE}),
        **_WRITTEN,
    },
)
async def remove_rule_edge(request: AnyRequest, rule: FromPath[str], edge: FromPath[str]) -> EdgeAnswer:
    """Remove an edge. If an action could not be reached any more, the request is refused."""
    state = await state_of(request, rule)
    return _edge(*await commands(request).rule_parts.remove_edge(rule, edge, expected=state))


async def _body(request: AnyRequest) -> dict[str, Any]:
    return object_body(await request.body(), "the rule cannot be changed", limit=DEFINITION_LIMIT)


def _tag(rule: RuleView) -> dict[str, str]:
    return {"ETag": etag_of(rule.row)}


def _action(rule: RuleView, action: Mapping[str, Any], status: int = 200) -> ActionAnswer:
    return Response(One(action_document(action)), status_code=status, headers=_tag(rule))


def _edge(rule: RuleView, edge: Mapping[str, Any], status: int = 200) -> EdgeAnswer:
    return Response(One(edge_document(edge)), status_code=status, headers=_tag(rule))


ROUTES = [
    list_rule_actions,
    get_rule_action,
    add_rule_action,
    replace_rule_action,
    change_rule_action,
    remove_rule_action,
    list_rule_edges,
    get_rule_edge,
    add_rule_edge,
    replace_rule_edge,
    change_rule_edge,
    remove_rule_edge,
]
