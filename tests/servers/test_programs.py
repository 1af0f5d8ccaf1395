"""A program that is forked is a process like one that is started: same output, exit code, files and signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from tests.servers import programs
from tests.servers.postgres import is_alive

pytestmark = pytest.mark.slow

SCRIPTS = {
    "where it is": "import os, sys; print(sys.argv, os.getcwd(), sys.path[0], sorted(os.environ), __name__)",
    "what it is given": "import sys; print(sys.stdin.read()[::-1])",
    "an exit code": "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)",
    "a message as exit code": "import sys; sys.exit('no')",
    "handlers and threads": (
        "import atexit, threading, time\natexit.register(print, 'last')\n"
        "threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()\nprint('main')"
    ),
    "a death": "import os, signal; print('x', flush=True); os.kill(os.getpid(), signal.SIGKILL)",
    "an interrupt": "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
    "warnings": "import warnings; warnings.warn('w', UserWarning)",
}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("options", [(), ("-W", "error")], ids=["plain", "warnings-are-errors"])
def test_a_forked_program_does_what_a_started_one_does(tmp_path: Path, name: str, options: tuple[str, ...]) -> None:
    (tmp_path / "script.py").write_text(SCRIPTS[name])
    environment = {"PATH": "/usr/bin", "A": "b", "LC_ALL": "C.UTF-8", **programs.LOOSE}
    for words in (["script.py", "a"], ["-m", "script", "b"]):
        command = [sys.executable, *options, *words]
        real = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, input="given",
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # a shell's background ignores it
        )  # fmt: skip
        forked = programs.run(command, cwd=tmp_path, env=environment, given="given")
        assert (forked.returncode, forked.stdout) == (real.returncode, real.stdout)
        assert forked.stderr.splitlines()[-1:] == real.stderr.splitlines()[-1:]


def test_detent_is_started_as_a_user_would_start_it(tmp_path: Path) -> None:
    installed = str(Path(sys.executable).with_name("detent"))
    real = subprocess.run([installed, "--version"], capture_output=True, text=True, check=True)
    forked = programs.run([sys.executable, "-m", "detent", "--version"], cwd=tmp_path)
    assert (forked.returncode, forked.stdout, forked.stderr) == (0, real.stdout, "")


def test_a_program_is_told_to_end_and_waited_for_by_two_threads(tmp_path: Path) -> None:
    (tmp_path / "stays.py").write_text("import time\nprint('up', flush=True)\ntime.sleep(3600)")
    process = programs.Process([sys.executable, "stays.py"], cwd=tmp_path, stdout=programs.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    with pytest.raises(programs.TimeoutExpired):
        process.wait(0.01)
    beside = threading.Thread(target=process.wait)
    beside.start()
    process.terminate()
    assert process.wait(60) == -signal.SIGTERM
    beside.join(60)
    assert not beside.is_alive()
    process.stdout.close()


def test_no_program_outlives_the_process_that_started_it(tmp_path: Path) -> None:
    (tmp_path / "stays.py").write_text("import time\ntime.sleep(3600)")
    starter = (
        f"import os, sys\nsys.path.insert(0, {str(Path(__file__).parents[2])!r})\nfrom tests.servers import programs\n"
        "print(programs.Process([sys.executable, 'stays.py'], start_new_session=True).pid, flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", starter], cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=False)
    waited = threading.Event()
    for _ in range(600):
        if not is_alive(int(done.stdout)):
            break
        waited.wait(0.1)
    assert not is_alive(int(done.stdout))
    assert os.getpid() != int(done.stdout)


def test_a_program_has_the_detent_of_these_tests() -> None:
    done = programs.run([sys.executable, "-c", "import detent; print(detent.__file__)"], timeout=60)
    assert Path(done.stdout.strip()).parents[1] == Path(__file__).parents[2]
