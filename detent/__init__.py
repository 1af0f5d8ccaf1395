"""Detent: a durable workflow engine for Python teams.

    from detent import action

What users write against is named here, and loaded when it is asked for, so that `import detent` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detent.steps.actions import ActionContext, ActionError, Permanent, RetryLater, action

__version__ = "0.1.0"
__all__ = ["ActionContext", "ActionError", "Permanent", "RetryLater", "__version__", "action"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("detent.steps.actions"), name)
    raise AttributeError(f"module 'detent' has no attribute {name!r}")
