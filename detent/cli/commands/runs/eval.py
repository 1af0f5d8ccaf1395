"""`detent eval EXPRESSION --run RUN`: try an expression on the data of a run."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, settings_of
from detent.cli.output.terminal import err, one_line, plain, print_json
from detent.client import runs

_WIDEST = 100


def evaluate(
    expression: Annotated[str, typer.Argument(metavar="EXPRESSION", help="An expression, or a text with {{ }}.")],
    run: Annotated[str, typer.Option("--run", metavar="RUN", help="The id of the run, run_...")],
    step: Annotated[str | None, typer.Option("--step", metavar="NAME", help="Read what this step could read.")] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Try an expression on the data of a run: as a condition, or as a template if it has {{ }}.

    With --step it reads what that step could read before it ended. Nothing is changed."""
    with open_client(settings_of(database_url=database), url) as client:
        if "{{" in expression:
            document = client.ask(runs.evaluate(run, template=expression, step=step))
        else:
            document = client.ask(runs.evaluate(run, expression, step=step))
    if as_json:
        print_json(document)
    elif document["error"] is None:
        print(json.dumps(document["value"], ensure_ascii=False, separators=(",", ":")))
    else:
        _print_problem(expression, document["error"])
    if document["error"] is not None:
        raise typer.Exit(1)


def _print_problem(expression: str, problem: Document) -> None:
    """Print the message, and the expression with a mark below the place that it is about."""
    err.print(f"[red]error:[/] {plain(problem['message'])}")
    position = problem["position"]
    if position is not None:
        start = max(0, position - _WIDEST // 2)
        part = one_line(expression[start : start + _WIDEST])
        err.print(f"  {plain(part)}\n  {' ' * (position - start)}^", highlight=False, soft_wrap=True)


def add_to(app: typer.Typer) -> None:
    app.command()(evaluate)
