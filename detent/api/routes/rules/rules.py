"""Routes of rules: one save of everything, versions, and what an editor reads.

`/v1/workflow/rules/...` answers with the bare document, `/api/v1/rules/...` with `{"data": ...}`.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from litestar import Response, delete, get, patch, post, put
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.etags import etag_of, named_state
from detent.api.openapi import rule_examples as examples
from detent.api.openapi.operations import (
    BOOLEAN,
    PAGE_PARAMETERS,
    RUN_PARAMETERS,
    TEXT,
    Plain,
    answers,
    header,
    operation,
    query,
    refusals,
    takes,
)
from detent.api.request import (
    AnyRequest,
    CursorScope,
    QueryValues,
    aliases,
    commands,
    flag_of,
    number_of,
    object_body,
    tenant_of,
    word_of,
)
from detent.api.routes.runs import show_runs
from detent.api.rules import checked_document, rule_document, rule_summary, version_document
from detent.commands.drafts import DraftAnswer
from detent.commands.rules.save import RuleView, State
from detent.documents.answers import FieldProblem, Many, One
from detent.documents.lists import SearchPage
from detent.documents.rules import (
    CheckedRuleDocument,
    DeletedRuleDocument,
    LayoutDocument,
    RuleDocument,
    RuleDraftDocument,
    RuleSummary,
    RuleVersionDocument,
)
from detent.documents.runs import RunSummary
from detent.forms.rules.form import RuleTrigger
from detent.ids import WORKFLOW, show
from detent.instant import as_datetime
from detent.store.rows import WorkflowRow
from detent.values.fields import shown
from detent.values.limits import LARGEST_VERSION, RULE_LIMIT

BASE: Final = "/api/v1/rules"
REFERENCE: Final = "/v1/workflow"
TAGS: Final = ["rules"]
_MESSAGE: Final = "the rule cannot be saved"
_LIST_MESSAGE: Final = "the list cannot be read"

IF_MATCH: Final = header(
    "If-Match",
    "The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.",
    '"v1.1771754700000000"',
)
_VALIDATE: Final = query("validate_only", BOOLEAN, "Check everything that a save checks, and store nothing.", True)
_DRAFT: Final = query("draft", BOOLEAN, "Save a draft: anything that can be read, with its problems.", False)
_OBJECT: Final = Schema(type=OpenAPIType.OBJECT)
_LIST: Final = Schema(type=OpenAPIType.ARRAY, items=_OBJECT)
_RULE: Final = Schema(
    type=OpenAPIType.OBJECT,
    description="A rule of the rule form (its schema is at `/api/v1/schemas/rule`). Edges and `node_positions` name "
    "actions by their ids, by keys of your own, or as `temp:N`, their place in `actions`.",
    properties={
        "name": TEXT,
        "description": TEXT,
        "is_active": BOOLEAN,
        "entity_id": TEXT,
        "trigger_type_id": TEXT,
        "trigger_conditions": _OBJECT,
        "actions": _LIST,
        "edges": _LIST,
        "canvas_layout": _OBJECT,
    },
)
_BODY: Final = takes(_RULE, examples.SAVE, required=True)
_CREATED: Final = "The rule was created, or with `draft` its draft."
_REPLACED: Final = "The rule as it is now; with `validate_only` as it would be saved, with `draft` its draft."
_WRITTEN: Final = refusals(400, 403, 404, 409, 412, 413)

RuleAnswer = Response[One[RuleDocument]]
AnyAnswer = Response[Any]


# Saving.


@post(
    [BASE, f"{BASE}/full"],
    tags=TAGS,
    summary="Create a rule with all of its actions and edges",
    operation_class=operation(_VALIDATE, _DRAFT, body=_BODY),
    responses={
        **answers(201, One[RuleDocument] | One[RuleDraftDocument], _CREATED, {"data": examples.RULE}),
        **answers(200, One[CheckedRuleDocument], "With `validate_only`: the rule would be saved."),
        **refusals(400, 403, 409, 413),
    },
    request_max_body_size=RULE_LIMIT,
)
async def create_rule(request: AnyRequest) -> AnyAnswer:
    """Save a new rule in one transaction: its actions, its edges and its layout, or nothing of it. The answer has the
    ids of everything. Its key is the slug of its name; a key that is taken is a conflict. All problems are in the
    answer at once."""
    return await _create(request, bare=False)


@put(
    [f"{BASE}/{{rule:str}}", f"{BASE}/{{rule:str}}/full"],
    tags=TAGS,
    summary="Save a rule with all of its actions and edges",
    operation_class=operation(_VALIDATE, _DRAFT, IF_MATCH, body=_BODY),
    responses={
        **answers(
            200,
            One[RuleDocument] | One[CheckedRuleDocument] | One[RuleDraftDocument],
            _REPLACED,
            {"data": examples.RULE},
        ),
        **_WRITTEN,
    },
    request_max_body_size=RULE_LIMIT,
)
async def save_rule(request: AnyRequest, rule: FromPath[str]) -> AnyAnswer:
    """Save a rule in one transaction: its actions, its edges and its layout, or nothing of it. Actions with a known id
    keep it, and their step; actions that are not sent are removed. An unchanged edge keeps its id. What was saved is a
    new version, unless a version has the same content. Runs in flight stay on their version."""
    return await _replace(request, rule, bare=False)


@post(
    f"{REFERENCE}/rules/full",
    tags=TAGS,
    summary="Create a rule, with a bare answer",
    operation_class=operation(_VALIDATE, _DRAFT, body=_BODY),
    responses={
        **answers(201, RuleDocument | RuleDraftDocument, _CREATED, examples.RULE),
        **answers(200, CheckedRuleDocument, "With `validate_only`: the rule would be saved."),
        **refusals(400, 403, 409, 413),
    },
    request_max_body_size=RULE_LIMIT,
)
async def create_full_rule(request: AnyRequest) -> AnyAnswer:
    """Save a new rule, as `POST /api/v1/rules` does. The answer is the rule itself."""
    return await _create(request, bare=True)


@put(
    f"{REFERENCE}/rules/{{rule:str}}/full",
    tags=TAGS,
    summary="Save a rule, with a bare answer",
    operation_class=operation(_VALIDATE, _DRAFT, IF_MATCH, body=_BODY),
    responses={
        **answers(200, RuleDocument | CheckedRuleDocument | RuleDraftDocument, _REPLACED, examples.RULE),
        **_WRITTEN,
    },
    request_max_body_size=RULE_LIMIT,
)
async def save_full_rule(request: AnyRequest, rule: FromPath[str]) -> AnyAnswer:
    """Save a rule, as `PUT /api/v1/rules/{rule}` does. The answer is the rule itself."""
    return await _replace(request, rule, bare=True)


async def _create(request: AnyRequest, *, bare: bool) -> AnyAnswer:
    body, validates, drafts = await _read(request)
    part = commands(request).rules
    if drafts:
        return _drafted(await part.save_draft(body), bare=bare)
    if validates:
        checked = await part.validate(body)
        return _answer(checked_document(checked), bare=bare)
    saved = await part.create(body)
    return await show_rule(saved, bare=bare, status=201)


async def _replace(request: AnyRequest, rule: str, *, bare: bool) -> AnyAnswer:
    body, validates, drafts = await _read(request)
    part = commands(request).rules
    if drafts:
        return _drafted(await part.save_draft(body, key=rule), bare=bare)
    state = await state_of(request, rule)
    if validates:
        checked = await part.validate(body, key=rule, expected=state)
        return _answer(checked_document(checked), bare=bare)
    return await show_rule(await part.replace(rule, body, expected=state), bare=bare)


async def _read(request: AnyRequest) -> tuple[dict[str, Any], bool, bool]:
    """Return the body of a save, and whether it only validates, and whether it is a draft."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("validate_only", "draft"))
    validates, drafts = values.one("validate_only", flag_of), values.one("draft", flag_of)
    values.refuse(_MESSAGE)
    data = await request.body()
    body = await asyncio.to_thread(object_body, data, _MESSAGE, limit=RULE_LIMIT)
    return body, bool(validates), bool(drafts)


