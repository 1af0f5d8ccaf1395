"""One attempt of one step, ready to be carried out: the step's parameters with every template filled in."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from detent.graph.model import StepKind
from detent.run.view import RunView


class StepCall(msgspec.Struct, frozen=True):
    """What an executor gets. The idempotency key is the same in every attempt of this step of this run. Only steps that
    are written in Python get to see their run."""

    run_id: bytes
    tenant: int
    step: str
    kind: StepKind
    attempt: int
    parameters: Any
    timeout: float | None = None
    view: RunView | None = None

    @property
    def idempotency_key(self) -> str:
        """A stable key of (tenant, run, step), sent with every effect so that a repeated one can be recognised."""
        text = b"%d\x00%b\x00%b" % (self.tenant, self.run_id, self.step.encode())
        return hashlib.sha256(text).hexdigest()[:40]
