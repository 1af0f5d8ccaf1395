"""Routes of one run in parts: its outline, its graph, and everything about one step. A page is built from them."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec
from litestar import Response, get
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.openapi import examples, view_examples
from detent.api.openapi.operations import BOOLEAN, INTEGER, TEXT, Plain, answers, operation, query, refusals
from detent.api.request import AnyRequest, QueryValues, aliases, commands, flag_of, number_of, version_of, word_of
from detent.api.routes.runs import places
from detent.api.routes.workflows import BASE
from detent.commands.outlines import CURRENT
from detent.documents.answers import One
from detent.documents.outline import ExportDocument, GraphDocument, OutlineDocument, StepDetail
from detent.errors import NotFound

_MESSAGE: Final = "the run cannot be shown"
_LARGEST_SEQ: Final = 999_999_999
_KINDS: Final = ("json", "test", "test-yaml")
_LONGEST_PATH: Final = 1_000
_AS: Final = Schema(type=OpenAPIType.STRING, enum=list(_KINDS))
_AT: Final = query("at", INTEGER, "As its journal had it after this entry (`seq`); 0: before the first one.", 12)
_WHOLE: Final = query("whole", BOOLEAN, "Return every value as it is, however large.", False)


@get(
    places("/{run:str}/outline", below=False),
    tags=["runs"],
    summary="Get the outline of a run",
    operation_class=operation(_AT),
    responses={
        **answers(200, One[OutlineDocument], "The outline.", examples.one(view_examples.OUTLINE)),
        **refusals(400, 404),
    },
)
async def get_run_outline(request: AnyRequest, run: FromPath[str]) -> Response[One[OutlineDocument]]:
    """Return a run at a glance: why it does not go on, and each step with its status, times and tries, without bodies.
    With `at` it is as the journal had it then."""
    at = _moment(request)
    return Response(One(await commands(request).outlines.outline(run, at=at)))


@get(
    places("/{run:str}/graph", below=False),
    tags=["runs"],
    summary="Get the graph of a run",
    operation_class=operation(_AT),
    responses={
        **answers(200, One[GraphDocument], "The graph.", examples.one(view_examples.RUN_GRAPH)),
        **refusals(400, 404),
    },
)
async def get_run_graph(request: AnyRequest, run: FromPath[str]) -> Response[One[GraphDocument]]:
    """Return the steps and edges of the version that the run has, and which edges were taken. The graph of a durable
    function has its operations so far."""
    return Response(One(await commands(request).outlines.graph(run, at=_moment(request))))


@get(
    places("/{run:str}/steps/{step:str}", below=False),
    tags=["runs"],
    summary="Get one step of a run",
    operation_class=operation(_AT, _WHOLE),
    responses={
        **answers(200, One[StepDetail], "The step.", examples.one(view_examples.STEP_DETAIL)),
        **refusals(400, 404),
    },
)
async def get_run_step(request: AnyRequest, run: FromPath[str], step: FromPath[str]) -> Response[One[StepDetail]]:
    """Return everything about one step: its parameters as written and as sent, each expression with its value, its
    output, its error with the frames of the traceback, and its attempts. A value of more than 32 KB is replaced by its
    size and its beginning, unless `whole` is true."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("at", "whole"))
    at, whole = values.one("at", _seq), values.one("whole", flag_of)
    values.refuse(_MESSAGE)
    return Response(One(await commands(request).outlines.step(run, step, at=at, whole=whole or False)))


@get(
    places("/{run:str}/export", below=False),
    tags=["runs"],
    summary="Download a whole run",
    operation_class=operation(
        query("as", _AS, "The run as JSON, or a test that repeats it: for pytest, or in text.", "json"),
        query("workflow", TEXT, "With `as=test-yaml`: the path of the definition, in place of a copy.", "order.yaml"),
        texts=("text/x-python", "application/yaml"),
    ),
    responses={**answers(200, ExportDocument, "A file."), **refusals(400, 404, 413)},
)
async def export_run(request: AnyRequest, run: FromPath[str]) -> Response[Any]:
    """Return a run as a file: `json` has its document, its definition and its journal. `test` is a test for pytest that
    repeats it with the results of its steps, as `detent runs show --as-test` prints it. `test-yaml` is such a test in
    text, for `detent test`."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("as", "workflow"))
    kind = values.one("as", _kind) or "json"
    path = values.one("workflow", lambda text: word_of(text, _LONGEST_PATH))
    if path is not None and kind != "test-yaml":
        values.add_problem("workflow", "is for as=test-yaml only")
    values.refuse("the run cannot be exported")
    outlines = commands(request).outlines
    if kind == "test-yaml":
        text = await outlines.export_text_test(run, workflow=path)
        return Response(text, media_type="application/yaml", headers=_named(f"{run}.test.yaml"))
    if kind == "test":
        text = await outlines.export_test(run)
        return Response(text, media_type="text/x-python", headers=_named(f"test_{run}.py"))
    document = msgspec.json.encode(await outlines.export(run))
    return Response(document, media_type="application/json", headers=_named(f"{run}.json"))


def _kind(text: str) -> str:
    if text not in _KINDS:
        raise ValueError(f"must be {' or '.join(_KINDS)}")
    return text


def _named(file: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{file}"'}


@get(
    BASE + "/{workflow:str}/versions/{version:str}/graph",
    tags=["workflows"],
    summary="Get the graph of a version",
    operation_class=Plain,
    responses={
        **answers(200, One[GraphDocument], "The graph.", examples.one(view_examples.GRAPH)),
        **refusals(400, 404),
    },
)
async def get_version_graph(
    request: AnyRequest, workflow: FromPath[str], version: FromPath[str]
) -> Response[One[GraphDocument]]:
    """Return the steps and edges of a version: its number, `current` or `draft`. They have the same shape for every
    form."""
    return Response(One(await commands(request).outlines.version_graph(workflow, _version(workflow, version))))


def _version(workflow: str, text: str) -> int | Literal["draft", "current"]:
    if text == CURRENT:
        return "current"
    try:
        return version_of(text)
    except ValueError:
        raise NotFound(f"the workflow {workflow[:200]!r} has no version {text[:80]!r}") from None


def _moment(request: AnyRequest) -> int | None:
    values = QueryValues.of_query(request.scope["query_string"], aliases("at"))
    at = values.one("at", _seq)
    values.refuse(_MESSAGE)
    return at


def _seq(text: str) -> int:
    return number_of(text, 0, _LARGEST_SEQ)


ROUTES: Final[list[Any]] = [get_run_outline, get_run_graph, get_run_step, export_run, get_version_graph]
