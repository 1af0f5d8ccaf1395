"""Writes the table of fault cases into docs/reliability.md."""

from tests.reliability.table import PAGE, page_with, table

PAGE.write_text(page_with(table()), encoding="utf-8")
