"""A program with Django whose models are entities; run in a process of its own.

python -m tests.embed.django_changes postgresql://...
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django
from django.apps import apps
from django.conf import settings
from django.db import connection, models, transaction

ENGINES = {"postgresql": "postgresql", "mysql": "mysql", "sqlite": "sqlite3"}


def set_up(url: str) -> None:
    where = urlsplit(url)
    kind = where.scheme.partition("+")[0]
    entry: dict[str, Any] = {"ENGINE": f"django.db.backends.{ENGINES[kind]}", "NAME": where.path[1:]}
    if kind == "sqlite":
        entry["NAME"] = str(Path(where.path[1:]))
    else:
        entry |= {"USER": where.username, "PASSWORD": where.password or "", "HOST": where.hostname, "PORT": where.port}
    if kind == "mysql":
        import pymysql

        pymysql.version_info = (2, 2, 7, "final", 0)  # as Django wants it
        pymysql.install_as_MySQLdb()
    settings.configure(
        USE_TZ=True,
        DATABASES={"default": entry},
        INSTALLED_APPS=["detent.contrib.django"],
        DETENT={"SCHEMA": None},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    )
    django.setup()


def main(url: str) -> None:
    set_up(url)
    from detent.contrib.django import changes  # Django must be set up

    class Order(models.Model):  # type: ignore[misc]
        status = models.CharField(max_length=20)
        total = models.DecimalField(max_digits=10, decimal_places=2)

        class Meta:
            app_label = "detent"
            db_table = "shop_order"

    apps.clear_cache()
    with connection.schema_editor() as editor:
        editor.create_model(Order)
    stop = changes.record_changes({Order: "order"})
    changes.actor.set("ann")
    with transaction.atomic():
        kept = Order.objects.create(status="new", total="12.50")
    with transaction.atomic():
        kept.status = "shipped"
        kept.save()
        kept.save()  # nothing has changed
        gone = Order.objects.create(status="gone", total="1")
        gone.delete()
    with transaction.atomic():
        undone = Order.objects.create(status="undone", total="3")
        undone.status = "shipped"
        undone.save()
        transaction.set_rollback(True)
    stop()
    Order.objects.create(status="unheard", total="1")
    connection.close()
    sys.stdout.write(f"{kept.pk}\n")


main(sys.argv[1])