async def state_of(request: AnyRequest, rule: str) -> State | None:
    """Return the state that `If-Match` requires of a rule, `None` if it allows any."""
    if_match = request.headers.get("if-match")
    if if_match is None:
        return None
    return named_state(if_match, (await commands(request).rules.get(rule)).row)


async def show_rule(rule: RuleView, *, bare: bool = False, status: int = 200) -> AnyAnswer:
    """Build the answer that shows a rule, with its tag."""
    document = await asyncio.to_thread(rule_document, rule)
    return _answer(document, bare=bare, status=status, headers={"ETag": etag_of(rule.row)})


def _answer(document: Any, *, bare: bool, status: int = 200, headers: dict[str, str] | None = None) -> AnyAnswer:
    return Response(document if bare else One(document), status_code=status, headers=headers or {})


def _drafted(saved: DraftAnswer, *, bare: bool) -> AnyAnswer:
    problems = [FieldProblem(one.field, one.message) for one in saved.problems]
    document = RuleDraftDocument(
        id=show(WORKFLOW, saved.workflow.id), key=saved.workflow.name, revision=saved.revision, problems=problems
    )
    return _answer(document, bare=bare, status=201 if saved.created else 200)


@patch(
    [f"{BASE}/{{rule:str}}/layout", f"{REFERENCE}/rules/{{rule:str}}/layout"],
    tags=TAGS,
    summary="Change the layout of a rule",
    operation_class=operation(body=takes(_OBJECT, examples.LAYOUT, required=True)),
    responses={
        **answers(200, One[LayoutDocument], "The layout as it is now.", {"data": {"canvas_layout": examples.LAYOUT}}),
        **refusals(400, 403, 404, 413),
    },
)
async def change_layout(request: AnyRequest, rule: FromPath[str]) -> AnyAnswer:
    """Change where the nodes of a rule are on a canvas. What is sent replaces what is stored; a position of `null` is
    removed. The last writer wins. Neither the version of the rule nor its `ETag` changes."""
    body = object_body(await request.body(), "the layout cannot be saved")
    inner = body.get("canvas_layout")
    _, layout = await commands(request).rules.save_layout(rule, body if inner is None else inner)
    return _answer(LayoutDocument(layout), bare=request.url.path.startswith(REFERENCE))


