"""The Django app: it configures Detent, imports workflows, and registers the models that are heroes or entities."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from django.apps import AppConfig, apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections, connections
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules

from detent.contrib.django.changes import record_changes
from detent.embed.config import configure
from detent.outbox.table import CREATE
from detent.python.heroes import heroes
from detent.steps.user_code import TIDYING
from detent.store.factory import migrate_store

# The setting `DETENT = {...}` of a Django project.
#
# Names are those of `detent.toml`, in capitals. Without a DATABASE_URL Detent uses the database that USING names
# (`default`): on PostgreSQL its own schema (SCHEMA, `detent`), on MariaDB and MySQL the database of the project. A
# SQLite file has one writer, so there Detent has its own file next to the project's and fetches starts from the
# project's outbox.


_OWN: Final = ("USING", "SCHEMA", "HEROES", "ENTITIES", "MIGRATE")
_SCHEMES: Final = {"postgresql": "postgresql", "postgis": "postgresql", "mysql": "mysql"}


def given() -> Mapping[str, Any]:
    """Return the setting DETENT. Raise ImproperlyConfigured if it is not a dictionary."""
    found = getattr(settings, "DETENT", {})
    if not isinstance(found, Mapping):
        raise ImproperlyConfigured("DETENT must be a dictionary")
    return found


def detent_settings(database: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the settings of Detent, by their names in `detent.toml`.

    `database` is an entry of DATABASES, by default the one that USING names.
    """
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
        raise ImproperlyConfigured(f"Detent does not support {entry['ENGINE']}; set DATABASE_URL in DETENT")
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


class DetentConfig(AppConfig):
    """The app config of `detent.contrib.django`."""

    name = "detent.contrib.django"
    label = "detent"
    verbose_name = "Detent"

    def ready(self) -> None:
        configure(**detent_settings())
        heroes.django(*(apps.get_model(name) for name in given().get("HEROES", ())))
        record_changes({apps.get_model(name): entity for name, entity in given().get("ENTITIES", {}).items()})
        autodiscover_modules("workflows")
        # Django closes broken and old connections only around requests, and a thread of Detent serves no request.
        if close_old_connections not in TIDYING:
            TIDYING.append(close_old_connections)
        if given().get("MIGRATE"):
            post_migrate.connect(_migrate, sender=self)


def make_tables(using: str) -> str:
    """Create or upgrade Detent's tables in one of Django's databases, or its outbox in a SQLite file.

    Return where they are.
    """
    connection = connections[using]
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(CREATE["sqlite"])
        return "the outbox"
    return asyncio.run(migrate_store(detent_settings(connection.settings_dict)["database_url"]))


def _migrate(*, using: str, **given_too: Any) -> None:
    if using == given().get("USING", "default"):
        make_tables(using)
