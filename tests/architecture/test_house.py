"""The house stays tidy: rooms of a size, modules that are nouns, one name per class, plain words."""

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.architecture import measure

ROOT = Path(__file__).parents[2]
SOURCES = measure.read_sources(ROOT, "detent")

#: Module names in -ing that are nouns of the field.
NOUNS_IN_ING = {
    "detent/testing/__init__.py": "the public name of the test helpers",
    "detent/triggers/firing.py": "a firing is what the API calls it",
    "detent/engine/tuning.py": "the tuning of an engine: its numbers",
    "detent/vault/sealing.py": "the sealing of values: the field's word",
}
#: Small modules with one importer that stay apart.
APART = {
    "detent/cli/database.py": "loading time: it brings the store, which most commands do not need",
    "detent/embed/sync.py": "the public name `detent.sync`",
    "detent/outbox/factory.py": "loading time: a process without an outbox loads none",
    "detent/outbox/mysql.py": "its driver is an optional dependency",
    "detent/outbox/postgres.py": "its driver is an optional dependency",
    **{
        f"detent/store/sql/{name}/store.py": "each dialect has its store there"
        for name in ("sqlite", "postgres", "mysql")
    },
}
#: Class names that exist in several modules.
SHARED_NAMES = {
    **dict.fromkeys(("Address", "Pool"), "dialects of one contract"),
    "Skipped": "the event of a step that a user skips, and the result of an action that skips its step",
    "Command": "Django looks for a class of this name in each of its commands",
    **dict.fromkeys(
        (
            "AlreadyActive",
            "Conflict",
            "LimitExceeded",
            "NotFound",
            "PreconditionFailed",
            "RehearsalFailed",
            "TooLarge",
            "Unauthenticated",
            "Unavailable",
        ),
        "the client's error is a subclass of ours with the answer of the server in it",
    ),
}
#: Private metaphors and stilted words: how often each may still occur. The numbers only fall.
WORDS = {"door": 0, "way": 22, "told": 0, "whoever": 0, "somebody": 0, "nobody": 0, "anew": 0}
#: Words of class names that need no explanation.
PLAIN = {
    "action",
    "answer",
    "bulk",
    "control",
    "created",
    "encoded",
    "engine",
    "input",
    "page",
    "rerun",
    "result",
    "start",
    "view",
}
#: Which of our dependencies the module of a command loads, beside what every command needs.
EVERY_COMMAND = {"rich", "typer"}
CLIENT = EVERY_COMMAND | {"msgspec", "yaml"}
FORMS = CLIENT | {"cronsim", "jsonschema_rs", "uuid_utils"}
SERVER = FORMS | {
    *(
        "aiohttp",
        "httptools",
        "litestar",
        "multidict",
        "sqlalchemy",
        "structlog",
        "uvicorn",
        "uvloop",
        "watchfiles",
        "yarl",
    ),
}
LOADED = {
    "init": EVERY_COMMAND,
    "dev": SERVER,
    "run": SERVER,
    "validate": FORMS,
    "test": SERVER - {"litestar", "uvicorn", "watchfiles"},
    "graph": FORMS,
    "convert": FORMS,
    "plan": FORMS,
    "apply": FORMS,
    "export": FORMS,
    "trigger": FORMS,
    "runs": FORMS,
    "logs": CLIENT,
    "workflows": CLIENT,
    "templates": CLIENT,
    "documents": CLIENT,
    "triggers": CLIENT,
    "connectors": CLIENT,
    "actions": CLIENT,
    "events": CLIENT,
    "resources": CLIENT,
    "dead_letters": CLIENT,
    "serve": SERVER,
    "worker": SERVER,
    "migrate": EVERY_COMMAND | {"msgspec", "sqlalchemy"},
    "doctor": EVERY_COMMAND | {"msgspec", "sqlalchemy", "uuid_utils"},
}
LOADING = """
import json, sys
from detent.cli.main import module_of
for name in sys.argv[1:]:
    module_of(name)
    print(name, json.dumps(sorted({module.partition(".")[0] for module in sys.modules})))
"""


def test_a_package_has_at_most_20_modules() -> None:
    assert measure.crowded_packages(SOURCES) == []


def test_a_module_is_a_noun() -> None:
    found = [line for line in measure.modules_in_ing(SOURCES) if line.partition(":")[0] not in NOUNS_IN_ING]
    assert found == []


def test_a_small_module_with_one_importer_is_part_of_it() -> None:
    found = [line for line in measure.lonely_modules(SOURCES) if line.partition(":")[0] not in APART]
    assert found == []


