"""The app: it tells Detent where it is, loads workflows, and knows the models that are heroes."""

from __future__ import annotations

import asyncio
from typing import Any

from django.apps import AppConfig, apps
from django.db import close_old_connections, connections
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules

from detent.access.configuring import configure
from detent.contrib.django.conf import detent_settings, given
from detent.outbox.table import CREATE
from detent.python.heroes import heroes
from detent.steps.threads import TIDYING
from detent.store.opening import migrate_store


class DetentConfig(AppConfig):
    """`detent.contrib.django`"""

    name = "detent.contrib.django"
    label = "detent"
    verbose_name = "Detent"

    def ready(self) -> None:
        configure(**detent_settings())
        heroes.django(*(apps.get_model(name) for name in given().get("HEROES", ())))
        autodiscover_modules("workflows")
        # A thread of Detent's is no request of Django's: nobody else closes connections that are broken or too old.
        if close_old_connections not in TIDYING:
            TIDYING.append(close_old_connections)
        if given().get("MIGRATE"):
            post_migrate.connect(_migrate, sender=self)


def make_tables(using: str) -> str:
    """Bring Detent's tables in one of Django's databases up to date, or its outbox if it is a SQLite file."""
    connection = connections[using]
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(CREATE["sqlite"])
        return "the outbox"
    return asyncio.run(migrate_store(detent_settings(connection.settings_dict)["database_url"]))


def _migrate(*, using: str, **given_too: Any) -> None:
    if using == given().get("USING", "default"):
        make_tables(using)
