"""Documents as a Detent answers them, for tests that answer in its place: the examples of OpenAPI, with changes."""

from __future__ import annotations

from typing import Any

from detent.api.openapi import examples


def run(status: str = "completed", **changes: Any) -> dict[str, Any]:
    """The document of run_1 of `order`, which has no steps."""
    plain: dict[str, Any] = {
        "id": "run_1",
        "workflow_id": "wf_1",
        "workflow": "order",
        "status": status,
        "error": None,
        "tasks": {},
    }
    return {**examples.RUN, **plain, **changes}


def step(status: str, **changes: Any) -> dict[str, Any]:
    """The document of a step."""
    return {**examples.RUN["tasks"]["charge"], "status": status, **changes}


def entry(seq: int, kind: str = "ended", **changes: Any) -> dict[str, Any]:
    """The document of a journal entry."""
    plain = {name: value for name, value in examples.TIMELINE_ENTRY.items() if name not in ("run_id", "workflow")}
    return {**plain, "seq": seq, "kind": kind, "step": f"s{seq}", **changes}


def workflow(**changes: Any) -> dict[str, Any]:
    """The document of the workflow `order`."""
    return {**examples.WORKFLOW, "id": "wf_1", "name": "order", **changes}


def started(**changes: Any) -> dict[str, Any]:
    """The document of run_1 as it was started."""
    return {**examples.STARTED, "run_id": "run_1", "workflow_id": "wf_1", **changes}