# Reading.


@get(
    BASE,
    tags=TAGS,
    summary="List rules",
    operation_class=operation(
        query("entity", TEXT, "Only those of this entity, by id or name.", "order"),
        query("trigger_type", TEXT, "Only those of this trigger type.", "on_update"),
        query("is_active", BOOLEAN, "Only those that events can start, or only the others.", True),
        query("search", TEXT, "Only those with this text in their name, key or description.", "order"),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(
            200, Many[RuleSummary], "A page of the list.", {"data": [examples.RULE_SUMMARY], "next_cursor": None}
        ),
        **refusals(400, 404),
    },
)
async def list_rules(request: AnyRequest) -> Many[RuleSummary]:
    """List the rules by key, without their actions and edges."""
    known = aliases(
        "entity", "trigger_type", "is_active", "search", "limit", "cursor", entity_id="entity",
        trigger_type_id="trigger_type",
    )  # fmt: skip
    values = QueryValues.of_query(request.scope["query_string"], known)
    entity, active = values.one("entity", word_of), values.one("is_active", flag_of)
    kind, text = values.one("trigger_type", _trigger_type), values.one("search", word_of)
    scope, limit = CursorScope("rules", tenant_of(request), entity, active, kind, text), values.limit()
    after = values.cursor(lambda given: scope.place(given).decode())
    values.refuse(_LIST_MESSAGE)

    def keep(row: WorkflowRow) -> bool:
        texts = (row.name, row.title or "", row.description or "")
        found = text is None or any(text.casefold() in one.casefold() for one in texts)
        return found and (kind is None or f'"trigger_type": "{kind}"' in row.trigger)

    rows = await commands(request).rules.find(
        limit=limit + 1,
        after=after,
        entity=entity,
        is_active=active,
        keep=None if text is None and kind is None else keep,
    )
    more = scope.cursor(rows[limit - 1].name.encode()) if len(rows) > limit else None
    return Many(await asyncio.to_thread(lambda: [rule_summary(one) for one in rows[:limit]]), more)


