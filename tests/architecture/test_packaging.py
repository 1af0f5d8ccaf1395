"""What we install is what the locks say, and what we ship holds everything the code reads."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.architecture import measure
from tests.web.browser import build

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES = measure.read_sources(ROOT, "detent")
PACKAGE_OF = {"argon2": "argon2-cffi", "jwt": "pyjwt", "yaml": "pyyaml"}
#: What the code imports only for those who have it anyway.
BROUGHT = {"django"}
DATA = {".sql", ".yaml", ".html", ".typed"}


def pins(name: str) -> dict[str, str]:
    """Package name to version, of a lock."""
    return dict(re.findall(r"^([a-z0-9.-]+)(?:\[[a-z,]+\])?==([^ ;]+)", (ROOT / name).read_text(), flags=re.MULTILINE))


def package(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return found.group().lower().replace("_", "-")


def wanted(*, dev: bool) -> set[str]:
    project = PROJECT["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values(), PROJECT["dependency-groups"]["build"]]
    if dev:
        lists.append(PROJECT["dependency-groups"]["dev"])
    names = {package(line) for lines in lists for line in lines if isinstance(line, str)}
    return names - {project["name"]}


def used() -> set[str]:
    """The packages that the product imports."""
    names = {name.split(".")[0] for source in SOURCES for name, _ in measure.imported(source, frozenset())}
    foreign = names - set(sys.stdlib_module_names) - {"detent"}
    return {PACKAGE_OF.get(name, name.replace("_", "-")) for name in foreign}


def test_every_package_the_product_imports_is_declared() -> None:
    assert used() - wanted(dev=False) - BROUGHT == set()


def test_every_package_the_product_declares_is_imported() -> None:
    assert {package(line) for line in PROJECT["project"]["dependencies"]} - used() == set()


@pytest.mark.parametrize(("lock", "dev"), [("requirements.lock", False), ("requirements-dev.lock", True)])
def test_a_lock_pins_everything_the_project_asks_for(lock: str, dev: bool) -> None:
    """What users need to test their workflows comes with the packages of development alone."""
    for_tests = set() if dev else {package(line) for line in PROJECT["project"]["optional-dependencies"]["testing"]}
    assert wanted(dev=dev) - for_tests - set(pins(lock)) == set()


def test_both_locks_agree_on_every_version() -> None:
    runtime, everything = pins("requirements.lock"), pins("requirements-dev.lock")
    assert len(runtime) > 30
    assert {name: everything.get(name) for name in runtime} == runtime


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_pin_has_a_hash_and_no_line_has_an_address(lock: str) -> None:
    text = (ROOT / lock).read_text()
    entries = re.split(r"\n(?=\S)", text.strip())
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert not re.search(r"://|--(?:index|extra-index|find-links)", text)


@pytest.mark.slow
def test_the_wheel_holds_every_module_data_file_and_the_page(tmp_path: Path) -> None:
    build()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    files = (path for path in (ROOT / "detent").rglob("*") if path.suffix in {".py", *DATA})
    page = [path for path in (ROOT / "detent" / "web" / "built").rglob("*") if path.is_file()]
    assert {path.suffix for path in page} >= {".html", ".js", ".br", ".gz", ".woff2"}
    expected = {str(path.relative_to(ROOT)) for path in (*files, *page)}
    assert expected - held == set()
    assert not any(name.startswith(("tests/", "bench/", "web/")) for name in held)
