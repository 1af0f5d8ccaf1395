"""The action types of rules: what an editor offers beside the actions of the catalog.

Each has a JSON Schema of its config. A missing `action_type` is inferred from the config: it is the one type that has
all of its keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from detent.forms.kinds import METHODS, Early, Large

Schema = dict[str, Any]

_TEMPLATE: Final = "{{ fields }} of the record may be in it"


class Severity(StrEnum):
    """How much an alert matters."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class ActionType:
    """A type of actions. `action` is what it is in a graph; `None` for a condition and a child workflow.

    `config` is the JSON Schema of its config. `renamed` has the names of its parameters in the graph that differ from
    those in the config. `is_boolean`: its output is true or false, so it can have branches."""

    name: str
    title: str
    description: str
    config: Schema
    action: str | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    is_boolean: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys that its config may have."""
        return tuple(self.config["properties"])

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(self.config.get("required", ()))


def _text(description: str, **rest: Any) -> Schema:
    return {"description": description, "type": "string", "minLength": 1, **rest}


def _config(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    names = {name.rstrip("_"): schema for name, schema in properties.items()}
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": names, **needed, "additionalProperties": False}


def _addresses(description: str, **rest: Any) -> Schema:
    return {
        "description": description,
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string", "minLength": 1}, **rest},
        ],
    }


_DURATION: Final = "a number of seconds, or a duration such as 15m"

SEND_EMAIL: Final = ActionType(
    "send_email",
    "Send an e-mail",
    "Sends a message over SMTP to all of its recipients, or to none. The connection CONNECTOR_EMAIL_URL is the server.",
    _config(
        ("recipients", "subject", "body"),
        recipients=_addresses(f"The addresses, a list or one text; {_TEMPLATE}.", minItems=1),
        subject=_text(f"The subject; {_TEMPLATE}.", maxLength=500),
        body=_text(f"The text of the message; {_TEMPLATE}."),
        html=_text("The same message in HTML."),
        cc=_addresses("Further addresses that everyone sees."),
        bcc=_addresses("Further addresses that no recipient sees."),
        reply_to=_addresses("Where an answer goes."),
        from_=_text("The sender, if it is not that of the connection."),
        attachments={"description": "Files: name, content or base64, content_type.", "type": ["array", "string"]},
        connection=_text("The name of the connection.", default="email"),
    ),
    action="email.send",
    renamed={"to": "recipients", "text": "body"},
)
CREATE_ALERT: Final = ActionType(
    "create_alert",
    "Create an alert",
    "Adds an alert to the list of alerts, where people acknowledge and resolve it.",
    _config(
        ("alert_type", "severity", "title", "message"),
        alert_type=_text("What sort of alert it is, a word of yours such as order_shipped.", maxLength=200),
        severity={
            "description": "How much it matters.",
            "anyOf": [{"enum": list(Severity)}, {"type": "string", "pattern": r"\{\{"}],
        },
        title=_text(f"One line; {_TEMPLATE}.", maxLength=200),
        message=_text(f"The text; {_TEMPLATE}.", maxLength=10_000),
    ),
    action="core.alert",
)
CONDITION: Final = ActionType(
    "condition",
    "Check a condition",
    "Answers true or false at once. Its true and false branches lead on.",
    _config(
        expression={
            "description": "A condition of the expression language, such as total > 100.",
            "type": ["string", "boolean"],
        },
        field_conditions={
            "description": "Conditions on fields, as in trigger_conditions, instead of an expression.",
            "type": "array",
        },
        match={"description": "Whether all of the field conditions must be true, or any.", "enum": ["all", "any"]},
    ),
    is_boolean=True,
)
DELAY: Final = ActionType(
    "delay",
    "Wait some time",
    "Sleeps. A sleeping run costs no memory, however long it lasts.",
    _config(
        seconds={"description": "How long, a number of seconds.", "type": ["number", "string"]},
        duration={"description": f"How long: {_DURATION}.", "type": ["string", "number"]},
    ),
    action="core.delay",
)
WAIT: Final = ActionType(
    "wait",
    "Wait for a callback",
    "Waits for a request to the URL that {{ wait.STEP.url }} has, for example an approval.",
    _config(
        timeout={"description": f"How long at most: {_DURATION}.", "type": ["string", "number"]},
        early={"description": "What a request becomes that is too early.", "enum": list(Early)},
        title=_text(f"What its page asks, one line; {_TEMPLATE}.", maxLength=200),
        text=_text(f"The text of its page; {_TEMPLATE}.", maxLength=4_000),
        data={"description": f"What its page shows, any JSON; {_TEMPLATE}."},
        schema={"description": "A JSON Schema. A body that does not fit it is refused.", "type": "object"},
        form={"description": "A JSON Schema whose form the page shows.", "type": "object"},
        buttons={"description": "The buttons of its page, each with a label and the body that it sends."},
        page={"description": "Whether the address shows a page.", "type": "boolean"},
    ),
    action="core.wait",
)
APPROVAL: Final = ActionType(
    "approval",
    "Ask people to approve",
    "Waits until people approve or reject in the inbox. Its output says who decided, and what.",
    _config(
        ("title",),
        title=_text(f"What is to be approved, one line; {_TEMPLATE}.", maxLength=200),
        text=_text(f"The text; {_TEMPLATE}.", maxLength=4_000),
        data={"description": f"What exactly is approved, any JSON; {_TEMPLATE}."},
        form={"description": "A JSON Schema of what they fill in.", "type": "object"},
        assignees={"description": "Who may decide: ids, e-mail addresses, role:NAME. Everyone without it."},
        quorum={"description": "How many people must approve.", "type": "integer", "minimum": 1, "maximum": 20},
        not_by={"description": "Who may not decide.", "enum": ["starter"]},
        by_link={"description": "Whether the address decides too, although there are assignees.", "type": "boolean"},
        remind={"description": "Reminders: {every: 1d, max: 3}.", "type": "object"},
        escalate={"description": "Who else may decide after some time: {after: 2d, to: [...]}.", "type": "object"},
        timeout={"description": f"How long at most: {_DURATION}.", "type": ["string", "number"]},
        on_timeout={"description": "What the end of its time becomes.", "enum": ["fail", "approve", "reject"]},
    ),
    action="core.approval",
)
CALL: Final = ActionType(
    "call",
    "Call a URL",
    "Sends an HTTP request. Its output is the body of the answer.",
    _config(
        ("url",),
        url=_text(f"The address; {_TEMPLATE}."),
        method={"description": "The method.", "enum": list(METHODS), "default": "POST"},
        headers={"description": "Headers by name.", "type": "object"},
        body={"description": f"The body, any JSON; {_TEMPLATE}."},
        acting_user_headers={"description": "Whether it names the user it acts for.", "type": "boolean"},
        parts={"description": "The parts of a form by name, instead of a body; blobs are files.", "type": "object"},
        large={"description": "What becomes of a response over 256 KB.", "enum": list(Large)},
    ),
    action="core.http.request",
)
START_WORKFLOW: Final = ActionType(
    "start_workflow",
    "Start a workflow",
    "Starts another workflow as a child, and waits for its end unless `wait` is false.",
    _config(
        ("workflow",),
        workflow=_text("The name of the workflow.", maxLength=200),
        input={"description": f"The body that it begins with; {_TEMPLATE}.", "type": "object"},
        version={"description": "Its version; without it the current one.", "type": "integer", "minimum": 1},
        wait={"description": "Whether the action ends when the child ends.", "type": "boolean", "default": True},
        allow_recursion={"description": "Whether the child may be a workflow above it.", "type": "boolean"},
    ),
)

#: Every type that is not an action of the catalog.
ACTION_TYPES: Final[Mapping[str, ActionType]] = {
    one.name: one for one in (SEND_EMAIL, CREATE_ALERT, CONDITION, DELAY, WAIT, APPROVAL, CALL, START_WORKFLOW)
}


def infer_type(config: Mapping[str, Any]) -> ActionType | None:
    """Return the type that a config without a type can only be, or `None`.

    That is the only type that has all of its keys. Of several it is the only one whose required keys are all there."""
    keys = {key for key, value in config.items() if value is not None}
    fitting = [one for one in ACTION_TYPES.values() if keys and keys.issubset(one.keys)]
    if len(fitting) > 1:
        complete = [one for one in fitting if keys.issuperset(one.required)]
        fitting = [one for one in complete if one.required] or complete
    return fitting[0] if len(fitting) == 1 else None
