"""The other commands end to end: help at once, files checked, drawn and saved, databases looked after."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from detent.cli import COMMANDS
from detent.cli.main import command_of, commands_below
from detent.outbox.table import CREATE, INSERT
from tests.cli.program import PATIENCE, detent, environment, started

ECHO = "name: echo\ntasks:\n  a: {action: core.echo, with: {x: '{{trigger.body.x ?? 0}}'}}\n"
BAD = "name: bad\ntasks:\n  a: {needs: [b], action: core.echo}\n"
#: Twice the promise and more: the machine that tests is busy. `-X importtime` below shows that nothing heavy is loaded.


def write(folder: Path, text: str, name: str = "w.yaml") -> str:
    (folder / name).write_text(text)
    return name


def test_help_lists_every_command(folder: Path) -> None:
    done = detent(folder, "--help")
    assert done.returncode == 0
    assert all(name in done.stdout and summary in done.stdout for name, summary in COMMANDS.items())


def test_help_and_the_package_itself_load_nothing_heavy(folder: Path) -> None:
    for code in ("import detent", "import sys; sys.argv = ['detent', '--help']; from detent.cli import main; main()"):
        loaded = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", code],
            cwd=folder, env=environment(folder), capture_output=True, text=True, check=True,
        ).stderr  # fmt: skip
        assert not re.search(r"\b(litestar|typer|rich|msgspec|aiohttp|sqlalchemy|asyncio)\b", loaded)


def test_the_version_is_told(folder: Path) -> None:
    assert re.fullmatch(r"detent \d+\.\d+\.\d+\n", detent(folder, "--version").stdout)


def test_a_command_that_is_mistyped_gets_a_hint(folder: Path) -> None:
    done = detent(folder, "valdate")
    assert (done.returncode, "Did you mean 'validate'?" in done.stderr) == (2, True)
    below = detent(folder, "history")
    assert (below.returncode, "Did you mean 'runs history'?" in below.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_either_option_and_names_no_type_of_a_switch(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = command_of(name)
    for words in ([], *([word] for word in commands_below(command))):
        command.main(args=[*words, "--help"], prog_name=f"detent {name}", standalone_mode=False)
        told = capsys.readouterr().out
        assert " ".join(["Usage: detent", name, *words]) in told
        assert "--help" in told
        assert "<bool>" not in told
        command.main(args=[*words, "-h"], prog_name=f"detent {name}", standalone_mode=False)
        assert capsys.readouterr().out == told


@pytest.mark.slow
def test_validate_lists_the_problems_of_all_files(folder: Path) -> None:
    good, bad = write(folder, ECHO, "good.yaml"), write(folder, BAD, "bad.yaml")
    done = detent(folder, "validate", good, bad)
    assert done.returncode == 2
    assert "good.yaml: echo, 1 step" in done.stdout
    assert "tasks.a.needs[0]" in done.stderr
    assert detent(folder, "validate", good).returncode == 0


@pytest.mark.slow
def test_graph_draws_text_and_mermaid(folder: Path) -> None:
    text = ECHO + "  b: {needs: [a], sleep: 90s}\n"
    assert "● a" in detent(folder, "graph", write(folder, text)).stdout
    mermaid = detent(folder, "graph", "w.yaml", "--format", "mermaid").stdout
    assert mermaid.startswith("flowchart TD")
    assert "s0 --> s1" in mermaid


@pytest.mark.slow
def test_apply_creates_changes_and_leaves_as_it_is(folder: Path) -> None:
    file = write(folder, ECHO)
    assert detent(folder, "apply", file).stdout.split() == ["created", "echo", "version", "1"]
    assert detent(folder, "apply", file).stdout.split() == ["unchanged", "echo", "version", "1"]
    write(folder, ECHO.replace("x:", "y:"))
    assert detent(folder, "apply", file).stdout.split() == ["changed", "echo", "version", "2"]


@pytest.mark.slow
def test_apply_saves_nothing_if_one_file_is_not_valid(folder: Path) -> None:
    done = detent(folder, "apply", write(folder, ECHO, "good.yaml"), write(folder, BAD, "bad.yaml"))
    assert done.returncode == 2
    assert not (folder / "detent.db").exists()


@pytest.mark.slow
def test_commands_find_the_engine_that_has_the_file_and_talk_to_it(folder: Path) -> None:
    file = write(folder, ECHO)
    with started(folder, "serve", "--port", "0") as server:
        url = server.wait_for(r"answers at (http://\S+)")[1]
        assert detent(folder, "apply", file).stdout.startswith("created")
        refused = detent(folder, "run", file, "--database", "sqlite:///detent.db")
        assert (refused.returncode, "in use" in refused.stderr) == (2, True)
        run = detent(folder, "trigger", "echo", "--input", '{"x": 5}').stdout.strip()
        assert run.startswith("run_")
        shown = json.loads(detent(folder, "runs", "show", run, "--json", "--url", url).stdout)
        assert (shown["status"], shown["output"]) == ("completed", {"x": 5})
        assert run in detent(folder, "runs", "list", "echo").stdout
        assert re.search(rf"{run} +echo +✓ completed", detent(folder, "runs", "list").stdout)
        for wish in ("cancel", "pause", "resume"):
            late = detent(folder, "runs", wish, run)
            assert (late.returncode, f"Cannot {wish} a finished workflow" in late.stderr) == (1, True)
        nobody = detent(folder, "trigger", "nobody")
        assert (nobody.returncode, "there is no workflow 'nobody'" in nobody.stderr) == (1, True)
        assert server.stop() == 0


@pytest.mark.slow
def test_a_run_is_paused_and_resumed_and_cancelled_by_its_id_alone(folder: Path) -> None:
    file = write(folder, "name: nap\ntasks:\n  a: {sleep: 1h}\n")
    with started(folder, "serve", "--port", "0") as server:
        server.wait_for("answers at")
        detent(folder, "apply", file)
        run = detent(folder, "trigger", "nap").stdout.strip()
        for wish, status in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
            done = detent(folder, "runs", wish, run)
            assert (done.returncode, done.stdout.split()[-1]) == (0, status)
        nobody = detent(folder, "runs", "pause", "run_nobody")
        assert (nobody.returncode, "there is no run 'run_nobody'" in nobody.stderr) == (1, True)


@pytest.mark.slow
def test_a_run_that_is_triggered_without_an_engine_waits_for_one(folder: Path) -> None:
    detent(folder, "apply", write(folder, ECHO))
    done = detent(folder, "trigger", "echo")
    run = done.stdout.strip()
    assert "the run begins when one does" in done.stderr
    with started(folder, "serve", "--port", "0") as server:
        server.wait_for("answers at")
        until = time.monotonic() + PATIENCE
        while "completed" not in (shown := detent(folder, "runs", "show", run).stdout):
            assert time.monotonic() < until, shown


@pytest.mark.slow
def test_serve_asks_for_a_key_on_every_address_unless_a_setting_says_otherwise(folder: Path) -> None:
    for loose, status in (("false", 401), ("true", 200)):
        with started(folder, "serve", "--host", "0.0.0.0", "--port", "0", DETENT_ALLOW_LOOSE_AUTH=loose) as server:
            port = server.wait_for(r"answers at http://127\.0\.0\.1:(\d+)")[1]
            with closing(HTTPConnection("127.0.0.1", int(port), timeout=300)) as connection:
                connection.request("GET", "/api/v1/runs")
                assert connection.getresponse().status == status
            assert (
                detent(folder, "runs", "list", DETENT_ALLOW_LOOSE_AUTH=loose).returncode == 0
            )  # the lock note has a key
            assert server.stop() == 0


@pytest.mark.slow
def test_serve_says_what_stands_in_its_way(folder: Path) -> None:
    with started(folder, "serve", "--port", "0") as server:
        port = server.wait_for(r"answers at http://127\.0\.0\.1:(\d+)")[1]
        taken = detent(folder, "serve", "--port", port, "--database", "sqlite:///other.db")
        assert (taken.returncode, f"port {port}" in taken.stderr) == (2, True)
        second = detent(folder, "serve", "--port", "0")
        assert (second.returncode, f"pid {server.process.pid}" in second.stderr) == (1, True)
    many = detent(folder, "serve", "--workers", "2")
    assert (many.returncode, "PostgreSQL" in many.stderr) == (2, True)
    unknown = detent(folder, "serve", "--database", "oracle://x")
    assert (unknown.returncode, "sqlite:///" in unknown.stderr, "Traceback" in unknown.stderr) == (1, True, False)


@pytest.mark.slow
def test_migrate_and_doctor_tell_how_a_database_is(folder: Path) -> None:
    assert "yet" in detent(folder, "doctor").stdout
    assert not (folder / "detent.db").exists()
    assert "went from nothing to" in detent(folder, "migrate").stdout
    assert "already" in detent(folder, "migrate").stdout
    well = detent(folder, "doctor", DETENT_PROT="1", DETENT_SECRET_KEY="a-long-secret-key-of-mine")
    assert well.returncode == 0, well.stdout
    assert "did you mean DETENT_PORT?" in well.stdout
    assert "a-long-secret-key-of-mine" not in well.stdout
    (folder / "broken.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 8000)
    with closing(sqlite3.connect(folder / "shop.db")) as shop, shop:
        shop.execute(CREATE["sqlite"])
        shop.execute(INSERT, {"id": "0" * 32, "workflow": "w", "body": "{}", "options": "{}", "created_at": 0})
    unread = detent(folder, "doctor", DETENT_OUTBOX_URLS="sqlite:///shop.db").stdout
    assert "1 starts wait in it since 1970" in " ".join(unread.split())
    assert "DETENT_OUTBOX_URLS=sqlite:///shop.db" in " ".join(unread.split())
    broken = detent(folder, "doctor", "--database", "sqlite:///broken.db")
    assert broken.returncode == 1
    assert "Traceback" not in broken.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [("runs", "list"), ("runs", "show", "run_x"), ("logs", "run_x"), ("workflows", "list"), ("triggers", "list"),
     ("trigger", "echo"), ("runs", "cancel", "run_x")],
    ids=" ".join,
)  # fmt: skip
def test_a_command_about_what_is_there_makes_no_database(folder: Path, words: tuple[str, ...]) -> None:
    done = detent(folder, *words, "--database", "sqlite:///detnet.db")
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("error: there is no database at detnet.db; ")
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_a_database_that_is_not_there_is_refused_wherever_its_name_comes_from(folder: Path) -> None:
    named = detent(folder, "runs", "list", DETENT_DATABASE_URL="sqlite:///sub/x.db")
    assert (named.returncode, "there is no database at sub/x.db; " in named.stderr) == (1, True)
    usual = detent(folder, "runs", "list")
    assert (usual.returncode, "there is no database at detent.db; " in usual.stderr) == (1, True)
    assert list(folder.iterdir()) == []
    assert detent(folder, "apply", write(folder, ECHO)).returncode == 0
    assert "echo" in detent(folder, "workflows", "list").stdout


@pytest.mark.slow
def test_a_postgres_database_without_tables_is_refused_with_the_command_to_run(
    folder: Path, postgres_bare_database: str
) -> None:
    bare = detent(folder, "worker", "--database", postgres_bare_database)
    assert (bare.returncode, "detent migrate" in bare.stderr) == (1, True)
    assert detent(folder, "doctor", "--database", postgres_bare_database).returncode == 1
    assert detent(folder, "migrate", "--database", postgres_bare_database).returncode == 0
    assert detent(folder, "apply", write(folder, ECHO), "--database", postgres_bare_database).returncode == 0
    assert detent(folder, "doctor", "--database", postgres_bare_database).returncode == 0


@pytest.mark.slow
def test_several_workers_serve_one_postgres_and_leave_together(folder: Path, postgres_database: str) -> None:
    options = ("serve", "--port", "0", "--database", postgres_database, "--migrate", "--workers", "2")
    with started(folder, *options) as server:
        url = server.wait_for(r"answers at (http://\S+)")[1]
        server.wait_for("the worker is ready")
        detent(folder, "apply", write(folder, ECHO), "--url", url)
        run = detent(folder, "trigger", "echo", "--url", url).stdout.strip()
        until = time.monotonic() + PATIENCE
        while "completed" not in (shown := detent(folder, "runs", "show", run, "--url", url).stdout):
            assert time.monotonic() < until, shown
        assert server.stop() == 0
        assert server.text.count("engine.stopped") == 2