def test_a_public_class_name_exists_once() -> None:
    found = {name: files for name, files in measure.repeated_classes(SOURCES).items() if name not in SHARED_NAMES}
    assert found == {}


@pytest.mark.parametrize("word", WORDS)
def test_a_banned_word_only_becomes_rarer(word: str) -> None:
    [count] = measure.count_words(SOURCES, [word]).values()
    assert count <= WORDS[word], "use the field's word; if the count has fallen, lower the number here"


def test_numbers_of_limits_are_written_in_one_place() -> None:
    found = [line for line in measure.numbers(SOURCES, [255, 256 * 1024]) if "detent/values/limits.py" not in line]
    assert found == []


def test_the_default_tenant_is_named_in_settings_and_auth_only() -> None:
    users = {module.split(".")[1] for module in measure.users_of(SOURCES, "DEFAULT_TENANT")}
    assert users <= {"settings", "auth", "tenants"}


def test_public_exceptions_are_in_modules_of_errors() -> None:
    public = {
        name
        for front in ("detent/__init__.py", "detent/client/__init__.py", "detent/testing/__init__.py")
        for name in re.findall(r'^    "(\w+)",$', (ROOT / front).read_text(), flags=re.MULTILINE)
    }
    assert [line for line in measure.exceptions(SOURCES) if line.split()[-1] in public] == []


def test_nouns_of_commands_and_of_the_store_are_in_the_glossary() -> None:
    rows = [
        row
        for page in ("docs/glossary.md", "CONTRIBUTING.md")
        for row in re.findall(r"^\| ([a-z ,]+) \|", (ROOT / page).read_text(), flags=re.MULTILINE)
    ]
    known = {word for row in rows for word in re.findall(r"[a-z]+", row)} | PLAIN
    nouns = {
        word
        for source in SOURCES
        if source.path.parts[1] == "commands" or source.path.as_posix() == "detent/store/protocol.py"
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        for word in measure.words(node.name)
    }
    assert {noun for noun in nouns if noun not in known and noun.removesuffix("s") not in known} == set()


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_and_folders_that_a_page_names_exist(page: str) -> None:
    named = set(re.findall(r"`([a-z_/]+(?:/|\.py|\.sql))`", (ROOT / page).read_text()))
    assert len(named) > 20
    assert named - _ends_of_paths() == set()


def test_files_that_a_comment_names_exist() -> None:
    known = _ends_of_paths() | {"manage.py"}  # the program of a Django project
    sources = [path for path in (ROOT / "detent").rglob("*") if path.suffix in (".py", ".sql")]
    named = {(path, name) for path in sources for name in re.findall(r"`([a-z_/]+\.(?:py|sql))`", path.read_text())}
    assert len(named) >= 5
    assert {(str(path), name) for path, name in named if name not in known} == set()


@cache
def _ends_of_paths() -> frozenset[str]:
    """Every way to name a file or folder of ours by the end of its path, `steps/http/` as well as `http/`."""
    ours = [path for folder in ("detent", "tests", "docs") for path in (ROOT / folder).rglob("*")]
    parts = [(path.relative_to(ROOT).parts, "/" if path.is_dir() else "") for path in ours]
    ends = {"/".join(names[start:]) + tail for names, tail in parts for start in range(len(names))}
    return frozenset(ends | {f"{folder}/" for folder in ("tests", "docs", "examples", "bench", "web", "web/src")})


def chains() -> list[list[str]]:
    """The commands in chains: what a command may load, those behind it in its chain may load too. So one process can
    load a chain, and what a command loads beyond its own set is still seen."""
    found: list[list[str]] = []
    for name in sorted(LOADED, key=lambda name: len(LOADED[name])):
        chain = next((one for one in found if LOADED[one[-1]] <= LOADED[name]), None)
        if chain is None:
            found.append([name])
        else:
            chain.append(name)
    return found


def test_the_commands_are_few_chains() -> None:
    assert sorted(name for chain in chains() for name in chain) == sorted(LOADED)
    assert len(chains()) <= 2


@pytest.mark.parametrize("chain", chains(), ids=lambda chain: chain[-1])
def test_a_command_loads_only_what_it_needs(chain: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADING, *chain], capture_output=True, text=True, timeout=120, check=True, cwd=ROOT
    )
    ours = set().union(*LOADED.values())
    loaded = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert list(loaded) == chain
    for name, modules in loaded.items():
        assert ours & set(json.loads(modules)) <= LOADED[name], name
