"""`detent runs signal`, against a server that has a durable function."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import detent, started

pytestmark = pytest.mark.slow

FUNCTION = """\
from detent.python.functions import Run, workflow


@workflow
async def waits(run: Run) -> object:
    return await run.signal("paid")
"""


def test_a_signal_reaches_the_function_that_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "waiting.py").write_text(FUNCTION)
    variables = {"PYTHONPATH": f"{Path(__file__).parents[2]}:{tmp_path}"}
    with started(tmp_path, "serve", "--port", "0", "--import", "waiting", **variables) as server:
        url = server.wait_for(r"answers at (http://\S+)")[1]
        run = detent(tmp_path, "trigger", "waits", "--url", url).stdout.strip()
        assert "JSON" in detent(tmp_path, "runs", "signal", run, "paid", "--data", "{", "--url", url).stderr
        sent = detent(tmp_path, "runs", "signal", run, "paid", "--data", '{"sum": 5}', "--url", url)
        assert (sent.returncode, sent.stdout.strip()) == (0, "sent paid")
        told = detent(tmp_path, "logs", run, "--follow", "--url", url)
        assert "run completed" in told.stdout
        assert '"sum": 5' in detent(tmp_path, "runs", "show", run, "--json", "--url", url).stdout
        refused = detent(tmp_path, "runs", "signal", "run_nobody", "paid", "--url", url)
        assert refused.returncode == 1
