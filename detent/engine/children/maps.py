"""The engine's side of maps: start the pages that began, and collect their outputs when all have ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from detent.blobs.contents import BlobContents
from detent.engine.children.family import Children, existing_children, family_of, known_children, starting
from detent.engine.owned_run import OwnedRun
from detent.engine.prepared_start import PreparedStart
from detent.errors import DetentError, StoreError, TooLarge, Unavailable
from detent.expressions import ExpressionError
from detent.forms.kinds import user_actions
from detent.graph.codec import features_of_page
from detent.ids import RUN, parse
from detent.observe import emit
from detent.planner.fold import fold
from detent.planner.judge import TEMPLATE_ERROR
from detent.planner.maps import (
    COLLECT,
    MapError,
    items_of,
    list_of_map,
    no_values,
    outer_values,
    page_of,
    result_of_map,
)
from detent.planner.reuse import retry_plan
from detent.run.journal import MAP, Page, family_in
from detent.run.outcomes import Delegated, Done, Fail, Outcome, StepError
from detent.run.state import MapState, RunFacts
from detent.run.status import Status
from detent.steps.child_step import inherited
from detent.steps.user_code import describe
from detent.values.limits import INPUT_LIMIT, SIZE_LIMIT
from detent.vault.redaction import Redactor

#: Seconds between two attempts while the node cannot write or read.
PAUSE: Final = 1.0

#: A page takes over at most so many bytes of results: they are written in the flush that starts it.
MOST_REUSED: Final = 8_000_000

_encode: Final = msgspec.json.Encoder().encode


class MapWork:
    """Makes the attempts of maps. A page that exists is not started again."""

    def __init__(self, children: Children, contents: BlobContents, redactors: Mapping[int, Redactor]) -> None:
        self._children, self._contents, self._redactors = children, contents, redactors

    async def attempt(self, run: OwnedRun, index: int) -> Outcome:
        """Start the open pages of a map that do not exist, or end the map if all its pages have ended."""
        while True:
            try:
                found = run.state.maps[index]
                if not found.open and not found.has_more():
                    return await self._collect(run, index)
                written = written_pages(run, found)
                await self._start_pages(run, index, written)
                return Delegated(len(written))
            except (Unavailable, StoreError):
                await asyncio.sleep(PAUSE)
            except MapError as problem:
                return Fail(problem.error, retry=False)
            except DetentError as error:
                return Fail(StepError(error.code, f"a page cannot be started: {error}"), retry=False)

    async def _start_pages(self, run: OwnedRun, index: int, written: Sequence[str]) -> None:
        found, start = run.state.maps[index], self._children.start_page
        if start is None:
            raise Unavailable("this engine cannot start runs")
        there = await existing_children(self._children, run, [child for child in written if child in found.open])
        missing = [(child, number) for child, number in found.open.items() if child in written and child not in there]
        if not missing:
            return
        items = items_of(run.prepared, run.state, index)
        outer = _outer(run, index)
        for child, number in missing:
            first = number * found.size
            request = _page_start(run, index, child, first, items[first : first + found.size], outer)
            past = run.state.reused_maps.get(index)
            is_same = past is not None and (past.count, past.size) == (found.count, found.size)
            if past is not None and is_same and number < len(past.pages):
                request = await self._take_over(request, past.pages[number])
            async with starting(run, child):
                await start(request)

    async def _take_over(self, request: PreparedStart, old: str) -> PreparedStart:
        """Let a page begin with the items that succeeded in a page of the original run, if it has the same items."""
        row = await self._children.row_of(request.tenant, parse(RUN, old))
        family = None if row is None else family_in(row.opening)
        if row is None or family is None or family.page is None or _items_in(row.input) != _items_in(request.input):
            return request
        entries = (await self._children.journals([row.id])).get(row.id, [])
        facts = RunFacts(row.id, row.tenant, request.name, row.input, row.started_at, row.expires_at, lambda _: "")
        reuse = retry_plan(request.prepared, fold(request.prepared, facts, row.opening, entries))
        size = sum(map(len, reuse.results.values()))
        if size > MOST_REUSED:
            message = (
                f"the results of {old} have {size} bytes; at most {MOST_REUSED} are taken over; rerun the workflow"
            )
            raise MapError("page_too_large", message)
        return replace(request, reuse=reuse, origin=row.id, origin_kind="retry")

    async def _collect(self, run: OwnedRun, index: int) -> Outcome:
        """End a map whose pages have ended with the list of its values, or with a blob of it if it is large."""
        found, small, size, is_whole = run.state.maps[index], list[bytes](), 0, True
        async for output in self._outputs(run, found):
            is_whole = is_whole and output is not None
            size += len(output or b"")
            if is_whole and size <= SIZE_LIMIT:
                small.append(output or b"")
        if is_whole and size > SIZE_LIMIT:
            return Done(result_of_map(found, await self._stored(run, found)))
        return Done(result_of_map(found, list_of_map(small) if is_whole else None))

    async def _stored(self, run: OwnedRun, found: MapState) -> bytes | None:
        """Store the list of a map, and return the blob that has it; `None` if it cannot be one.

        The outputs of the pages are read a second time, because together they may be larger than memory should be."""
        tenant = run.state.facts.tenant
        redactor = self._redactors.get(tenant)

        async def parts() -> AsyncIterator[bytes]:
            begin = b"["
            async for output in self._outputs(run, found):
                if output is not None and output != b"[]":
                    clean = output if redactor is None else redactor.json(output)
                    yield begin + clean[1:-1]
                    begin = b","
            yield b"]"

        if run.prepared.is_sensitive:
            return None
        try:
            return _encode((await self._contents.save(tenant, run.id, parts())).document())
        except TooLarge:
            return None
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - the items have run: their map must not fail because of its list
            emit("engine.error", where="content of blobs", run=run.id, error=describe(error))
            return None

    async def _outputs(self, run: OwnedRun, found: MapState) -> AsyncIterator[bytes | None]:
        """Yield the outputs of the pages of a map; `None` for one that is too large. Raise MapError."""
        for number, child in enumerate(found.pages):
            row = await self._children.row_of(run.state.facts.tenant, parse(RUN, child))
            if row is not None and row.output is None and (row.error or "").startswith(COLLECT):
                raise MapError(TEMPLATE_ERROR, row.error or "")
            if row is not None and row.output is None and row.status != Status.COMPLETED:
                # It was stopped and could not collect anything. That is not the same as a list that is too large.
                yield no_values(found, number)
            else:
                yield None if row is None else row.output


def written_pages(run: OwnedRun, found: MapState) -> list[str]:
    """Return the pages of a map that the durable journal names. Only these may be started.

    A page may begin while another one is started. Its map then looks again when the entry is durable.
    """
    unwritten = known_children(run).unwritten
    return [page for page in found.pages if page not in unwritten]


def _items_in(raw: bytes) -> Any:
    return msgspec.json.decode(raw)["body"]["items"]


def _outer(run: OwnedRun, index: int) -> dict[str, Any]:
    try:
        return outer_values(run.prepared, run.state, index)
    except ExpressionError as error:
        raise MapError(TEMPLATE_ERROR, error.message) from None


def _page_start(
    run: OwnedRun, index: int, child: str, first: int, items: list[Any], outer: dict[str, Any]
) -> PreparedStart:
    facts, step = run.state.facts, run.prepared.graph.steps[index]
    page = Page(step.name, first, len(items))
    extra = inherited(facts)
    given = {"body": {"items": items}, "headers": {}, "query": {}, "outer": outer, **extra}
    raw = msgspec.json.encode(given)
    if len(raw) > 2 * INPUT_LIMIT:
        message = (
            f"the items and what their templates read have {len(raw)} bytes; at most {2 * INPUT_LIMIT} are allowed"
        )
        raise MapError("page_too_large", message)
    family = msgspec.structs.replace(family_of(facts, step.name), page=page)
    return PreparedStart(
        tenant=facts.tenant,
        workflow=facts.workflow_id,
        version=run.version,
        name=facts.workflow,
        prepared=page_of(run.prepared, page),
        input=raw,
        trigger=MAP,
        queue=step.queue or run.placed.queue,
        priority=run.placed.priority if step.priority is None else step.priority,
        code=(*features_of_page(run.prepared.graph, step), *user_actions([step])),
        parent=facts.id,
        id=parse(RUN, child),
        family=family,
        expires_at=facts.expires_at,
        initiator=facts.initiator._replace(correlation=extra["correlation_id"]),
    )
