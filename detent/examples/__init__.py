"""Example workflows, and the small service that they call. `detent dev` runs them.

The service listens on loopback only and needs nothing from outside; `python -m detent.examples` starts it alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

SERVICE_PORT: Final = 8181
#: The URL of the service in the workflow files.
SERVICE_URL: Final = f"http://127.0.0.1:{SERVICE_PORT}"


@dataclass(frozen=True, slots=True)
class Example:
    """A workflow file and what `detent dev` starts it with."""

    name: str
    inputs: tuple[dict[str, Any], ...]

    @property
    def filename(self) -> str:
        return f"{self.name}.yaml"

    def text(self, service_url: str = SERVICE_URL) -> str:
        """Return the definition, with the service at that address."""
        written = files(__package__).joinpath(self.filename).read_text(encoding="utf-8")
        return written.replace(SERVICE_URL, service_url)


EXAMPLES: Final = (
    Example("hello", ({"name": "world"},)),
    Example("order-processing", ({"order_id": 123}, {"order_id": 402})),
    Example("trial-expiry", ({"user_id": 7},)),
    Example("checkout-flow", ({"order_id": 124, "amount": 42.5},)),
)
