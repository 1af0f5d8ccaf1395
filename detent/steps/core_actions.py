"""The actions every node has."""

from __future__ import annotations

from typing import Any, Final

from detent.steps.actions import ActionError, Permanent, Registry

CORE: Final = Registry(is_core=True)


@CORE.action("core.echo", inline=True)
def echo(**parameters: Any) -> dict[str, Any]:
    """Give back the parameters."""
    return parameters


@CORE.action("core.fail", inline=True)
def fail(message: str = "failed on purpose", code: str = "failed", retry: bool = False) -> Any:
    """Fail with this message and code; with `retry`, as a failure that another attempt could mend."""
    raise (ActionError if retry else Permanent)(message, code=code)
