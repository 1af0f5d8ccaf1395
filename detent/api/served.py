"""The API before an engine that runs already, wherever its requests come from."""

from __future__ import annotations

from typing import Protocol

from litestar import Litestar

from detent.api.application import build_api
from detent.engine.commands import Commands
from detent.engine.engine import Engine
from detent.engine.feeds import Feeds
from detent.settings import Settings
from detent.store.protocol import Store
from detent.triggers.commands import TriggerCommands


class Served(Protocol):
    """What stands behind the API."""

    @property
    def settings(self) -> Settings: ...
    @property
    def store(self) -> Store: ...
    @property
    def engine(self) -> Engine: ...
    @property
    def commands(self) -> Commands: ...
    @property
    def triggers(self) -> TriggerCommands: ...
    @property
    def feeds(self) -> Feeds: ...
    @property
    def base_url(self) -> str: ...
    @property
    def local_url(self) -> str: ...


def api_of(app: Served) -> Litestar:
    """The API before a running engine."""
    return build_api(
        app.commands,
        app.triggers,
        app.feeds,
        is_ready=lambda: app.engine.is_ready,
        check=app.store.now,
        base_url=app.base_url,
        loose=app.settings.allow_loose_auth,
    )
