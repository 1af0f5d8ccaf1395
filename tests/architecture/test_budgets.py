"""Detent keeps its budgets: small files, small functions, no cycles, one word per idea."""

import subprocess
from pathlib import Path

from tests.architecture import measure

ROOT = Path(__file__).parents[2]
SOURCES = measure.read_sources(ROOT, "detent")

# Why a function may import: everything else stands at the top of its file.
INNER_IMPORTS = {
    "asyncpg": "an optional dependency",
    "asyncmy": "an optional dependency",
    "django": "an optional dependency",
    "opentelemetry": "an optional dependency",
    "prometheus_client": "an optional dependency",
    "detent.store.sql.postgres": "its driver is an optional dependency",
    "detent.store.sql.mysql": "its driver is an optional dependency",
    "obstore": "an optional dependency",
    "detent.blobs.objects": "it loads an optional dependency",
    "alembic": "only a migration needs it, and it is slow to load",
    "detent.store.migrations": "only a migration needs it, and it is slow to load",
    "detent.outbox": "the drivers of other databases are optional dependencies",
    "detent.steps.http": "a process that only reads the database does not load the HTTP client",
    "detent.embed": "who has an address, or a connection of his own, needs no engine in his process",
    "detent.forms.triggers": "a workflow without a schedule does not load the reader of cron expressions",
    "detent.cli": "a command's module is loaded when the command is called",
}
CORE = ("engine", "planner", "run", "graph", "expressions")


def test_there_is_something_to_measure() -> None:
    assert len(SOURCES) > 10
    assert {source.path.parts[1] for source in SOURCES} >= {"graph", "planner", "run"}


def test_no_file_is_longer_than_600_lines() -> None:
    assert measure.long_files(SOURCES) == []


def test_no_function_is_longer_than_60_lines() -> None:
    assert measure.long_functions(SOURCES) == []


def test_no_module_imports_itself_over_others() -> None:
    assert measure.import_cycles(SOURCES) == []


def test_imports_stand_at_the_top_of_a_file() -> None:
    assert measure.inner_imports(SOURCES, INNER_IMPORTS) == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert measure.forbidden_names(SOURCES) == []


def test_every_public_function_is_typed() -> None:
    assert measure.untyped_functions(SOURCES) == []


def test_the_core_speaks_of_steps_runs_and_attempts_only() -> None:
    core = [source for source in SOURCES if source.path.parts[1] in CORE]
    assert measure.forbidden_words(core) == []


def test_no_tracked_file_names_one_machine_or_a_package_registry() -> None:
    assert measure.machine_traces(tracked_texts()) == []


def tracked_texts() -> dict[str, str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = {name: ROOT / name for name in listed.stdout.split("\0") if name}
    assert files, "no tracked files found"
    return {name: path.read_text(errors="replace") for name, path in files.items() if path.is_file()}
