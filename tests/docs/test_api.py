"""The requests on the page of the API are sent to a real server, and its answers are those on the page."""

import json

import aiohttp

from detent.app import bind, listening, running, url_of
from detent.settings import Settings
from tests.docs.curl import Session, commands, differences
from tests.docs.pages import DOCS, Block, blocks_of

PAGE = DOCS / "api.md"


def exchanges() -> list[tuple[Block, Block]]:
    """Each console block with curl, and the answer that follows it."""
    found = [block for block in blocks_of(PAGE) if block.language in {"console", "json"}]
    pairs = list(zip(found[::2], found[1::2], strict=True))
    assert all(asked.language == "console" and told.remark("http") for asked, told in pairs)
    return pairs


async def test_the_session_of_the_page_goes_as_it_says() -> None:
    sock = bind("127.0.0.1", 0)
    address = sock.getsockname()[:2]
    settings = Settings(database_url="memory://")
    async with (
        running(settings, address=address) as app,
        listening(app, sock),
        aiohttp.ClientSession() as http,
    ):
        session = Session(http, url_of(address))
        for asked, told in exchanges():
            *before, last = commands(asked.text)
            for command in before:
                await session.curl(command)
            wanted = asked.remark("wait")
            status, body = await (session.curl_until(last, wanted) if wanted else session.curl(last))
            assert status == int(told.remark("http") or 0), body
            assert differences(json.loads(told.text), body) == [], told.place


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
