"""Each page works in a browser, on a server that was just started. The tests of a page are in `web/tests/pages`."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.auth.provider import CLIENT, CLIENT_SECRET, open_provider
from tests.cli.program import PATIENCE, started
from tests.steps.provider import providing
from tests.web.browser import TESTS, install, run, serving, sharing
from tests.web.history import write_history

pytestmark = pytest.mark.slow
#: The short way through the page, for a second database.
PATH: Final = "path.test.js"
#: It begins with a run whose node died.
VERBS: Final = "verbs.test.js"
#: It looks at every view of a shop with a past.
VIEWS: Final = "views.test.js"
#: It needs the examples that `make run` starts.
DEV: Final = "dev.test.js"
#: They sign in, so their server answers nothing without a key.
SIGNED_IN: Final = ("admin.test.js", "identity.test.js")
#: What the server of a file imports.
IMPORTS: Final = {"run.test.js": ("--import", "tests.web.page_actions")}
OWN: Final = {PATH, VERBS, VIEWS, DEV, *SIGNED_IN}
PAGES = sorted(path.name for path in (TESTS / "pages").glob("*.test.js") if path.name not in OWN)


@pytest.fixture(scope="module")
def browser() -> Iterator[str]:
    """The browser that all files of this worker share, once the page is built."""
    install()
    with sharing() as address:
        yield address


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, tmp_path: Path, browser: str) -> None:
    with _served(tmp_path, *IMPORTS.get(page, ())) as url:
        _test(page, url, browser)


def test_verbs(tmp_path: Path, browser: str) -> None:
    uncertain = _interrupted(tmp_path)
    with _served(tmp_path) as url:
        _test(VERBS, url, browser, DETENT_UNCERTAIN=uncertain)


def test_views(tmp_path: Path, browser: str) -> None:
    asyncio.run(write_history(tmp_path))
    with _served(tmp_path, "--queues", "default") as url:
        _test(VIEWS, url, browser)


async def test_identity_and_administration(tmp_path: Path, browser: str) -> None:
    async with open_provider() as people, providing() as accounts:
        # For a browser `localhost` is another site than the address of the server, as every provider is.
        people.discovery["authorization_endpoint"] = f"{people.url}/authorize".replace("127.0.0.1", "localhost")
        await asyncio.to_thread(_administer, tmp_path, browser, people.url, accounts.url)


def _administer(folder: Path, browser: str, people: str, accounts: str) -> None:
    variables = {
        "DETENT_ALLOW_LOOSE_AUTH": "false",
        "DETENT_ENCRYPTION_KEY": base64.b64encode(bytes(range(32))).decode(),
        "DETENT_OIDC_ISSUER": people,
        "DETENT_OIDC_CLIENT_ID": CLIENT,
        "DETENT_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "DETENT_OIDC_ROLES": "staff=editor",
    }
    with _served(folder, **variables) as url:
        # The command line of this machine finds the server, and the key for it, in the lock file.
        note = json.loads(next(folder.rglob("*.lock")).read_text())
        for page in SIGNED_IN:
            _test(page, url, browser, DETENT_KEY=note["key"], DETENT_ACCOUNTS=accounts)


def test_from_make_run_to_the_end_of_a_run(tmp_path: Path, browser: str) -> None:
    # `make run` builds the page and does nothing else but this.
    with started(tmp_path, "dev", "--port", "0") as server:
        url = server.wait_for(r"page\s+(http://\S+)")[1]
        _test(DEV, url, browser)


def test_path_on_postgres(tmp_path: Path, postgres_database: str, browser: str) -> None:
    with _served(tmp_path, "--database", postgres_database) as url:
        _test(PATH, url, browser)


def test_there_are_pages_to_test() -> None:
    assert "runs.test.js" in PAGES
    assert all((TESTS / "pages" / name).exists() for name in OWN)


@contextmanager
def _served(folder: Path, *options: str, **variables: str) -> Iterator[str]:
    # Steps call a service that the test starts on this machine.
    with serving(folder, *options, DETENT_EGRESS_ALLOW="127.0.0.0/8", **variables) as url:
        yield url


def _test(page: str, url: str, browser: str, **variables: str) -> None:
    pictures = os.environ.get("DETENT_PICTURES", "")
    given = {"DETENT_URL": url, "DETENT_BROWSER": browser, "DETENT_PICTURES": pictures, **variables}
    print(run("node", "--test", f"pages/{page}", folder=TESTS, **given))  # noqa: T201


def _interrupted(folder: Path) -> str:
    """The id of a run in this folder whose node was killed while its step `pay` waited for an answer."""
    # It takes connections and never answers.
    with socket.create_server(("127.0.0.1", 0)) as bank:
        pay = {"url": f"http://127.0.0.1:{bank.getsockname()[1]}/pay", "on_crash": "ask"}
        book = {"needs": ["pay"], "action": "core.echo", "with": {"booked": "{{tasks.pay.output.id}}"}}
        options = ("serve", "--port", "0")
        with started(folder, *options, DETENT_EGRESS_ALLOW="127.0.0.0/8") as server:
            url = server.wait_for(r"answers at (http://\S+)")[1]
            _ask(url, "PUT", "/workflows/payout", {"name": "payout", "tasks": {"pay": pay, "book": book}})
            found = str(_ask(url, "POST", "/workflows/payout/trigger", {})["run_id"])
            bank.settimeout(PATIENCE)
            taken, _ = bank.accept()
            with taken:
                end = time.monotonic() + PATIENCE
                while _ask(url, "GET", f"/runs/{found}")["tasks"]["pay"]["status"] != "running":
                    assert time.monotonic() < end, "the step does not run"
                server.stop(signal.SIGKILL)
    return found


def _ask(url: str, method: str, path: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/api/v1{path}", data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)["data"]
