"""What `DETENT = {...}` of a Django project means.

Names are those of `detent.toml`, in capitals. Without a DATABASE_URL Detent works in the database that USING names
(`default`): on PostgreSQL in a schema of its own (SCHEMA, `detent`), on MariaDB and MySQL beside the tables of the
project. A SQLite file has one writer, so there Detent keeps a file of its own beside it and fetches starts out of the
project's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

_OWN: Final = ("USING", "SCHEMA", "HEROES", "MIGRATE")
_SCHEMES: Final = {"postgresql": "postgresql", "postgis": "postgresql", "mysql": "mysql"}


def given() -> Mapping[str, Any]:
    """The setting as it stands."""
    found = getattr(settings, "DETENT", {})
    if not isinstance(found, Mapping):
        raise ImproperlyConfigured("DETENT must be a dictionary")
    return found


def detent_settings(database: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The settings of Detent, by their names in `detent.toml`. `database` is an entry of DATABASES, by default the one
    that USING names."""
    said = given()
    chosen = {name.lower(): value for name, value in said.items() if name not in _OWN}
    if "database_url" not in chosen:
        entry = database or settings.DATABASES[said.get("USING", "default")]
        chosen |= _beside(entry, said.get("SCHEMA", "detent"), chosen)
    return chosen


def _beside(entry: Mapping[str, Any], schema: str | None, chosen: Mapping[str, Any]) -> dict[str, Any]:
    engine = str(entry["ENGINE"]).rpartition(".")[2]
    if engine == "sqlite3":
        file = Path(str(entry["NAME"])).absolute()
        own = file.with_name(f"{file.stem}-detent.sqlite3")
        fetched = [f"sqlite:///{file}", *chosen.get("outbox_urls", ())]
        return {"database_url": f"sqlite:///{own}", "outbox_urls": fetched}
    if engine not in _SCHEMES:
        raise ImproperlyConfigured(f"Detent does not know {entry['ENGINE']}; give DETENT a DATABASE_URL")
    return {"database_url": _url(_SCHEMES[engine], entry, schema)}


def _url(scheme: str, entry: Mapping[str, Any], schema: str | None) -> str:
    host = str(entry.get("HOST") or "localhost")
    user, password = quote(str(entry.get("USER") or ""), safe=""), quote(str(entry.get("PASSWORD") or ""), safe="")
    who = f"{user}:{password}@" if password else f"{user}@" if user else ""
    options: dict[str, str] = {}
    if host.startswith("/"):
        options["host" if scheme == "postgresql" else "unix_socket"], host = host, ""
    where = f"{host}:{entry['PORT']}" if entry.get("PORT") else host
    if scheme == "postgresql" and schema:
        options["schema"] = schema
    query = f"?{urlencode(options)}" if options else ""
    return f"{scheme}://{who}{where}/{quote(str(entry['NAME']), safe='')}{query}"
