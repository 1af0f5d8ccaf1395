"""The shops in `examples/`: what was committed is fulfilled, what was rolled back never begins."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.examples_apps.shops import (
    PATIENCE,
    ROOT,
    Project,
    ask,
    environment,
    free_port,
    run,
    served,
    serving,
    until_shipped,
)

pytestmark = pytest.mark.slow

DATABASES = ("sqlite", "postgres")


def django(folder: Path, database: str | None) -> Project:
    given = {"SHOP_DATABASE": database} if database else {}
    return Project(
        ROOT / "examples" / "django_shop",
        environment(folder, **given),
        prepare=(("manage.py", "migrate"),),
        serve=("manage.py", "runserver", "--noreload", "127.0.0.1:{port}"),
        work=("manage.py", "detent_worker", "--listen", "0"),
        test=("-W", "error", "manage.py", "test"),
    )


def flask(folder: Path, database: str | None) -> Project:
    copy = folder / "flask_shop"
    shutil.copytree(ROOT / "examples" / "flask_shop", copy, ignore=shutil.ignore_patterns("__pycache__", "*.db*"))
    if database is None:
        given: dict[str, str] = {}
        prepare: tuple[tuple[str, ...], ...] = ()
    else:
        own = f"{database}?schema=detent"
        given = {"SHOP_DATABASE": database, "DETENT_DATABASE_URL": own}
        prepare = (("-m", "detent", "migrate"),)
    return Project(
        copy,
        environment(copy, **given),
        prepare=prepare,
        serve=("-m", "flask", "run", "--port", "{port}"),
        work=("-m", "detent", "serve", "--port", "0", "--import", "workflows"),
        test=("-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_shop.py"),
    )


def fastapi(folder: Path, database: str | None) -> Project:
    """The shop with Detent inside. It has its own SQLite file, and no other database."""
    copy = folder / "fastapi_shop"
    shutil.copytree(ROOT / "examples" / "fastapi_shop", copy, ignore=shutil.ignore_patterns("__pycache__", "*.db*"))
    port = free_port()
    return Project(
        copy,
        environment(copy, DETENT_BASE_URL=f"http://127.0.0.1:{port}/detent", DETENT_ALLOW_LOOSE_AUTH="false"),
        prepare=(),
        serve=("-m", "uvicorn", "app:app", "--port", "{port}"),
        work=None,
        test=("-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_shop.py"),
        port=port,
    )


SHOPS = {"django": django, "flask": flask, "fastapi": fastapi}
KINDS = [(shop, database) for shop in SHOPS for database in DATABASES if (shop, database) != ("fastapi", "postgres")]


@pytest.fixture(params=KINDS, ids="-".join)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    shop, database = request.param
    url = request.getfixturevalue("postgres_database") if database == "postgres" else None
    return SHOPS[shop](tmp_path, url)


def test_a_committed_order_is_shipped_and_one_that_was_rolled_back_has_no_run(project: Project) -> None:
    with served(project) as url:
        status, kept = ask(f"{url}/orders", {"item": "tea"})
        assert status == 201, kept
        status, lost = ask(f"{url}/orders/broken", {"item": "milk"})
        assert status == 402, lost
        order = until_shipped(f"{url}/orders/{kept['order']}")
        assert order["run"] == kept["run"] != lost["run"]
        status, after = ask(f"{url}/orders", {"item": "sugar"})
        until_shipped(f"{url}/orders/{after['order']}")
        assert started_runs(project) == [kept["run"], after["run"]]


def test_the_tests_of_the_project_pass(project: Project) -> None:
    for command in project.prepare:
        run(project, *command)
    run(project, *project.test)


def test_a_shop_with_detent_inside_takes_an_approval_after_it_was_killed(tmp_path: Path) -> None:
    project = fastapi(tmp_path, None)
    with serving(project) as (url, server):
        _, made = ask(f"{url}/orders", {"item": "piano", "price": 900})
        approval = until_shipped(f"{url}/orders/{made['order']}", "waits")["approval"]
        assert approval.startswith(f"{url}/detent/wh/")
        listed = run(project, "-m", "detent", "runs", "list")  # beside the process that has the file
        assert made["run"] in listed
        server.kill()
        server.wait(PATIENCE)
    with served(project) as url:
        assert ask(approval, {"approved": True})[0] == 200
        until_shipped(f"{url}/orders/{made['order']}")


def started_runs(project: Project) -> list[str]:
    """Every run that Detent knows, oldest first, asked in the way of the project."""
    code = "from detent import sync; print(*(run.id for run in sync.runs()))"
    django = ("manage.py", "shell", "--no-imports") if "manage.py" in project.serve else ()
    told = run(project, *django, "-c", code)
    return list(reversed(told.split()))
