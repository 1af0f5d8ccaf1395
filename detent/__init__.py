"""Detent: a durable workflow engine for Python teams.

    from detent import Client, action

What users write against is named here, and loaded when it is asked for, so that `import detent` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detent.client.async_client import AsyncClient
    from detent.client.client import Client
    from detent.steps.actions import ActionContext, ActionError, Permanent, RetryLater, action

__version__ = "0.1.0"
__all__ = [
    "ActionContext",
    "ActionError",
    "AsyncClient",
    "Client",
    "Permanent",
    "RetryLater",
    "__version__",
    "action",
]

_HOMES = {"AsyncClient": "detent.client.async_client", "Client": "detent.client.client"}


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_HOMES.get(name, "detent.steps.actions")), name)
    raise AttributeError(f"module 'detent' has no attribute {name!r}")
