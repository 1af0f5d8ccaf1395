"""What we install is what the locks say, and what we ship holds everything the code reads."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from hatch_build import PageHook
from tests.architecture import measure
from tests.cli.program import Program
from tests.web.browser import build

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES = measure.read_sources(ROOT, "detent")
PACKAGE_OF = {"argon2": "argon2-cffi", "jwt": "pyjwt", "pydantic_ai": "pydantic-ai-slim", "yaml": "pyyaml"}
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
    """What users need to test their workflows or to write agents comes with the packages of development alone."""
    extras = PROJECT["project"]["optional-dependencies"]
    for_some = set() if dev else {package(line) for name in ("testing", "pydantic-ai") for line in extras[name]}
    assert wanted(dev=dev) - for_some - set(pins(lock)) == set()


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


def without_node(**variables: str) -> dict[str, str]:
    """The environment of a machine that has no Node, and nothing of this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DETENT_", "PYTHON"))}
    return {**kept, "PATH": "/nonexistent", **variables}


def package_of(folder: Path, target: str, place: Path) -> Path:
    """Build a package of a checkout, or of an unpacked source distribution, without Node."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(place)]
    done = subprocess.run(command, cwd=folder, env=without_node(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    [found] = place.glob("*.tar.gz" if target == "sdist" else "*.whl")
    return found


def wheel_of_source_distribution(folder: Path) -> Path:
    """Build a source distribution of this checkout, and from it a wheel."""
    with tarfile.open(package_of(ROOT, "sdist", folder)) as archive:
        archive.extractall(folder, filter="data")
    [source] = (path for path in folder.iterdir() if path.is_dir())
    assert not list(source.rglob("node_modules"))
    assert (source / "scripts" / "setup").is_file()
    return package_of(source, "wheel", folder)


def installed(wheel: Path, place: Path) -> Path:
    """The `detent` of an environment that has this wheel alone. Its dependencies are those of the tests, by a path
    file: to install them too would take longer than all else."""
    venv.create(place, with_pip=False)
    [site] = (place / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    offline = ["--no-config", "--offline", "--no-index", "--no-deps"]
    uv = [sys.executable, "-m", "uv", "pip", "install", *offline, "--python", str(place / "bin" / "python"), str(wheel)]
    done = subprocess.run(uv, env=without_node(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return place / "bin" / "detent"


@pytest.mark.slow
def test_the_wheel_of_the_source_distribution_has_everything_and_detent_dev_works_from_it(tmp_path: Path) -> None:
    build()
    (tmp_path / "package").mkdir()
    wheel = wheel_of_source_distribution(tmp_path / "package")
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    files = (path for path in (ROOT / "detent").rglob("*") if path.suffix in {".py", *DATA})
    page = [path for path in (ROOT / "detent" / "web" / "built").rglob("*") if path.is_file()]
    assert {path.suffix for path in page} >= {".html", ".js", ".br", ".gz", ".woff2"}
    expected = {str(path.relative_to(ROOT)) for path in (*files, *page)}
    assert expected - held == set()
    assert not any(name.startswith(("tests/", "bench/", "web/")) for name in held)

    command = [str(installed(wheel, tmp_path / "venv")), "dev", "--port", "0"]
    given = without_node(HOME=str(tmp_path), PYTHONUNBUFFERED="1", COLUMNS="120")
    with subprocess.Popen(
        command, cwd=tmp_path, env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            dev = Program(process)
            url = dev.wait_for(r"page +(http://127\.0\.0\.1:\d+)")[1]
            dev.wait_for(r"completed  hello ")
            with urlopen(Request(url, headers={"Accept": "text/html"}), timeout=300) as answer:
                assert '<div id="root">' in answer.read().decode()
            assert "Traceback" not in dev.text
        finally:
            process.kill()


def test_a_package_without_the_page_is_refused_with_what_to_do(tmp_path: Path) -> None:
    hook = PageHook(str(tmp_path), {}, None, None, str(tmp_path), "wheel")  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="run `make web` first"):
        hook.initialize("standard", {})
    hook.initialize("editable", {})
