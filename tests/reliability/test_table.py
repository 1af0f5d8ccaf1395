"""The table of fault cases is complete and true."""

from __future__ import annotations

from tests.reliability.cases import CASES
from tests.reliability.table import PAGE, page_with, shown, table


def test_every_case_is_shown_by_a_test() -> None:
    missing = [case for case in CASES if case not in shown()]
    assert not missing, f"no test shows {', '.join(missing)}"


def test_no_test_names_a_case_that_does_not_exist() -> None:
    unknown = {case: tests for case, tests in shown().items() if case not in CASES}
    assert not unknown


def test_the_table_in_the_documentation_is_the_one_the_tests_make() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_with(table()), "run `python -m tests.reliability`"
