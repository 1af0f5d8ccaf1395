"""`manage.py detent_migrate`"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from detent.contrib.django.apps import given, make_tables


class Command(BaseCommand):
    """Create or upgrade Detent's tables."""

    help = "Creates or upgrades Detent's tables in a database of this project."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--database", default=given().get("USING", "default"), help="an alias of DATABASES")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"Detent's tables are at {make_tables(options['database'])}")
