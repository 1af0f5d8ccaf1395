"""`detent doctor`: check settings, versions and the database."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import typer
from rich.markup import escape
from rich.table import Table

from detent.auth.caller import local_caller
from detent.catalog.connections import EnvironmentConnections
from detent.cli.options import Database, Imports
from detent.cli.output.terminal import out
from detent.clock import SystemClock
from detent.documents.answers import Health, as_json
from detent.embed.recorded_models import recorded_models
from detent.errors import DetentError, InvalidInput, StoreInUse
from detent.instant import SECOND
from detent.settings import FIELDS, Loaded, Settings, load_settings, url_of
from detent.steps.actions import load_modules
from detent.steps.egress_addresses import parse_rule
from detent.store.factory import open_store
from detent.store.rows import Finding
from detent.store.sql.sqlite.lock import FileLock
from detent.store.url import is_shared, scheme, sqlite_path
from detent.version import VERSION
from detent.views.catalog import missing_credentials
from detent.views.stuck import stuck_runs

_HEX: Final = re.compile(r"[0-9a-f]{32}")
#: Seconds after which a start in an outbox was not read by any node.
_UNREAD: Final = 60.0
#: Seconds to wait for the answer of the process that serves callbacks.
_PATIENCE: Final = 3.0
_LONGEST_ANSWER: Final = 10_000
_NOT_SERVED: Final = (
    "the process that has the database open serves no API: no command reaches it, and its callback URLs have no "
    "answer. Mount detent.asgi(...) in it, pass listen=True to detent.node, or use `detent serve`"
)
_MARKS: Final = {"ok": "[green]✓[/]", "warning": "[yellow]![/]", "error": "[red]✗[/]"}


def doctor(database: Database = None, imports: Imports = None) -> None:
    """Check settings, versions and the database. Exit code 1 if something is wrong."""
    flags = {"database_url": database, "import": imports or None}
    loaded = load_settings(flags, environ=os.environ, folder=Path.cwd())
    findings = [
        Finding("ok", "detent", f"version {VERSION}, Python {platform.python_version()}"),
        *(Finding("warning", "settings", warning) for warning in loaded.warnings),
        *_checked(loaded),
        *asyncio.run(_examined(loaded.settings.database_url)),
        *asyncio.run(_unread(loaded.settings.outbox_urls)),
        *_answered(loaded.settings),
        *_heard(),
    ]
    for finding in findings:
        out.print(f"{_MARKS[finding.level]} [bold]{escape(finding.subject)}[/]  {escape(finding.message)}")
    out.print()
    out.print(_table(loaded))
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


def _checked(loaded: Loaded) -> list[Finding]:
    """Check the egress rules, and import the modules of the settings."""
    found = []
    for text in loaded.settings.egress_allow:
        try:
            parse_rule(text)
        except InvalidInput as error:
            found.append(Finding("error", "egress_allow", error.message))
    try:
        load_modules(loaded.settings.imports)
    except InvalidInput as error:
        found.append(Finding("error", "import", "; ".join(map(str, error.problems))))
    return found


def _heard() -> list[Finding]:
    """Say what listeners of the user's models do not hear, if a module of the settings has registered one."""
    kinds = recorded_models()
    if not kinds:
        return []
    message = (
        f"changes of {', '.join(kinds)} are recorded. Bulk operations bypass the listener: update() and delete() of "
        "queries, bulk_create, bulk_update. Record these with detent.record_change"
    )
    return [Finding("ok", "entity events", message)]


async def _examined(url: str) -> list[Finding]:
    try:
        if scheme(url) == "sqlite" and not sqlite_path(url).exists():
            return [Finding("ok", "database", f"there is no file {sqlite_path(url)} yet; the first start makes it")]
        store = await open_store(url, SystemClock(), role="client")
        try:
            found = await store.examine()
            if any(finding.level == "error" for finding in found):
                return found  # with such errors its runs may not be readable
            tenant, connections = local_caller("detent doctor").tenant, EnvironmentConnections()
            return [
                *found,
                *await stuck_runs(store, tenant),
                *await missing_credentials(store, tenant, connections),
            ]
        finally:
            await store.close()
    except StoreInUse as error:
        return [Finding("warning", "database", error.message)]
    except DetentError as error:
        return [Finding("error", "database", error.message)]


async def _unread(urls: Sequence[str]) -> list[Finding]:
    """Name the outboxes of the settings that no node reads: those with starts that have waited for a minute."""
    if not urls:
        return []
    from detent.outbox.factory import open_outbox  # it loads the relay, which few need
    from detent.outbox.table import BATCH

    found = []
    for url in urls:
        place = f"outbox {_shown(url)}"
        try:
            outbox = open_outbox(url)
            try:
                rows = await outbox.read()
            finally:
                await outbox.close()
        except DetentError as error:
            found.append(Finding("error", place, error.message))
            continue
        # The id of a start begins with its time, in milliseconds.
        oldest = min((int(row.id[:12], 16) / 1000 for row in rows if _HEX.fullmatch(row.id)), default=None)
        if oldest is None or SystemClock().wall() / SECOND - oldest < _UNREAD:
            found.append(Finding("ok", place, f"{len(rows)} starts wait in it" if rows else "no start waits in it"))
            continue
        since = datetime.fromtimestamp(oldest, UTC).isoformat(timespec="seconds")
        count = f"{len(rows)} starts wait" if len(rows) < BATCH else f"{BATCH} starts or more wait"
        message = f"{count} in it since {since}: no node reads it. Start one with DETENT_OUTBOX_URLS={_shown(url)}"
        found.append(Finding("warning", place, message))
    return found


def _answered(settings: Settings) -> list[Finding]:
    """Check that a Detent answers where callback URLs begin. A SQLite file needs that only while a process has it."""
    if is_shared(settings.database_url):
        base_url = settings.base_url or url_of((settings.host, settings.port))
    elif scheme(settings.database_url) != "sqlite":
        return []
    else:
        lock = FileLock(sqlite_path(settings.database_url))
        if not lock.is_in_use():
            return []
        base_url = lock.base_url() or ""
        if not base_url:
            return [Finding("warning", "callbacks", _NOT_SERVED)]
    try:
        with urlopen(f"{base_url}/health/live", timeout=_PATIENCE) as answer:
            is_ours = json.loads(answer.read(_LONGEST_ANSWER)) == as_json(Health("ok"))
        problem = None if is_ours else "the answer is not one of Detent"
    except (OSError, ValueError, HTTPException) as error:
        problem = str(getattr(error, "reason", error))
    if problem is None:
        return [Finding("ok", "callbacks", f"their URLs begin with {base_url}, where Detent answers")]
    message = (
        f"their URLs begin with {base_url}, where no Detent answers this machine ({problem}); set base_url to the "
        "address of the process that serves them, with the path of a mount"
    )
    return [Finding("warning", "callbacks", message)]


def _table(loaded: Loaded) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bright_black")
    for title in ("setting", "value", "from"):
        table.add_column(title, overflow="fold")
    for name, item in FIELDS.items():
        value: Any = getattr(loaded.settings, item.name)
        hidden = item.metadata["secret"] and value is not None
        table.add_row(name, "***" if hidden else escape(_shown(value)), loaded.sources.get(item.name, "default"))
    return table


def _shown(value: Any) -> str:
    """Format the value of a setting. The password in an address is hidden."""
    if isinstance(value, tuple):
        return ", ".join("=".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value) or "-"
    return "-" if value is None else re.sub(r"(://[^:/@]+):[^@/]+@", r"\1:***@", str(value))


def add_to(app: typer.Typer) -> None:
    app.command()(doctor)
