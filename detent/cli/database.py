"""Open the database of a command in this process."""

from __future__ import annotations

from contextlib import AbstractContextManager

from detent.client.calls import ServerAddress
from detent.embed.local import InProcessTransport, open_here
from detent.errors import StoreError
from detent.settings import Settings
from detent.store.url import scheme, sqlite_path


def open_database(settings: Settings, *, makes: bool) -> AbstractContextManager[InProcessTransport | ServerAddress]:
    """Return the API in front of the database, or the address of the process that owns it. A missing file is created
    only if `makes` is true. Otherwise raise StoreError, because its name is probably mistyped."""
    if not makes and scheme(settings.database_url) == "sqlite":
        file = sqlite_path(settings.database_url)
        if not file.exists():
            raise StoreError(
                f"there is no database at {file}; name the right one with --database or DETENT_DATABASE_URL, or a "
                "server with --url or DETENT_URL, or begin one with `detent serve`, `detent dev` or `detent apply`"
            )
    return open_here(settings)
