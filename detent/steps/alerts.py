"""The action `core.alert`: adds an alert to the list that people look at.

Steps know no store. The app passes an `AlertPort` to the executor, and sets its `raise_alert` before its engine starts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final

import msgspec

from detent.forms.rules.action_types import Severity
from detent.steps.action_context import ActionContext
from detent.steps.actions import Registry
from detent.steps.errors import InvalidParameters

_NAME: Final = "core.alert"
_Line = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class AlertRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters of the action. `context` is data for people and programs that look at the alert."""

    alert_type: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    severity: Severity
    title: _Line
    message: Annotated[str, msgspec.Meta(min_length=1, max_length=10_000)]
    context: dict[str, Any] | None = None


class RaisedAlert(msgspec.Struct, frozen=True):
    """The output of the action. `alert_id` is that of the first attempt that raised it."""

    alert_id: str | None
    severity: str
    title: str


#: Adds the alert of a step of a run, once, and returns its id.
RaiseAlert = Callable[[ActionContext, AlertRequest], Awaitable[str]]


class AlertPort:
    """What the action asks of the app. Without `raise_alert`, as in tests, no alert is stored."""

    def __init__(self) -> None:
        self.raise_alert: RaiseAlert | None = None


def with_alerts(core: Registry, port: AlertPort) -> Registry:
    """Return the core actions with the one that raises alerts through this port."""

    async def raise_alert(context: ActionContext, **parameters: Any) -> RaisedAlert:
        try:
            request = msgspec.convert(parameters, AlertRequest)
        except msgspec.ValidationError as error:
            raise InvalidParameters(str(error)) from None
        id_ = None if port.raise_alert is None else await port.raise_alert(context, request)
        return RaisedAlert(id_, str(request.severity), request.title)

    return core.with_action(_NAME, raise_alert, effect="idempotent", category="Alert")