def _trigger_type(text: str) -> str:
    if text not in tuple(RuleTrigger):
        raise ValueError(f"{shown(text)} is not one of {', '.join(RuleTrigger)}")
    return text


@get(
    f"{BASE}/{{rule:str}}",
    tags=TAGS,
    summary="Get a rule",
    operation_class=operation(query("version", TEXT, "The number of a version; the current one by default.", "1")),
    responses={**answers(200, One[RuleDocument], "The rule.", {"data": examples.RULE}), **refusals(400, 404)},
)
async def get_rule(request: AnyRequest, rule: FromPath[str]) -> AnyAnswer:
    """Return a rule by id or by key, with its actions, its edges and its layout. Its `ETag` is for `If-Match`."""
    return await _get(request, rule, bare=False)


@get(
    f"{REFERENCE}/rules/{{rule:str}}",
    tags=TAGS,
    summary="Get a rule, with a bare answer",
    operation_class=operation(query("version", TEXT, "The number of a version; the current one by default.", "1")),
    responses={**answers(200, RuleDocument, "The rule.", examples.RULE), **refusals(400, 404)},
)
async def get_full_rule(request: AnyRequest, rule: FromPath[str]) -> AnyAnswer:
    """Return a rule, as `GET /api/v1/rules/{rule}` does. The answer is the rule itself."""
    return await _get(request, rule, bare=True)


async def _get(request: AnyRequest, rule: str, *, bare: bool) -> AnyAnswer:
    values = QueryValues.of_query(request.scope["query_string"], aliases("version"))
    number = values.one("version", lambda text: number_of(text, 1, LARGEST_VERSION))
    values.refuse("the rule cannot be read")
    part = commands(request).rules
    if number is None:
        return await show_rule(await part.get(rule), bare=bare)
    found, _ = await part.get_version(rule, number)
    return _answer(await asyncio.to_thread(rule_document, found), bare=bare)


@get(
    [f"{BASE}/{{rule:str}}/runs", f"{BASE}/{{rule:str}}/executions"],
    tags=TAGS,
    summary="List the runs of a rule",
    operation_class=operation(*(one for one in RUN_PARAMETERS if one.name != "workflow")),
    responses={**answers(200, SearchPage[RunSummary], "A page of the list."), **refusals(400, 404)},
)
async def list_rule_runs(request: AnyRequest, rule: FromPath[str]) -> Response[SearchPage[RunSummary]]:
    """List the runs of a rule, newest first. Filters and pages are those of `GET /api/v1/runs`."""
    return await show_runs(request, (await commands(request).rules.get(rule)).row.id)


# The life of a rule.


_CHANGED: Final[dict[str, Any]] = {
    "tags": TAGS,
    "status_code": 200,
    "responses": {
        **answers(200, One[RuleDocument], "The rule as it is now.", {"data": examples.RULE}),
        **refusals(403, 404, 409),
    },
}


@post(f"{BASE}/{{rule:str}}/activate", summary="Activate a rule", operation_class=Plain, **_CHANGED)
async def activate_rule(request: AnyRequest, rule: FromPath[str]) -> AnyAnswer:
    """Let events, schedules and callers start the rule, from the next event on. No version is made."""
    return await show_rule(await commands(request).rules.activate(rule, is_active=True))


@post(f"{BASE}/{{rule:str}}/deactivate", summary="Deactivate a rule", operation_class=Plain, **_CHANGED)
async def deactivate_rule(request: AnyRequest, rule: FromPath[str]) -> AnyAnswer:
    """Let nothing start the rule until it is activated again. Runs in flight go on. No version is made."""
    return await show_rule(await commands(request).rules.activate(rule, is_active=False))


@delete(
    f"{BASE}/{{rule:str}}",
    tags=TAGS,
    summary="Delete a rule",
    status_code=200,
    operation_class=operation(IF_MATCH),
    responses={
        **answers(200, One[DeletedRuleDocument], "The rule was deleted at `deleted_date`."),
        **refusals(403, 404, 412),
    },
)
async def delete_rule(request: AnyRequest, rule: FromPath[str]) -> AnyAnswer:
    """Delete a rule. Nothing starts it any more, and its key is free. Runs in flight go on to their end."""
    row, at = await commands(request).rules.delete(rule, expected=await state_of(request, rule))
    document = DeletedRuleDocument(
        id=show(WORKFLOW, row.id), key=row.name, name=row.title or row.name, deleted_date=as_datetime(at)
    )
    return _answer(document, bare=False)


