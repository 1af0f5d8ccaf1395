"""One run in parts, as it is or as its journal had it after an earlier entry: outline, graph, and single steps."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, Literal

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart
from detent.commands.drafts import DRAFT, VersionKey
from detent.commands.runs import RunCommands, reason_documents, run_reasons
from detent.commands.versions import VersionCommands
from detent.commands.workflows import WorkflowCommands
from detent.documents.answers import as_json
from detent.documents.outline import ExportDocument, GraphDocument, OutlineDocument, StepDetail
from detent.errors import NotFound, TooLarge
from detent.forms.definition import read_definition
from detent.forms.triggers import without_secrets
from detent.planner.moves.version import versions_in
from detent.planner.past_scope import past_step
from detent.planner.prepared import Prepared
from detent.planner.why import why
from detent.run.journal import Entry
from detent.run.state import RunFacts
from detent.run.status import TERMINAL
from detent.store.rows import RunRow, VersionRow
from detent.values.nearest import nearest
from detent.views.entries import entry_document
from detent.views.export.run_test import as_test
from detent.views.export.text_test import as_text_test
from detent.views.graph import graph_document, run_graph_document
from detent.views.outline import outline_document
from detent.views.runs import facts_of_row
from detent.views.step import MASK, StepView
from detent.views.walk import Walk, slim

#: The version that a workflow has now.
CURRENT: Final = "current"
#: A run with a larger journal is not exported at once.
LARGEST_EXPORT: Final = 64 * 1024 * 1024
#: How many entries are read at once, and how many bytes of them are wanted.
_FIRST_PIECE: Final = 100
_LARGEST_PIECE: Final = 2_000
_PIECE_BYTES: Final = 2_000_000
#: The address of a callback of any run. The tokens of the run itself are found by their beginning.
_CALLBACK_URL: Final = re.compile(rb"(/wh/|/webhook/workflow/resume/)[A-Za-z0-9_-]{30,}")
#: How many characters of a token depend on the id of the run alone.
_TOKEN_START: Final = 21


@dataclass(frozen=True, slots=True)
class _Moment:
    """A run after some entries. `is_past`: its journal has more. `version` is the one that it had then."""

    row: RunRow
    entries: list[Entry]
    began: Prepared
    versions: dict[int, Prepared]
    facts: RunFacts
    walk: Walk
    version: int
    is_past: bool


class OutlineCommands(CommandPart):
    """Reads of one run in parts. Nothing here changes anything."""

    def __init__(
        self,
        context: CommandContext,
        caller: Caller,
        runs: RunCommands,
        workflows: WorkflowCommands,
        versions: VersionCommands,
    ) -> None:
        super().__init__(context, caller)
        self._runs, self._workflows, self._versions = runs, workflows, versions

    async def outline(self, run: str, *, at: int | None = None) -> OutlineDocument:
        """Return a run without bodies, as its journal had it after the entry `at`, or as it is now."""
        moment = await self._moment(run, at)
        row, walk = moment.row, moment.walk
        if moment.is_past:
            now = walk.last_at
            reasons = run_reasons(why(walk.prepared, walk.state, now, owned=True))
        else:
            now = await self._store.now()
            reasons = await self._runs.reasons(row, walk.prepared, walk.state, moment.entries, now)
        return outline_document(
            row, walk, reason_documents(reasons), now, version=moment.version, is_past=moment.is_past
        )

    async def graph(self, run: str, *, at: int | None = None) -> GraphDocument:
        """Return the graph of the version that a run has, with what was decided of each edge."""
        moment = await self._moment(run, at)
        found = await self._store.workflow(self._tenant, moment.row.workflow)
        form = moment.walk.prepared.graph.scope if found is None else found.form
        return run_graph_document(moment.row.workflow_name, moment.version, form, moment.walk)

    async def version_graph(self, key: str, version: VersionKey | Literal["current"]) -> GraphDocument:
        """Return the graph of a version of a workflow: its number, `current` or `draft`. Raise NotFound, or
        InvalidDefinition if a draft cannot be compiled."""
        row = await self._workflows.get(key)
        wanted = (row.version or DRAFT) if version == CURRENT else version
        graph, form = await self._versions.graph(row, wanted)
        return graph_document(row.name, wanted, form, graph)

    async def step(self, run: str, step: str, *, at: int | None = None, whole: bool = False) -> StepDetail:
        """Return everything about one step of a run. `whole`: no value is cut. Raise NotFound if there is no such
        step."""
        moment = await self._moment(run, at, step)
        row, state = moment.row, moment.walk.state
        tokens = self._engine.tokens
        callbacks = await self._store.callbacks(self._tenant, row.id)
        view = StepView(moment.walk, _mask(tokens.token(row.id, "")[:_TOKEN_START]), whole=whole)

        def url(name: str) -> str:
            return self._callback_url(row.id, name)

        def build() -> StepDetail | None:
            if step in state.history or step in state.operations:
                return view.operation(step, callbacks, url, is_past=moment.is_past)
            past = past_step(moment.began, moment.facts, row.opening, moment.entries, step, moment.versions)
            owned = moment.is_past or row.owner is not None
            return None if past is None else view.step(past, callbacks, url, owned=owned, is_past=moment.is_past)

        document = await asyncio.to_thread(build)
        if document is None:
            known = [*moment.walk.prepared.numbers, *state.history, *state.operations]
            near = nearest(step, known)
            raise NotFound(f"the run has no step {step[:80]!r}" + (f"; did you mean {near!r}?" if near else ""))
        return document

    async def export(self, run: str) -> ExportDocument:
        """Return a whole run: its document, its definition and its journal. Raise TooLarge if it is too large to be
        answered at once."""
        row = await self._runs.row(run)
        entries: list[Entry] = []
        size = 0
        while True:
            piece = await self._store.journal(
                self._tenant, row.id, after=entries[-1].seq if entries else 0, limit=_FIRST_PIECE
            )
            entries += piece
            size += sum(len(entry.data) for entry in piece)
            if size > LARGEST_EXPORT:
                raise TooLarge(f"the journal has more than {LARGEST_EXPORT} bytes; read it in parts with /events")
            if len(piece) < _FIRST_PIECE:
                break
        document = await self._runs.document(row)
        definition = without_secrets(await asyncio.to_thread(read_definition, (await self._version(row)).source))
        return ExportDocument(run=document, definition=definition, journal=[entry_document(one) for one in entries])

    async def export_test(self, run: str) -> str:
        """Return the text of a test that repeats a run. Raise InvalidInput if the run cannot be repeated."""
        row = await self._runs.row(run)
        whole = as_json(await self.export(run))
        ended = row.ended_at
        versions = await self._store.versions(self._tenant, row.workflow)
        later = [one.created_at for one in versions if one.version > row.version]
        edited = any(ended is None or made < ended for made in later)
        return await asyncio.to_thread(as_test, whole["run"], whole["definition"], whole["journal"], edited=edited)

    async def export_text_test(self, run: str, *, workflow: str | None = None) -> str:
        """Return a test in text that repeats a run. `workflow` is the path of its definition; without it the test has a
        copy. Raise InvalidInput if the run cannot be repeated."""
        whole = as_json(await self.export(run))
        return await asyncio.to_thread(
            as_text_test, whole["run"], whole["definition"], whole["journal"], workflow=workflow
        )

    async def _version(self, row: RunRow) -> VersionRow:
        found = await self._store.version(self._tenant, row.workflow, row.version)
        if found is None:
            raise NotFound(f"version {row.version} of the workflow {row.workflow_name!r} does not exist any more")
        return found

    async def _moment(self, run: str, at: int | None, step: str | None = None) -> _Moment:
        """Read a run, and fold it up to an entry. With a step, the results that its expressions read are kept."""
        row = await self._runs.row(run)
        keep = () if step is None else await self._read_by(row, step)
        entries = await self._read(row.id, keep)
        numbers = versions_in(entries)
        if numbers and step is not None:
            entries = await self._read(row.id, None)  # another version may have had other names for its steps
        began, versions = await self._runs.graphs(row, entries)
        seen = entries if at is None else entries[:at]
        facts = facts_of_row(row, lambda name: self._callback_url(row.id, name))
        walk = await asyncio.to_thread(Walk, began, facts, row.opening, seen, versions)
        if walk.state.is_over and row.status not in TERMINAL:
            # It ended between the two reads. Its row was written together with its last entry.
            row = await self._store.run(row.tenant, row.id) or row
        version = walk.state.moved_version or (numbers[0] if numbers else row.version)
        return _Moment(row, seen, began, versions, facts, walk, version, len(seen) < len(entries))

    async def _read_by(self, row: RunRow, step: str) -> Collection[str] | None:
        """Return the steps whose results a step reads, and itself; None if the sizes of all results count."""
        prepared = await self._runs.prepared(row)
        index = prepared.numbers.get(step)
        if prepared.context is not None:
            return None
        reads = () if index is None else prepared.steps[index].reads
        return {step, *(prepared.steps[read].name for read in reads)}

    async def _read(self, run: bytes, keep: Collection[str] | None) -> list[Entry]:
        """Read the journal of a run in pieces, and make each entry slim as soon as it is read."""
        found: list[Entry] = []
        piece = _FIRST_PIECE
        while True:
            rows = await self._store.journal(self._tenant, run, after=found[-1].seq if found else 0, limit=piece)
            found += rows if keep is None else [slim(row, keep) for row in rows]
            if len(rows) < piece:
                return found
            each = sum(len(row.data) for row in rows) // len(rows) + 1
            piece = max(1, min(_LARGEST_PIECE, _PIECE_BYTES // each))


def _mask(start: str) -> Callable[[bytes], bytes]:
    """Return a function that hides the tokens of callbacks in a text. Those of one run begin with `start`."""
    own = re.compile(re.escape(start.encode()) + rb"[A-Za-z0-9_-]{20,}")
    hidden = MASK.encode()
    return lambda text: own.sub(hidden, _CALLBACK_URL.sub(rb"\1" + hidden, text))
