"""`detent run`: exit codes, what it prints when nobody looks, answers, and the clock that jumps."""

from __future__ import annotations

import re
import signal
import urllib.request
from pathlib import Path

import pytest

from tests.cli.program import detent, started
from tests.servers.target import Target

pytestmark = pytest.mark.slow

HELLO = """
name: hello
tasks:
  greet: {action: core.echo, with: {text: "hello {{trigger.body.name}}"}}
  nap: {needs: [greet], sleep: 200ms}
  bye: {needs: [nap], action: core.echo, with: {text: "{{tasks.greet.output.text}}, bye"}}
"""
WAITS = """
name: waits
tasks:
  ask: {wait_for_webhook: {timeout: 1h}}
  got: {needs: [ask], if: "tasks.ask.status == 'received'", action: core.echo, with: {got: "{{tasks.ask.body}}"}}
  late: {needs: [ask], if: "tasks.ask.status == 'timeout'", action: core.echo, with: {late: true}}
"""


def write(folder: Path, text: str, name: str = "w.yaml") -> str:
    (folder / name).write_text(text)
    return name


def kept(text: str) -> list[Path]:
    return [Path(found) for found in re.findall(r"kept: (\S+)", text)]


def test_a_run_that_completes_prints_its_steps_and_leaves_nothing_behind(folder: Path) -> None:
    done = detent(folder, "run", write(folder, HELLO), "--input", '{"name": "Ada"}', TMPDIR=str(folder))
    assert done.returncode == 0, done.stderr
    assert re.search(r"greet +success", done.stdout)
    assert re.search(r"nap +sleeping", done.stdout)
    assert "completed in" in done.stdout
    assert "hello Ada, bye" in done.stdout
    assert "\x1b" not in done.stdout
    assert "steps may call this machine" in done.stdout
    assert [path.name for path in folder.iterdir() if path.name.startswith("detent-run-")] == []


def test_input_may_come_from_a_file(folder: Path) -> None:
    (folder / "in.json").write_text('{"name": "file"}')
    done = detent(folder, "run", write(folder, HELLO), "--input", "@in.json")
    assert (done.returncode, "hello file" in done.stdout) == (0, True)


def test_a_run_that_fails_keeps_its_database_and_names_it(folder: Path) -> None:
    done = detent(folder, "run", write(folder, HELLO), TMPDIR=str(folder))
    assert done.returncode == 1
    assert "Failed to resolve {{trigger.body.name}}" in done.stdout
    [database] = kept(done.stdout)
    assert database.stat().st_size > 0
    listed = detent(folder, "runs", "list", "hello", "--database", f"sqlite:///{database}")
    assert "failed" in listed.stdout


def test_a_file_that_is_not_valid_is_exit_code_2_with_every_problem(folder: Path) -> None:
    text = "name: bad\ntasks:\n  a: {needs: [b], action: core.eco}\n  c: {sleep: soon}\n"
    done = detent(folder, "run", write(folder, text))
    assert done.returncode == 2
    for place in ("tasks.a.needs[0]", "tasks.a.action", "tasks.c.sleep"):
        assert place in done.stderr
    assert detent(folder, "run", "missing.yaml").returncode == 2


@pytest.mark.parametrize(
    ("options", "reason"),
    [(["--input", "{bad"], "--input"), (["--answer", "nobody={}"], "no wait step 'nobody'"),
     (["--answer", "ask={"], "--answer ask"),
     (["--fast", "--database", "memory://"], "--fast"), (["--import", "no.such.module"], "no.such.module")],
)  # fmt: skip
def test_an_option_that_cannot_be_used_is_exit_code_2_with_its_reason(
    folder: Path, options: list[str], reason: str
) -> None:
    done = detent(folder, "run", write(folder, WAITS), *options)
    assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


def test_an_answer_is_delivered_when_the_wait_is_active(folder: Path) -> None:
    done = detent(folder, "run", write(folder, WAITS), "--answer", 'ask={"ok": 7}')
    assert done.returncode == 0, done.stdout
    assert re.search(r"ask +success", done.stdout)
    assert '"ok": 7' in done.stdout


def test_a_callback_can_be_sent_to_the_url_that_is_printed(folder: Path) -> None:
    with started(folder, "run", write(folder, WAITS), TMPDIR=str(folder)) as program:
        url = program.wait_for(r"waits for a POST to (http://127\.0\.0\.1:\d+/wh/\S+)")[1]
        with urllib.request.urlopen(urllib.request.Request(url, data=b'{"by": "hand"}', method="POST")) as answer:
            assert answer.status == 200
        program.wait_for("completed in")
        assert program.process.wait(timeout=120) == 0
        assert '"by": "hand"' in program.text + (program.process.stdout.read() if program.process.stdout else "")


def test_fast_jumps_over_days_of_sleep_and_an_hour_of_waiting(folder: Path) -> None:
    text = WAITS + "  nap: {needs: [late], sleep: 13d}\n  nap2: {needs: [nap], sleep: 300d}\n"
    done = detent(
        folder, "run", write(folder, text.replace("name: waits", "name: waits\nmax_duration: 400d")), "--fast"
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"ask +timeout", done.stdout)
    assert re.search(r"nap2 +success +300d", done.stdout)
    assert "completed in 313d" in done.stdout


def test_fast_lets_a_run_expire_that_waits_longer_than_it_may_last(folder: Path) -> None:
    done = detent(folder, "run", write(folder, "name: long\nmax_duration: 2d\ntasks:\n  a: {sleep: 3d}\n"), "--fast")
    assert done.returncode == 1
    assert "timeout in 2d" in done.stdout


def test_fast_jumps_over_the_pauses_between_attempts(folder: Path) -> None:
    with Target() as target:
        text = f"name: flaky\ntasks:\n  a: {{url: '{target.url('/flaky/4')}', retries: 5}}\n"
        done = detent(folder, "run", write(folder, text), "--fast")
        assert done.returncode == 0, done.stdout
        assert len(target.hits()) == 5
        assert "attempt 5" in done.stdout


def test_a_user_action_is_found_in_the_current_folder(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from detent import action\n@action('my.double')\ndef double(n: int) -> int:\n    return 2 * n\n"
    )
    text = "name: mine\ntasks:\n  a: {action: my.double, with: {n: 21}}\n"
    done = detent(folder, "run", write(folder, text), "--import", "mine")
    assert (done.returncode, "output 42" in done.stdout) == (0, True), done.stderr
    without = detent(folder, "run", "w.yaml")
    assert (without.returncode, "my.double" in without.stderr) == (2, True)


def test_an_interrupted_run_is_kept_and_goes_on_elsewhere(folder: Path) -> None:
    with started(folder, "run", write(folder, WAITS), TMPDIR=str(folder)) as program:
        program.wait_for("waits for a POST")
        assert program.stop(signal.SIGINT) == 1
        [database] = kept(program.text)
    shown = detent(folder, "runs", "list", "waits", "--database", f"sqlite:///{database}")
    assert "running" in shown.stdout