@get(
    f"{BASE}/{{rule:str}}/versions",
    tags=TAGS,
    summary="List the versions of a rule",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={**answers(200, Many[RuleVersionDocument], "A page of the list."), **refusals(400, 404)},
)
async def list_rule_versions(request: AnyRequest, rule: FromPath[str]) -> Many[RuleVersionDocument]:
    """List the versions of a rule, newest first, each with its author."""
    scope, limit, before = _version_page(request, rule, "versions of rules")
    row, versions = await commands(request).rules.versions(rule)
    rows = [one for one in versions if before is None or one.version < before]
    more = scope.cursor(str(rows[limit - 1].version).encode()) if len(rows) > limit else None
    return Many([version_document(one, row.version) for one in rows[:limit]], more)


@get(
    f"{BASE}/{{rule:str}}/history",
    tags=TAGS,
    summary="Show what changed from version to version",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={**answers(200, Many[RuleVersionDocument], "A page of the list."), **refusals(400, 404)},
)
async def list_rule_history(request: AnyRequest, rule: FromPath[str]) -> Many[RuleVersionDocument]:
    """List the versions of a rule, newest first, each with its author and what differs from the version before."""
    scope, limit, before = _version_page(request, rule, "history of rules")
    part = commands(request).rules
    row = (await part.get(rule)).row
    found = await part.history(rule, limit=limit + 1, before=before)
    more = scope.cursor(str(found[limit - 1][0].version).encode()) if len(found) > limit else None
    made = await asyncio.to_thread(lambda: [version_document(one, row.version, how) for one, how in found[:limit]])
    return Many(made, more)


def _version_page(request: AnyRequest, rule: str, name: str) -> tuple[CursorScope, int, int | None]:
    values = QueryValues.of_query(request.scope["query_string"], aliases("limit", "cursor"))
    scope, limit = CursorScope(name, tenant_of(request), rule), values.limit()
    before = values.cursor(lambda text: int(scope.place(text)))
    values.refuse(_LIST_MESSAGE)
    return scope, limit, before


@get(
    f"{BASE}/{{rule:str}}/versions/{{number:int}}",
    tags=TAGS,
    summary="Get a version of a rule",
    operation_class=Plain,
    responses={**answers(200, One[RuleDocument], "The rule as it was.", {"data": examples.RULE}), **refusals(404)},
)
async def get_rule_version(request: AnyRequest, rule: FromPath[str], number: FromPath[int]) -> AnyAnswer:
    """Return a rule as one of its versions has it, with the layout of today."""
    found, _ = await commands(request).rules.get_version(rule, number)
    return _answer(await asyncio.to_thread(rule_document, found), bare=False)


@post(
    f"{BASE}/{{rule:str}}/versions/{{number:int}}/restore",
    tags=TAGS,
    summary="Restore a version of a rule",
    status_code=200,
    operation_class=operation(IF_MATCH),
    responses={
        **answers(200, One[RuleDocument], "The rule as it is now.", {"data": examples.RULE}),
        **refusals(403, 404, 409, 412),
    },
)
async def restore_rule(request: AnyRequest, rule: FromPath[str], number: FromPath[int]) -> AnyAnswer:
    """Make a version of a rule its current one. Actions and edges have the ids that they had. The rule stays active or
    inactive as it is."""
    state = await state_of(request, rule)
    return await show_rule(await commands(request).rules.restore(rule, number, expected=state))


ROUTES = [
    create_rule,
    save_rule,
    create_full_rule,
    save_full_rule,
    change_layout,
    list_rules,
    get_rule,
    get_full_rule,
    list_rule_runs,
    activate_rule,
    deactivate_rule,
    delete_rule,
    list_rule_versions,
    list_rule_history,
    get_rule_version,
    restore_rule,
]
