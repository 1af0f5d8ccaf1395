"""Build the grid of a workflow: how each step ended in its latest runs, from the journals without data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detent.documents.outline import GridCell, GridDocument, GridRun
from detent.graph.model import Ending, Graph
from detent.ids import RUN, made_at, show
from detent.instant import as_datetime
from detent.run.journal import Kind
from detent.store.overview_rows import EntryMark
from detent.store.rows import RunRow
from detent.views.runs import shown_status

_LETTERS: Final = {
    Ending.SUCCESS: "s",
    Ending.FAILED: "f",
    Ending.TIMEOUT: "t",
    Ending.SKIPPED: "k",
    Ending.CANCELLED: "c",
    Ending.TEMPLATE_ERROR: "e",
}
_OPEN: Final = "r"
_ENDED: Final = (Kind.ENDED, Kind.CHECKPOINT)


def grid_document(graph: Graph | None, rows: Sequence[RunRow], marks: Sequence[EntryMark], most: int) -> GridDocument:
    """Build the grid of these runs, which are newest first, with at most `most` cells. `graph` is that of the current
    version: its steps come first, then others that the journals have."""
    names = [] if graph is None else [step.name for step in graph.steps]
    known = set(names)
    names += [name for name in dict.fromkeys(mark.step for mark in marks) if name not in known]
    names = names[: most // max(1, len(rows))]
    cells: dict[tuple[bytes, str], GridCell] = {}
    ends: dict[tuple[bytes, str], int] = {}
    begins = {row.id: row.started_at for row in rows}
    needs: dict[str, list[str]] = {}
    for edge in () if graph is None else graph.edges:
        needs.setdefault(edge.target, []).append(edge.source)
    for mark in marks:
        if mark.run not in begins:
            continue
        key = mark.run, mark.step
        cell = cells.setdefault(key, GridCell(s=_OPEN))
        cell.attempts = max(cell.attempts, mark.attempt)
        if mark.kind in _ENDED and mark.outcome is not None:
            cell.s = _LETTERS.get(Ending(mark.outcome), _OPEN)
            ends[key] = mark.at
            before = [ends[mark.run, need] for need in needs.get(mark.step, ()) if (mark.run, need) in ends]
            cell.ms = round(max(0, mark.at - max(before, default=begins[mark.run])) / 1000, 2)
    return GridDocument(
        runs=[
            GridRun(
                id=show(RUN, row.id),
                status=shown_status(row),
                accepted_at=as_datetime(made_at(row.id)),
                version=row.version,
            )
            for row in rows
        ],
        steps=names,
        cells=[[cells.get((row.id, name)) for row in rows] for name in names],
    )
