"""Documents of the graph form: the five workflows of `tests/forms/documents/`, and a builder for small ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "documents"
MONDAY_STATUS: Final = (FOLDER / "get-monday-status.json").read_text()
ONBOARD_PROJECT: Final = (FOLDER / "onboard-project.json").read_text()
FANOUT_FANIN: Final = (FOLDER / "fanout-fanin.json").read_text()
PARENT_WORKFLOW: Final = (FOLDER / "parent-workflow.json").read_text()
RETRY_DEMO: Final = (FOLDER / "retry-demo.json").read_text()
#: The actions that these workflows call beside core.echo.
STAND_INS: Final = ("monday.get-items", "slack.post-message", "confluence.create-page")


def node(id_: str, *edges: Any, **fields: Any) -> dict[str, Any]:
    """A node that echoes. An edge may be given as the id of its target."""
    written = [{"targetNode": edge} if isinstance(edge, str) else edge for edge in edges]
    work = {} if "actionType" in fields or "nodeType" in fields else {"actionType": "core.echo"}
    return {"id": id_, **work, **fields, **({"edges": written} if written else {})}


def edge(target: str, when: str | None = None, condition: str | None = None, **fields: Any) -> dict[str, Any]:
    given = {"when": when, "condition": condition, **fields}
    return {"targetNode": target, **{key: value for key, value in given.items() if value is not None}}


def document(*nodes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A workflow that begins with its first node."""
    starts = {} if "startNodes" in fields else {"startNode": nodes[0]["id"]}
    return {"id": "orders", "displayName": "Orders", **starts, "nodes": list(nodes), **fields}
