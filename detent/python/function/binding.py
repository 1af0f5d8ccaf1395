"""What a durable function says to start another run, or itself again: the name of a workflow and what it takes.

Both are checked where the function says it, by the rules of every other start.
"""

from __future__ import annotations

from typing import Any

from detent.authoring.fields import Fields, Problems
from detent.authoring.steps_form import read_name
from detent.errors import InvalidInput
from detent.python.function.arguments import kept
from detent.python.function.run import Bind
from detent.python.function.workflow import FunctionWorkflow


def binder(own: FunctionWorkflow) -> Bind:
    """That of one function; null is the function itself. It raises InvalidInput."""

    def bind(workflow: Any, *args: Any, **kwargs: Any) -> tuple[str, Any]:
        workflow = own if workflow is None else workflow
        if isinstance(workflow, FunctionWorkflow):
            return workflow.name, workflow.body_of(*args, **kwargs)
        if len(args) > 1 or (args and kwargs):
            raise InvalidInput("a workflow that is no function takes one input")
        name = _name(workflow)
        return name, kept(args[0] if args else kwargs or None, f"the input of {name!r}")

    return bind


def _name(workflow: Any) -> str:
    name = workflow if isinstance(workflow, str) else getattr(workflow, "name", None)
    if not isinstance(name, str):
        raise InvalidInput(f"run.child takes a workflow or its name, not {type(workflow).__name__}")
    problems = Problems()
    read_name(Fields({"name": name}, "", problems))
    if problems.found:
        rule = "1 to 200 visible characters, no slash, no blank at its ends"
        raise InvalidInput(f"run.child: {name[:80]!r} cannot be the name of a workflow: {rule}", problems.found)
    return name
