"""A program with Django that starts runs in transactions of its own; run in a process of its own.

python -m tests.embed.django_caller psycopg2 postgresql://...
"""

from __future__ import annotations

import sys
from typing import Any
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.db import connections, transaction

from detent.embed import sync
from tests.embed.flows import Greeting


def begin(who: str, **given: Any) -> None:
    sys.stdout.write(sync.start(Greeting, hero=("User", who), input={"who": who}, **given).id + "\n")


def set_up(url: str) -> None:
    where = urlsplit(url)
    told = {"USER": where.username, "PASSWORD": where.password, "NAME": where.path[1:]}
    server = {"ENGINE": "django.db.backends.postgresql", "HOST": where.hostname, "PORT": where.port}
    settings.configure(USE_TZ=True, DATABASES={"default": {**server, **told}})
    django.setup()


def main(driver: str, url: str) -> None:
    if driver == "psycopg2":
        sys.modules["psycopg"] = None  # type: ignore[assignment] # where it is there, Django takes it
    set_up(url)
    own = connections["default"]
    assert own.Database.__name__ == driver
    try:
        with transaction.atomic():
            begin("alias", using="default")
            begin("connection", connection=own)
            with own.cursor() as cursor:
                begin("cursor", connection=cursor)
        with transaction.atomic():
            begin("nobody", using="default")
            transaction.set_rollback(True)
    finally:
        own.close()


main(*sys.argv[1:])
