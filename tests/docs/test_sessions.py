"""The requests on the pages are sent to a real server, one after the other, and its answers are those on the page."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path

import aiohttp
import pytest

from detent.api.server.listener import listening
from detent.process import bind, run_app
from detent.settings import Settings, url_of
from detent.vault.sealing import new_key
from tests.docs import console
from tests.docs.curl import SERVER, Session, commands, differences
from tests.docs.pages import Block, blocks_of, pages

Exchange = tuple[Block, Block]


def exchanges(page: Path) -> list[Exchange]:
    """Each console block that an answer follows, with that answer."""
    found = [block for block in blocks_of(page) if block.language in {"console", "json"}]
    pairs = [(asked, told) for asked, told in pairwise(found) if told.remark("http") is not None]
    assert all(asked.language == "console" for asked, _ in pairs)
    return pairs


PAGES = [page for page in pages() if exchanges(page)]


def test_there_are_sessions() -> None:
    assert {"README.md", "api.md"} <= {page.name for page in PAGES}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
async def test_the_session_of_the_page_goes_as_it_says(page: Path, tmp_path: Path) -> None:
    sock = bind("127.0.0.1", 0)
    address = sock.getsockname()[:2]
    # Where the commands of the page look for it.
    settings = Settings(database_url=f"sqlite:///{tmp_path}/detent.db", encryption_key=new_key())
    async with (
        run_app(settings, address=address) as app,
        listening(app, sock, loose=True),
        aiohttp.ClientSession() as http,
    ):
        session = Session(http, url_of(address))
        for exchange in exchanges(page):
            await carry_out(exchange, session, tmp_path, url_of(address))


async def carry_out(exchange: Exchange, session: Session, folder: Path, server: str) -> None:
    """Type the commands; the answer to the last must be the one on the page."""
    asked, told = exchange
    *before, last = commands(asked.text)
    for command in before:
        if command.startswith("curl"):
            await session.curl(command)
        else:
            await asyncio.to_thread(type_in, command, asked, folder, server)
    wanted = asked.remark("wait")
    status, body = await (session.curl_until(last, wanted) if wanted else session.curl(last))
    assert status == int(told.remark("http") or 0), body
    assert differences(json.loads(told.text), body) == [], told.place


def type_in(command: str, block: Block, folder: Path, server: str) -> None:
    """Run a command of ours, in a folder with the page's files, against the server of the test."""
    console.save_files(block.page, block, folder)
    line, *shown = command.splitlines()
    printed = console.output_of(line.replace(SERVER, server), folder)
    assert console.missing(tuple(shown), printed) == [], printed


def test_a_difference_is_seen() -> None:
    shown = {"id": "run_01k…", "at": "2026-02-22T10:00:00Z", "ok": True, "many": [1]}
    found = {"id": "run_01abc", "at": "2027-01-01T00:00:00.5Z", "ok": True, "many": [1], "more": 1}
    assert differences(shown, found) == []
    assert differences(shown, found | {"id": "wf_01abc"}) != []
    assert differences(shown, found | {"at": "soon"}) != []
    assert differences(shown, found | {"ok": 1}) != []
    assert differences(shown, found | {"many": [1, 2]}) != []
    assert differences({"text": "one … three"}, {"text": "one two three"}) == []
    assert differences({"text": "one … three"}, {"text": "one two four"}) != []
