"""The two ways from a command to a store: over HTTP to the Detent that serves it, or by opening it here.

One process at a time has a SQLite file, and its address stands beside the file; so a command finds the running engine
by itself and talks to it, and opens the file only when nobody has it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

import msgspec

from detent.api.wire import run_summary, started_document, workflow_document
from detent.app import App, running
from detent.engine.commands import Given
from detent.errors import DetentError, InvalidInput, Problem, StoreInUse, Unavailable
from detent.settings import Settings

TIMEOUT: Final = 30.0
_WORKFLOWS: Final = "/api/v1/workflows"
_RUNS: Final = "/api/v1/runs"
_BY: Final = "command line"

Document = dict[str, Any]


class Door(Protocol):
    """What commands ask of a Detent, wherever it is."""

    async def save(self, name: str, data: bytes, filename: str) -> tuple[Document, str]:
        """The workflow, and `created`, `changed` or `unchanged`."""

    async def start(self, workflow: str, body: Any) -> Document: ...

    async def run(self, run: str) -> Document: ...

    async def runs(self, workflow: str | None, limit: int) -> list[Document]:
        """The latest of one workflow, or of all."""

    async def cancel(self, run: str) -> Document: ...

    async def pause(self, run: str) -> Document: ...

    async def resume(self, run: str) -> Document: ...


@asynccontextmanager
async def open_door(settings: Settings, url: str | None) -> AsyncIterator[Door]:
    """To the Detent at `url`; else to the one that has the database; else to the database itself."""
    async with AsyncExitStack() as stack:
        if url is None:
            try:
                app = await stack.enter_async_context(running(settings, claims=False))
            except StoreInUse as error:
                if error.url is None:
                    raise
                url = error.url
            else:
                yield LocalDoor(app)
                return
        yield RemoteDoor(url)


class LocalDoor:
    """The database, opened here. Runs wait for an engine."""

    def __init__(self, app: App) -> None:
        self._commands = app.commands

    async def save(self, name: str, data: bytes, filename: str) -> tuple[Document, str]:
        row, saved, _ = await self._commands.save_workflow(data, filename=filename, replace=True)
        change = "created" if saved.created else "changed" if saved.changed else "unchanged"
        return msgspec.to_builtins(workflow_document(row)), change

    async def start(self, workflow: str, body: Any) -> Document:
        row, started = await self._commands.start(workflow, Given(body), trigger="manual")
        document: Document = msgspec.to_builtins(started_document(row, started))
        return document

    async def run(self, run: str) -> Document:
        return await self._commands.run(run)

    async def runs(self, workflow: str | None, limit: int) -> list[Document]:
        of = None if workflow is None else (await self._commands.workflow(workflow)).id
        return [msgspec.to_builtins(run_summary(run)) for run in await self._commands.runs(limit=limit, workflow=of)]

    async def cancel(self, run: str) -> Document:
        return await self._commands.cancel(run, by=_BY)

    async def pause(self, run: str) -> Document:
        return await self._commands.pause(run, by=_BY)

    async def resume(self, run: str) -> Document:
        return await self._commands.resume(run, by=_BY)


class RemoteDoor:
    """A Detent that serves its API. No proxy of the environment is asked."""

    def __init__(self, url: str) -> None:
        self._url, self._opener = url.rstrip("/"), build_opener(ProxyHandler({}))

    async def save(self, name: str, data: bytes, filename: str) -> tuple[Document, str]:
        kind = "application/json" if filename.lower().endswith(".json") else "application/yaml"
        status, answer = self._send("PUT", f"{_WORKFLOWS}/{quote(name, safe='')}", data, kind)
        change = "created" if status == 201 else "changed" if answer["changed"] else "unchanged"
        return answer["data"], change

    async def start(self, workflow: str, body: Any) -> Document:
        place = f"{_WORKFLOWS}/{quote(workflow, safe='')}/trigger"
        return self._data("POST", place, json.dumps(body).encode())

    async def run(self, run: str) -> Document:
        return self._data("GET", f"{_RUNS}/{quote(run, safe='')}")

    async def runs(self, workflow: str | None, limit: int) -> list[Document]:
        place = _RUNS if workflow is None else f"{_WORKFLOWS}/{quote(workflow, safe='')}/runs"
        found: list[Document] = self._send("GET", f"{place}?{urlencode({'limit': limit})}")[1]["data"]
        return found

    async def cancel(self, run: str) -> Document:
        return self._control(run, "cancel")

    async def pause(self, run: str) -> Document:
        return self._control(run, "pause")

    async def resume(self, run: str) -> Document:
        return self._control(run, "resume")

    def _control(self, run: str, wish: str) -> Document:
        return self._data("POST", f"{_RUNS}/{quote(run, safe='')}/{wish}", b"")

    def _data(self, method: str, place: str, body: bytes | None = None) -> Document:
        document: Document = self._send(method, place, body)[1]["data"]
        return document

    def _send(
        self, method: str, place: str, body: bytes | None = None, kind: str = "application/json"
    ) -> tuple[int, Document]:
        if not self._url.startswith(("http://", "https://")):
            raise InvalidInput("an option cannot be used", [Problem("--url", f"{self._url!r} is no address")])
        request = Request(self._url + place, data=body, method=method, headers={"Content-Type": kind})
        try:
            with self._opener.open(request, timeout=TIMEOUT) as answer:
                return answer.status, json.load(answer)
        except HTTPError as error:
            raise _refused(error) from None
        except (URLError, OSError, ValueError) as error:
            raise Unavailable(f"cannot talk to {self._url}: {getattr(error, 'reason', error)}") from None


def _refused(error: HTTPError) -> DetentError:
    """The error that the other side told."""
    try:
        told = json.load(error)
        message = str(told["message"])
    except (ValueError, KeyError, TypeError):
        return DetentError(f"{error.url} answered {error.code}")
    problems = told.get("details", {}).get("validation_errors", [])
    if told.get("error") == "invalid_argument":
        return InvalidInput(message, [Problem(each["field"], each["message"]) for each in problems])
    return DetentError(message)
