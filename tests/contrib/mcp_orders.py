"""A server of the Model Context Protocol on its input and output. It has one tool, and notes what it is asked.

    python tests/contrib/mcp_orders.py LEDGER

Until there is a file `open` beside the ledger, it answers no call of the tool. It ends with its parent.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

PARENT = os.getppid()
TOOL = {
    "name": "look_up",
    "description": "Look an order up.",
    "inputSchema": {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]},
}


def answer(method: str, asked: dict[str, Any], gate: Path) -> dict[str, Any] | None:
    """Return the result of a request, or `None` if there is no such method."""
    match method:
        case "initialize":
            server = {"name": "orders", "version": "1"}
            return {"protocolVersion": asked["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            while not gate.exists():
                if os.getppid() != PARENT:
                    sys.exit()
                time.sleep(0.02)  # noqa: TID251 - another process opens it
            return {"content": [{"type": "text", "text": f"order {asked['arguments']['order']} is on its way"}]}
        case "ping":
            return {}
    return None


def main() -> None:
    ledger = Path(sys.argv[1])
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        with ledger.open("a") as notes:
            notes.write(f"{asked['method']}\n")
        result = answer(asked["method"], asked.get("params", {}), ledger.with_name("open"))
        known = {"error": {"code": -32601, "message": "unknown"}} if result is None else {"result": result}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **known}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
