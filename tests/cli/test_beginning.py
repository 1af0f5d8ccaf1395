"""Beginning: a project that runs as it is, completion for shells, and what is said when something cannot be done."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from detent.cli import COMMANDS
from tests.cli.program import detent, environment, free_port, started
from tests.servers import programs

pytestmark = pytest.mark.slow

ECHO = "name: echo\ntasks:\n  a: {action: core.echo}\n"


def test_a_new_project_passes_its_tests_and_runs_as_it_is(folder: Path) -> None:
    done = detent(folder, "init", "My Shop")
    assert done.stdout.splitlines()[-2:] == ["  cd 'My Shop' && pytest", "  cd 'My Shop' && detent serve"]
    project = folder / "My Shop"
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"],
        cwd=project,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "4 passed" in tested.stdout, tested.stdout
    with started(project, "serve", "--port", "0") as server:
        url = server.wait_for(r"answers at (http://\S+)")[1]
        ran = detent(project, "trigger", "checkout", "--input", '{"amount": 50}', "--wait", "--url", url)
        assert (ran.returncode, "receipt for 50" in ran.stdout) == (0, True), ran.stdout + ran.stderr
    assert "no setting" not in detent(project, "doctor").stdout


def test_a_project_is_not_sent_to_a_pytest_that_is_not_there(folder: Path) -> None:
    hidden = "import sys; sys.modules['pytest'] = None; import detent.cli; detent.cli.main()"
    done = programs.run([sys.executable, "-c", hidden, "init", "shop"], cwd=folder, env=environment(folder))
    assert "  cd shop && pip install pytest && pytest" in done.stdout.splitlines(), done.stdout + done.stderr


def test_what_a_framework_needs_is_said_and_nothing_written(folder: Path) -> None:
    assert "detent.contrib.django" in detent(folder, "init", "--django").stdout
    assert "detent.sync.start" in detent(folder, "init", "--flask").stdout
    assert list(folder.iterdir()) == []


def test_a_new_web_application_runs_as_it_is_with_detent_inside(folder: Path) -> None:
    done = detent(folder, "init", "shop", "--fastapi")
    assert done.stdout.splitlines()[-2:] == ["  cd shop && pytest", "  cd shop && uvicorn app:app"]
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "app:app", "--port", str(port)]
    with (folder / "log").open("w") as log:
        server = programs.Process(command, cwd=folder / "shop", env=environment(folder), stdout=log, stderr=log)
    try:
        bought = json.loads(asked(f"http://127.0.0.1:{port}/purchases", b'{"amount": 50}'))
        found = {"status": "running"}
        while found["status"] == "running":
            found = json.loads(asked(f"http://127.0.0.1:{port}/purchases/{bought['run']}"))
        assert found == {"status": "completed", "output": {"receipt": "receipt for 50"}}
        assert bought["run"] in detent(folder / "shop", "runs", "list").stdout
        with pytest.raises(HTTPError, match="404") as refused:
            urlopen(f"http://127.0.0.1:{port}/purchases/run_unknown", timeout=300)
        refused.value.close()
    finally:
        server.kill()
        server.wait(300)


def asked(url: str, body: bytes | None = None) -> bytes:
    """The answer of a server that may still be starting."""
    until = time.monotonic() + 300
    while True:
        try:
            with urlopen(Request(url, body, {"content-type": "application/json"}), timeout=300) as answer:
                found: bytes = answer.read()
                return found
        except URLError:
            assert time.monotonic() < until
            time.sleep(0.1)  # noqa: TID251 - another process is waited for


def test_a_name_of_a_workflow_file_makes_that_file(folder: Path) -> None:
    assert "detent run orders.yaml" in detent(folder, "init", "orders.yaml").stdout
    assert "name: orders" in (folder / "orders.yaml").read_text()


def test_a_new_project_of_steps_is_valid_and_runs_as_it_is(folder: Path) -> None:
    done = detent(folder, "init", "My Shop", "--steps")
    assert done.stdout.splitlines()[-2:] == [
        "  cd 'My Shop' && detent run my-shop.yaml",
        "  cd 'My Shop' && detent serve",
    ]
    project = folder / "My Shop"
    assert "✓ my-shop.yaml: my-shop, 3 steps" in detent(project, "validate", "my-shop.yaml").stdout
    ran = detent(project, "run", "my-shop.yaml", "--fast", "--input", '{"name": "Ada"}')
    assert (ran.returncode, '"said": "Hello, Ada"' in ran.stdout, ran.stderr) == (0, True, "")
    assert (project / ".gitignore").read_text() == "detent.db*\n"
    assert len((project / "README.md").read_text().splitlines()) == 5
    assert "no setting" not in detent(project, "doctor").stdout


def test_what_is_there_already_is_never_changed(folder: Path) -> None:
    (folder / "detent.toml").write_text("port = 1234\n")
    (folder / ".gitignore").write_text("*.log")
    done = detent(folder, "init", "--steps", "--name", "orders")
    assert (done.returncode, "kept      detent.toml" in done.stdout) == (0, True)
    assert (folder / "detent.toml").read_text() == "port = 1234\n"
    assert (folder / ".gitignore").read_text() == "*.log\ndetent.db*\n"
    (folder / "orders.yaml").write_text("mine")
    detent(folder, "init", "--steps", "--name", "orders")
    assert (folder / "orders.yaml").read_text() == "mine"
    assert (folder / ".gitignore").read_text() == "*.log\ndetent.db*\n"
    assert detent(folder, "init", "--name", "No Name").returncode == 2


def completed(folder: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    script = detent(folder, "--show-completion", "bash").stdout
    ask = f'COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _detent; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_bash_completes_commands_those_below_them_options_and_files(folder: Path) -> None:
    (folder / "order.yaml").write_text(ECHO)
    assert completed(folder, "detent", "work") == ["workflows", "worker"]
    assert set(completed(folder, "detent", "runs", "re")) >= {"resume", "retry", "rerun", "resolve"}
    assert completed(folder, "detent", "runs", "list", "--s") == ["--status", "--stage", "--since"]
    assert completed(folder, "detent", "validate", "ord") == ["order.yaml"]


def test_every_shell_has_a_script_that_knows_every_command(folder: Path) -> None:
    scripts = {shell: detent(folder, "--show-completion", shell).stdout for shell in ("zsh", "fish")}
    assert scripts["zsh"].startswith("#compdef detent")
    assert "complete -c detent" in scripts["fish"]
    for script in scripts.values():
        assert [name for name in (*COMMANDS, "backfill", "all-matching") if name not in script] == []
    installed = detent(folder, "--install-completion", "fish").stdout
    assert (folder / ".config/fish/completions/detent.fish").read_text() == scripts["fish"]
    assert installed.startswith(f"wrote {folder}/.config/fish/completions/detent.fish")
    unknown = detent(folder, "--show-completion", "tcsh")
    assert (unknown.returncode, "bash|zsh|fish" in unknown.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "told", "code"),
    [
        (("runs", "lst"), "error: No such command 'lst'. Did you mean 'list'?", 2),
        (("runs", "list", "--sttus", "failed"), "--status", 2),
        (("runs", "list", "--since", "yesterday"), "--since: 'yesterday' is not a valid time", 2),
        (("trigger", "echo", "--label", "team"), "--label: 'team' is not a valid label", 2),
        (("trigger", "echo", "--input", "{"), "--input", 2),
        (("runs", "list", "--url", "somewhere"), "'somewhere' is not a valid address; write", 2),
        (("runs", "list", "--url", "http://[::1"), "'http://[::1' is not a valid address; write", 2),
        (
            ("runs", "list", "--url", "http://a:99999"),
            "'http://a:99999' is not a valid address; write",
            2,
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_mistake_is_told_in_a_few_plain_lines(folder: Path, arguments: tuple[str, ...], told: str, code: int) -> None:
    done = detent(folder, *arguments)
    assert (done.returncode, done.stdout, told in done.stderr) == (code, "", True), done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_a_server_that_is_not_there_is_told(folder: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    done = detent(folder, "runs", "list", "--url", url)
    assert (done.returncode, done.stderr) == (1, f"error: cannot connect to {url}: connection refused\n")


def test_without_a_server_the_database_is_opened_and_what_needs_an_engine_says_so(folder: Path) -> None:
    (folder / "echo.yaml").write_text(ECHO)
    detent(folder, "apply", "echo.yaml")
    run = detent(folder, "trigger", "echo").stdout.strip()
    assert [one["id"] for one in json.loads(detent(folder, "runs", "list", "--json").stdout)] == [run]
    assert "no run goes on until one starts" in detent(folder, "runs", "why", run).stderr
    for waiting in (("logs", run, "-f"), ("runs", "wait", run), ("trigger", "echo", "--wait")):
        done = detent(folder, *waiting)
        assert (done.returncode, "start `detent serve`" in done.stderr) == (1, True)
    assert len(json.loads(detent(folder, "runs", "list", "--json").stdout)) == 1
