"""The action `core.template.render`: a document of a template and answers.

Steps know no store. The app passes a `TemplatePort` to the executor, and sets its `render` before its engine starts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from detent.errors import InvalidInput, RenderFailed, TemplateNotFound
from detent.steps.action_context import ActionContext
from detent.steps.actions import CORE, Registry
from detent.steps.errors import InvalidParameters, Permanent

#: The codes of a step whose template does not exist, and of one whose document cannot be rendered.
NOT_FOUND: Final = "WFENG004"
FAILED: Final = "render_failed"
_NAME: Final = "core.template.render"


class DocumentRequest(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The parameters of the action. Without a version the newest one that is enabled is rendered."""

    template_set_id: str
    template_id: str
    version: int | None = None
    answers: dict[str, Any] = {}
    extras: dict[str, Any] = {}


class RenderedDocument(msgspec.Struct, frozen=True):
    """The output of the action."""

    body: str
    metadata: dict[str, Any]


#: Renders a document of that tenant. Raises TemplateNotFound, InvalidInput, RenderFailed or Unavailable.
Render = Callable[[int, DocumentRequest], Awaitable[RenderedDocument]]


class TemplatePort:
    """What the action asks of the app. Without `render` the process has no document templates."""

    def __init__(self) -> None:
        self.render: Render | None = None


def core_actions(port: TemplatePort) -> Registry:
    """Return the core actions, with the one that renders documents through this port."""

    async def render_document(context: ActionContext, **parameters: Any) -> RenderedDocument:
        return await _render(port, context.tenant, parameters)

    return CORE.with_action(_NAME, render_document, effect="none", category="Document")


async def _render(port: TemplatePort, tenant: int, parameters: dict[str, Any]) -> RenderedDocument:
    try:
        request = msgspec.convert(parameters, DocumentRequest)
    except msgspec.ValidationError as error:
        raise InvalidParameters(str(error)) from None
    if port.render is None:
        raise Permanent("there are no document templates here; a test states the result of this step", code=NOT_FOUND)
    try:
        return await port.render(tenant, request)
    except TemplateNotFound as error:
        raise Permanent(f"TEMPLATE_NOT_FOUND: {error.message}", code=NOT_FOUND) from None
    except RenderFailed as error:
        raise Permanent(_said(error), code=FAILED) from None
    except InvalidInput as error:
        raise InvalidParameters(_said(error)) from None


def _said(error: InvalidInput) -> str:
    return "; ".join([error.message, *map(str, error.problems)])
