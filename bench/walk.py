"""`python bench/walk.py`: the files and functions that a request passes on its way through Detent.

The script follows two requests in a real node on SQLite that serves real HTTP: `POST /trigger` of a workflow with one
step, to the end of its run, and a callback to a parked run, to its end. A function counts if Detent calls it between
the request and the end of the run and not while the node is idle. A switch is a call that follows a call of another
package in the same thread.

The script uses public names only, so it can follow an older tree too: run it in the folder of that tree.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import aiohttp

import detent

PACKAGE = Path(detent.__file__).parent
#: So long the node is watched while it is idle: every poll comes several times.
IDLE_SECONDS = 8.0
#: A run that has not ended by then is stuck.
LONGEST_RUN = 60.0
ONE_STEP = {"name": "walk", "tasks": {"a": {"action": "core.echo", "with": {"text": "x"}}}}
PARKED = {"name": "park", "tasks": {"w": {"wait_for_webhook": {}}}}


class Recorder:
    """Notes each function of Detent that is called, in every thread."""

    def __init__(self) -> None:
        self._calls: list[tuple[int, CodeType]] | None = None

    def install(self) -> None:
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        calls = self._calls
        if calls is not None and event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            calls.append((threading.get_ident(), frame.f_code))

    @contextmanager
    def recording(self) -> Iterator[list[tuple[int, CodeType]]]:
        calls: list[tuple[int, CodeType]] = []
        self._calls = calls
        try:
            yield calls
        finally:
            self._calls = None


class Walk(NamedTuple):
    """What one request passed, in the order of the first call."""

    functions: list[str]
    files: list[str]
    switches: int


def walk_of(calls: list[tuple[int, CodeType]], idle: set[CodeType]) -> Walk:
    """Count what was called beyond `idle`."""
    own = [(thread, code) for thread, code in calls if code not in idle]
    files = list(dict.fromkeys(_file(code) for _, code in own))
    functions = list(dict.fromkeys(f"{_file(code)}:{code.co_qualname}" for _, code in own))
    threads = {thread: [_package(code) for other, code in own if other == thread] for thread, _ in own}
    switches = sum(before != after for packages in threads.values() for before, after in pairwise(packages))
    return Walk(functions, files, switches)


def _file(code: CodeType) -> str:
    return Path(code.co_filename).relative_to(PACKAGE).as_posix()


def _package(code: CodeType) -> str:
    return _file(code).rpartition("/")[0]


async def follow() -> dict[str, Walk]:
    """Serve both workflows and follow one request to each."""
    recorder = Recorder()
    recorder.install()
    with tempfile.TemporaryDirectory() as folder:
        async with (
            detent.node(f"sqlite:///{folder}/walk.db", listen=True, port=0, allow_loose_auth=True) as app,
            aiohttp.ClientSession(app.local_url or "") as session,
        ):
            for definition in (ONE_STEP, PARKED):
                async with session.post("/api/v1/workflows", json=definition) as answer:
                    assert answer.status == 201, await answer.text()
            for _ in range(3):  # caches are warm, and every statement is prepared
                await _one_step(session)
                await _callback(session, await _parked(session))
            with recorder.recording() as calls:
                await asyncio.sleep(IDLE_SECONDS)
            idle = {code for _, code in calls}
            with recorder.recording() as started:
                await _one_step(session, poll=False)
            address = await _parked(session)
            await asyncio.sleep(2.0)  # the run parks
            with recorder.recording() as called_back:
                await _callback(session, address, poll=False)
    return {
        "POST /trigger to the end of a run": walk_of(started, idle),
        "callback to a parked run": walk_of(called_back, idle),
    }


async def _one_step(session: aiohttp.ClientSession, *, poll: bool = True) -> None:
    async with session.post("/api/v1/workflows/walk/trigger", json={}) as answer:
        assert answer.status == 201, await answer.text()
        run = (await answer.json())["data"]["run_id"]
    await _end(session, run, poll=poll)


async def _parked(session: aiohttp.ClientSession) -> tuple[str, str]:
    async with session.post("/api/v1/workflows/park/trigger", json={}) as answer:
        assert answer.status == 201, await answer.text()
        run = (await answer.json())["data"]["run_id"]
    async with session.get(f"/api/v1/runs/{run}") as answer:
        [callback] = (await answer.json())["data"]["callbacks"]
    return run, callback["url"]


async def _callback(session: aiohttp.ClientSession, parked: tuple[str, str], *, poll: bool = True) -> None:
    run, url = parked
    async with session.post(url, json={"ok": True}) as answer:
        assert answer.status in (200, 202), await answer.text()
    await _end(session, run, poll=poll)


async def _end(session: aiohttp.ClientSession, run: str, *, poll: bool) -> None:
    """Wait for the end of a run: by asking, or by waiting without a request that would be followed too."""
    if not poll:
        await asyncio.sleep(3.0)
        return
    until = time.monotonic() + LONGEST_RUN
    while time.monotonic() < until:
        async with session.get(f"/api/v1/runs/{run}") as answer:
            if (await answer.json())["data"]["status"] == "completed":
                return
        await asyncio.sleep(0.05)
    raise TimeoutError(f"{run} has not ended within {LONGEST_RUN:.0f} s")


def main(show: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description="Count the files and functions that a request passes.")
    parser.add_argument("--list", action="store_true", help="list the functions in the order of their first call")
    options = parser.parse_args()
    for name, walk in asyncio.run(follow()).items():
        show(f"{name}: {len(walk.files)} files, {len(walk.functions)} functions, {walk.switches} switches of package")
        if options.list:
            for function in walk.functions:
                show(f"  {function}")


if __name__ == "__main__":
    main()
