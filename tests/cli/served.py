"""A server with some workflows, and commands that talk to it as a person would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.program import detent

ECHO = "name: echo\nlabels: {team: shop}\ntasks:\n  a: {action: core.echo, with: {x: '{{trigger.body.x ?? 0}}'}}\n"
FAIL = """\
name: fail
tasks:
  good: {action: core.echo, with: {x: 1}}
  bad: {needs: [good], action: core.fail, with: {message: no money left}}
"""
WAIT = """\
name: approval
tasks:
  ask: {wait_for_webhook: {timeout: 1h}}
  ship: {needs: [ask], action: core.echo}
  bill: {needs: [ship], action: core.echo}
"""
NAP = "name: nap\ntasks:\n  a: {sleep: 1h}\n"
FILES = {"echo": ECHO, "fail": FAIL, "approval": WAIT, "nap": NAP}


class Served:
    """A server with some workflows, and commands that talk to it."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url

    def says(self, *arguments: str, code: int = 0, given: str | None = None) -> str:
        done = detent(self.folder, *arguments, "--url", self.url, given=given)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stdout + done.stderr

    def tells(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.says(*arguments, "--json", code=code))
