"""What waits ask: the fields of `wait_for_webhook` and of `approve`, read into the ask of a wait (`graph/ask.py`).

Title, text, data and people may be templates. Schemas and buttons are constant, so that they are checked at save.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from detent.forms.payload_schema import PayloadSchema, check_schema
from detent.forms.templates import Read, template_reads
from detent.graph.ask import (
    ASK,
    BECOMES,
    FAILS,
    LARGEST_ASK,
    LONGEST_TEXT,
    LONGEST_TITLE,
    MOST_ASSIGNEES,
    MOST_BUTTONS,
    MOST_QUORUM,
    MOST_REMINDERS,
    STARTER,
)
from detent.graph.model import Step
from detent.values.durations import SECONDS, write_duration
from detent.values.fields import Fields

LARGEST_FORM: Final = 16 * 1024
_LONGEST_LABEL: Final = 80
_LONGEST_PERSON: Final = 200
_SHORTEST_REMINDER: Final = 60.0
WAIT_ASK_FIELDS: Final = ("title", "text", "data", "schema", "form", "buttons", "page")
_APPROVAL_ONLY: Final = ("assignees", "quorum", "not_by", "by_link", "remind", "escalate", "on_timeout")
APPROVAL_FIELDS: Final = ("title", "text", "data", "form", "timeout", *_APPROVAL_ONLY)


def read_wait_ask(fields: Fields) -> tuple[dict[str, Any], list[Read]]:
    """Read what a wait for a webhook asks. It is empty if the wait accepts anything and has no page of its own."""
    ask = _read_shown(fields)
    reads = _read_templates(fields, ask)
    schema = _read_schema(fields, "schema")
    if schema is not None and "schema" in ask:
        fields.problems.add(fields.at("schema"), "a form is checked by its own schema; write one of form and schema")
    elif schema is not None:
        ask["schema"] = schema
    buttons = _read_buttons(fields, ask.get("schema"))
    if buttons:
        ask["buttons"] = buttons
    if buttons and ask.get("is_form"):
        fields.problems.add(fields.at("buttons"), "a form has its own button; write one of form and buttons")
    if not fields.boolean("page", True):
        ask["page"] = False
        for name in fields.written(("form", "buttons")):
            fields.problems.add(fields.at(name), "is shown on the page, and with page: false there is none")
    return ask, reads


def read_approval(fields: Fields) -> tuple[dict[str, Any], list[Read]]:
    """Read the config of an approval, and what its templates read."""
    config = read_approval_values(fields)
    return config, _read_templates(fields, config[ASK])


def read_approval_values(fields: Fields) -> dict[str, Any]:
    """Read the config of an approval whose texts and data are values: braces in them are not templates."""
    fields.refuse_unknown(APPROVAL_FIELDS)
    if fields.get("title") is None:
        fields.problems.add(fields.at("title"), "is missing: one line that says what is to be approved")
    ask: dict[str, Any] = {"is_approval": True, **_read_shown(fields)}
    ask["assignees"] = _read_people(fields, "assignees")
    if fields.get("assignees") == []:
        message = "is empty, so everyone could decide; name a person or role:NAME, or leave it out"
        fields.problems.add(fields.at("assignees"), message)
    quorum = fields.integer("quorum", least=1, most=MOST_QUORUM)
    if quorum is not None and quorum > 1:
        ask["quorum"] = quorum
    if fields.get("not_by") not in (None, STARTER):
        fields.wrong("not_by", f"{STARTER!r}")
    elif fields.get("not_by") is not None:
        ask["not_by"] = STARTER
    if fields.boolean("by_link", False):
        ask["by_link"] = True
        if quorum is not None and quorum > 1:
            message = "a link does not say who decides, so it cannot count several people; leave quorum or by_link out"
            fields.problems.add(fields.at("by_link"), message)
    _read_reminders(fields, ask)
    timeout = fields.duration("timeout", unit=SECONDS, zero=False)
    _read_on_timeout(fields, ask, timeout)
    return {"timeout": timeout, "early": "reject", ASK: {name: value for name, value in ask.items() if value != []}}


def _read_templates(fields: Fields, ask: Mapping[str, Any]) -> list[Read]:
    """Return what the templates of an ask read."""
    reads: list[Read] = []
    for name in ("title", "text", "data", "assignees"):
        if name in ask:
            reads += template_reads(ask[name], fields.at(name), fields.problems)
    if "to" in ask:
        reads += template_reads(ask["to"], f"{fields.at('escalate')}.to", fields.problems)
    return reads


def _read_shown(fields: Fields) -> dict[str, Any]:
    ask: dict[str, Any] = {}
    for name, most in (("title", LONGEST_TITLE), ("text", LONGEST_TEXT)):
        text = fields.text(name, most=most, lines=name == "text")
        if text is not None:
            ask[name] = text
    if fields.get("data") is not None:
        ask["data"] = fields.get("data")
        shown = json.dumps(ask["data"], ensure_ascii=False, default=str)
        if len(shown.encode("utf-8", "surrogatepass")) > LARGEST_ASK:
            fields.problems.add(fields.at("data"), f"has more than {LARGEST_ASK} bytes")
    form = _read_schema(fields, "form")
    if form is not None:
        ask |= {"schema": form, "is_form": True}
        if form.get("type") != "object" or not isinstance(form.get("properties"), dict):
            message = "a form is a JSON Schema of an object: {type: object, properties: {reason: {type: string}}}"
            fields.problems.add(fields.at("form"), message)
    return ask


def _read_schema(fields: Fields, name: str) -> dict[str, Any] | None:
    schema = fields.mapping(name)
    if schema is None:
        return None
    size = len(json.dumps(schema, ensure_ascii=False, default=str).encode())
    if size > LARGEST_FORM:
        fields.problems.add(fields.at(name), f"has {size} bytes; at most {LARGEST_FORM} are allowed")
        return None
    if "{{" in json.dumps(schema):
        fields.problems.add(fields.at(name), "cannot have templates: it is checked at save")
        return None
    found = check_schema(schema, fields.at(name))
    for problem in found:
        fields.problems.add(problem.field, problem.message)
    return None if found else schema


def _read_buttons(fields: Fields, schema: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    value = fields.get("buttons")
    if value is None:
        return []
    if not isinstance(value, list) or not value:
        fields.wrong("buttons", "a list such as [{label: Approve, body: {approved: true}}]")
        return []
    if len(value) > MOST_BUTTONS:
        fields.problems.add(fields.at("buttons"), f"has {len(value)} buttons; at most {MOST_BUTTONS} are allowed")
        return []
    found = []
    for number, raw in enumerate(value):
        path = f"{fields.at('buttons')}[{number}]"
        if not isinstance(raw, dict):
            fields.problems.add(path, "a button is a mapping with label and body")
            continue
        one = Fields(raw, path, fields.problems)
        one.refuse_unknown(("label", "body"))
        label = one.text("label", most=_LONGEST_LABEL)
        if label is None and raw.get("label") is None:
            one.problems.add(one.at("label"), "is missing: the words on the button")
        found.append({"label": label or "", "body": raw.get("body")})
        if schema is not None:
            for problem in PayloadSchema(schema).problems(raw.get("body")):
                one.problems.add(one.at("body"), f"does not fit the schema: {problem.field} {problem.message}")
        if "{{" in json.dumps(raw, default=str):
            one.problems.add(path, "cannot have templates: what a button sends is checked at save")
    return found


def _read_people(fields: Fields, name: str) -> list[str]:
    """Read a person, or a list of people: an id, an e-mail address, `role:NAME`, or a template."""
    value = fields.get(name)
    if value is None:
        return []
    people = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) and one.strip() and len(one) <= _LONGEST_PERSON for one in people):
        fields.wrong(name, "a list of ids, e-mail addresses or roles, such as [ada@example.com, role:editor]")
        return []
    if len(people) > MOST_ASSIGNEES:
        fields.problems.add(fields.at(name), f"has {len(people)} people; at most {MOST_ASSIGNEES} are allowed")
    return list(people)


def _read_reminders(fields: Fields, ask: dict[str, Any]) -> None:
    remind, escalate = fields.mapping("remind"), fields.mapping("escalate")
    if remind is not None:
        one = Fields(remind, fields.at("remind"), fields.problems)
        one.refuse_unknown(("every", "max"))
        every = one.duration("every", unit=SECONDS, zero=False)
        if one.get("every") is None:
            one.problems.add(one.at("every"), 'is missing: how long between two reminders, such as "1d"')
        elif every is not None and every < _SHORTEST_REMINDER:
            one.problems.add(one.at("every"), f"must be at least {_SHORTEST_REMINDER:g} s, not {every:g} s")
        ask["every"] = every
        ask["most"] = one.integer("max", least=1, most=MOST_REMINDERS) or 1
    if escalate is not None:
        one = Fields(escalate, fields.at("escalate"), fields.problems)
        one.refuse_unknown(("after", "to"))
        ask["after"] = one.duration("after", unit=SECONDS, zero=False)
        if one.get("after") is None:
            one.problems.add(one.at("after"), 'is missing: when others may decide too, such as "2d"')
        ask["to"] = _read_people(one, "to")
        if not ask["to"]:
            one.problems.add(one.at("to"), "is missing: who may decide then too")
        if not ask["assignees"]:
            fields.problems.add(fields.at("escalate"), "has no meaning without assignees: everyone may decide already")


def _read_on_timeout(fields: Fields, ask: dict[str, Any], timeout: float | None) -> None:
    becomes = fields.get("on_timeout")
    if becomes is None:
        return
    if becomes not in BECOMES:
        fields.wrong("on_timeout", f"one of {', '.join(BECOMES)}")
    elif becomes != FAILS:
        ask["on_timeout"] = becomes
        if timeout is None and fields.get("timeout") is None:
            fields.problems.add(fields.at("on_timeout"), "has no meaning without a timeout")


# The same fields, written back from a step.


def is_approval(step: Step) -> bool:
    """Return whether a wait is an approval."""
    return bool(step.config.get(ASK, {}).get("is_approval"))


def written_ask(step: Step) -> dict[str, Any]:
    """Return the fields of what a wait asks, as every form writes them. Its timeout is not among them."""
    ask = step.config.get(ASK, {})
    fields: dict[str, Any] = {name: ask[name] for name in ("title", "text", "data", "not_by", "by_link") if name in ask}
    if "schema" in ask:
        fields["form" if ask.get("is_form") else "schema"] = ask["schema"]
    for name in ("buttons", "page", "assignees", "quorum", "on_timeout"):
        if name in ask:
            fields[name] = ask[name]
    if ask.get("every") is not None:
        fields["remind"] = {"every": write_duration(ask["every"]), "max": ask["most"]}
    if ask.get("after") is not None:
        fields["escalate"] = {"after": write_duration(ask["after"]), "to": ask["to"]}
    return fields
