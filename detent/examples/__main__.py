"""`python -m detent.examples`: the example service alone, until Ctrl-C."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

from detent.examples import SERVICE_PORT, SERVICE_URL
from detent.examples.service import serving_shop


async def main() -> None:
    """Serve the shop at its usual address."""
    async with serving_shop(socket.create_server(("127.0.0.1", SERVICE_PORT))):
        print(f"the example shop answers at {SERVICE_URL}", flush=True)  # noqa: T201 - it is a program
        await asyncio.Event().wait()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
