"""What an editor sends of a rule, and the document that it becomes. Everything here is pure.

A request names new actions by `temp:N`, their place in `actions`, or by a key of its own. The document names every
action by its id. An action that the rule has already keeps its id, its step and its type.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final, NamedTuple

from detent.errors import Problem
from detent.forms.rules.action import step_names
from detent.forms.rules.action_types import infer_type
from detent.ids import ACTION, EDGE, InvalidId, parse, show
from detent.store.rule_rows import MOST_POSITIONS
from detent.values.fields import described, shown

#: Fields of an answer that a request may send back. They are not read.
READ_ONLY: Final = frozenset(
    {"id", "version", "status", "created_date", "updated_date", "created_by", "updated_by", "warnings", "conditions"}
)
#: The fields of a stored document that come first, in this order. The others follow as they were sent.
_ORDER: Final = (
    *("form", "key", "name", "description", "is_active", "entity", "trigger_type", "cron_expression", "timezone"),
    *("trigger_conditions", "actions", "edges"),
)
_ACTION_ORDER: Final = ("id", "step", "name", "description", "action_type", "action_config", "execution_order")
_EDGE_ORDER: Final = ("id", "source_action_id", "target_action_id", "edge_type", "edge_order")
_SPELLINGS: Final = {"entity_id": "entity", "trigger_type_id": "trigger_type"}
_TEMPORARY: Final = re.compile(r"temp:([0-9]{1,9})")
#: How many bytes the layout of a rule may have.
LARGEST_LAYOUT: Final = 512 * 1024

NewId = Callable[[], bytes]


class RuleAction(NamedTuple):
    """An action that a rule has, or had in an older version."""

    id: str
    step: str
    action_type: str | None


@dataclass(frozen=True, slots=True)
class RuleActions:
    """A rule before a save: its key, the actions of its current version, and all those that it ever had."""

    key: str
    actions: Mapping[str, RuleAction] = field(default_factory=dict)
    current: frozenset[str] = frozenset()

    @classmethod
    def of(cls, key: str, document: Mapping[str, Any], older: Iterable[Mapping[str, Any]] = ()) -> RuleActions:
        """Build it from the document of the current version and those of older ones, newest first."""
        now = known_actions(document)
        every = dict(now)
        for one in older:
            every = {**known_actions(one), **every}
        return cls(key, every, frozenset(now))


@dataclass(slots=True)
class RuleRequest:
    """A request after its names were resolved. `problems` are those that a compiler of the document cannot find.

    `names` has the id of every name of an action: `temp:N`, a key, a step or the id itself."""

    document: dict[str, Any]
    layout: dict[str, Any] | None
    names: dict[str, str]
    problems: list[Problem]


def is_action_id(text: str) -> bool:
    """Return whether a text is an id that Detent made for an action."""
    try:
        return bool(parse(ACTION, text))
    except InvalidId:
        return False


def known_actions(document: Mapping[str, Any]) -> dict[str, RuleAction]:
    """Return the actions of a stored document by id. The id of an action without one is its step."""
    actions = document.get("actions") or []
    steps = step_names(actions)
    made = (
        RuleAction(one.get("id") or step, step, one.get("action_type"))
        for one, step in zip(actions, steps, strict=True)
    )
    return {one.id: one for one in made}


def canonical(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored document with the id, step and type of every action, and edges that name actions by their ids."""
    known = RuleActions.of(str(document.get("key") or ""), document)
    ids = list(known.actions)
    actions = [{**with_type(one), "id": id_} for one, id_ in zip(document.get("actions") or [], ids, strict=True)]
    return resolve_rule({**document, "actions": actions}, known, lambda: b"").document


def with_type(action: dict[str, Any]) -> dict[str, Any]:
    """Return an action that names its type. One that was written without a type has the one that its config fits."""
    if action.get("action_type") is not None:
        return action
    found = infer_type(action.get("action_config") or {})
    return action if found is None else {**action, "action_type": found.name}


def resolve_rule(body: Mapping[str, Any], known: RuleActions | None, new_id: NewId) -> RuleRequest:
    """Return the document of a request. `known` is the rule that it replaces, `None` for a new one.

    A name that cannot be resolved stays as it was written, so that the compiler reports it with its place."""
    problems: list[Problem] = []
    document = {name: value for name, value in body.items() if name not in READ_ONLY and value is not None}
    layout = document.pop("canvas_layout", None)
    if document.get("description") == "":
        del document["description"]
    names: dict[str, str] = {}
    actions = document.get("actions")
    count = len(actions) if isinstance(actions, list) else 0
    if isinstance(actions, list):
        document["actions"] = _resolve_actions(actions, known, new_id, names, problems)
    edges = document.get("edges")
    if isinstance(edges, list):
        document["edges"] = [_resolve_edge(one, names, count) for one in edges]
    if known is not None and document.get("key") not in (None, known.key):
        given = document["key"]
        message = f"is {shown(str(given))}, but this is the rule {known.key!r}; a key never changes"
        problems.append(Problem("key", message))
    if known is not None:
        document["key"] = known.key
    made = None if layout is None else read_layout(layout, names, count, "canvas_layout", problems)
    return RuleRequest(_sorted({"form": "rule", **document}, _ORDER), made, names, problems)


def store_form(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document that was compiled as a version stores it: one spelling of each field."""
    return _sorted({_SPELLINGS.get(name, name): value for name, value in document.items()}, _ORDER)


def _resolve_actions(
    actions: list[Any], known: RuleActions | None, new_id: NewId, names: dict[str, str], problems: list[Problem]
) -> list[Any]:
    """Return the actions with their ids and steps. Add every name of an action to `names`."""
    first: dict[str, int] = {}
    found: list[Any] = []
    for number, raw in enumerate(actions):
        if not isinstance(raw, dict):
            found.append(raw)
            continue
        action = {"execution_order": 1, **{name: value for name, value in raw.items() if value is not None}}
        if action.get("is_active") is True:
            del action["is_active"]
        given = action.get("id")
        if not isinstance(given, str | None):
            found.append(action)  # the compiler reports it
            continue
        if given is not None and given in first:
            message = f"{shown(given)} is the id of actions[{first[given]}] already"
            problems.append(Problem(f"actions[{number}].id", message))
        elif given is not None:
            first[given] = number
        id_ = _action_id(number, given, known, new_id, problems)
        old = known.actions.get(id_) if known is not None else None
        action["id"] = id_
        if old is not None:
            _keep_facts(number, action, old, problems)
        names[f"temp:{number}"] = id_
        if given:
            names.setdefault(given, id_)
        names.setdefault(id_, id_)
        found.append(action)
    _add_steps(found, known, names)
    return [_sorted(one, _ACTION_ORDER) if isinstance(one, dict) else one for one in found]


def _action_id(
    number: int, given: str | None, known: RuleActions | None, new_id: NewId, problems: list[Problem]
) -> str:
    """Return the id of an action: its own if the rule knows it, or else a new one."""
    if given is not None and known is not None and given in known.actions:
        return given
    if given is not None and known is not None and is_action_id(given):
        message = f"this rule has no action {shown(given)}; a new action has the id null, or a key of your own"
        problems.append(Problem(f"actions[{number}].id", message))
    if given is not None and given.startswith("temp:") and given != f"temp:{number}":
        message = f"{shown(given)} is not the place of this action, which is temp:{number}; a new action needs no id"
        problems.append(Problem(f"actions[{number}].id", message))
    return show(ACTION, new_id())


def _keep_facts(number: int, action: dict[str, Any], old: RuleAction, problems: list[Problem]) -> None:
    """Let an action that exists keep its step, and its type if no other is given."""
    if action.get("step") not in (None, old.step):
        message = f"is {old.step!r} for this action; a step never changes, so that runs stay readable"
        problems.append(Problem(f"actions[{number}].step", message))
    action["step"] = old.step
    if "action_type" not in action and old.action_type is not None:
        action["action_type"] = old.action_type


def _add_steps(actions: list[Any], known: RuleActions | None, names: dict[str, str]) -> None:
    """Give each new action the name of its step. The step of an action that is removed now is not used again: a run in
    flight would take one for the other."""
    kept = {one.get("id") for one in actions if isinstance(one, dict)}
    current = known.current if known is not None else ()
    gone = [{"step": known.actions[id_].step} for id_ in current if known is not None and id_ not in kept]
    for action, step in zip(actions, step_names([*actions, *gone]), strict=False):
        if isinstance(action, dict) and isinstance(action.get("id"), str):
            action.setdefault("step", step)
            names.setdefault(step, action["id"])


def _resolve_edge(raw: Any, names: Mapping[str, str], count: int) -> Any:
    if not isinstance(raw, dict):
        return raw
    edge = {"edge_order": 0, **{name: value for name, value in raw.items() if value is not None and name != "id"}}
    for end in ("source_action_id", "target_action_id"):
        edge[end] = _resolve_name(edge.get(end) or None, names, count)
    source, target, kind = edge["source_action_id"], edge["target_action_id"], edge.get("edge_type")
    if isinstance(target, str) and isinstance(source, str | None) and isinstance(kind, str):
        edge["id"] = edge_id(source, target, kind)
    return _sorted(edge, _EDGE_ORDER)


def edge_id(source: str | None, target: str, kind: str) -> str:
    """Return the id of an edge. It follows from its ends and its type, so an unchanged edge keeps it through every
    save, and an edge that is restored has it again."""
    digest = hashlib.sha256("\0".join((source or "", target, kind)).encode()).digest()
    return show(EDGE, digest[:16])


def _resolve_name(given: Any, names: Mapping[str, str], count: int) -> Any:
    """Return the id of an action that a name means. A name that means none stays as it is."""
    if not isinstance(given, str):
        return given
    place = _TEMPORARY.fullmatch(given)
    if place is not None and int(place[1]) < count:
        return names.get(f"temp:{int(place[1])}", given)
    return names.get(given, given)


# Layouts.


def read_layout(
    layout: Any, names: Mapping[str, str], count: int, path: str, problems: list[Problem]
) -> dict[str, Any] | None:
    """Return a layout that names actions by their ids. Add a problem for each thing that is wrong with it.

    It has `viewport` (x, y, zoom) and `node_positions`: {x, y} by `trigger`, or by the name of an action. Other fields
    are the editor's own."""
    if not isinstance(layout, dict):
        problems.append(Problem(path, f"must be an object with viewport and node_positions, not {described(layout)}"))
        return None
    viewport = layout.get("viewport")
    if viewport is not None and not _has_numbers(viewport, ()):
        problems.append(Problem(f"{path}.viewport", "must be an object of numbers: x, y and zoom"))
    positions = layout.get("node_positions")
    place = f"{path}.node_positions"
    if positions is not None and not isinstance(positions, dict):
        problems.append(Problem(place, f"must be an object of places, not {described(positions)}"))
        return None
    if positions is not None and len(positions) > MOST_POSITIONS:
        problems.append(Problem(place, f"has {len(positions)} places; at most {MOST_POSITIONS} are allowed"))
        return None
    found: dict[str, Any] = {}
    for key, value in (positions or {}).items():
        id_ = _resolve_name(key, names, count)
        if key.startswith("temp:") and id_ == key:
            last = f"temp:0 to temp:{count - 1}" if count else "none, because there are no actions"
            problems.append(Problem(f"{place}.{key[:80]}", f"is not the place of an action; there is {last}"))
        elif value is not None and not _has_numbers(value, ("x", "y")):
            problems.append(Problem(f"{place}.{key[:80]}", f"must be {{x, y}}, two numbers, not {described(value)}"))
        elif id_ in found:
            problems.append(Problem(f"{place}.{key[:80]}", f"is given twice: it is the action {id_!r}"))
        else:
            found[id_] = value
    made = {**layout, "node_positions": found}
    if len(json.dumps(made)) > LARGEST_LAYOUT:
        problems.append(Problem(path, f"is larger than {LARGEST_LAYOUT // 1024} KB"))
    return made


def _has_numbers(value: Any, needed: tuple[str, ...]) -> bool:
    """Return whether a value is an object of finite numbers that has these fields."""
    if not isinstance(value, dict) or not all(name in value for name in needed):
        return False
    return all(isinstance(one, int | float) and not isinstance(one, bool) and isfinite(one) for one in value.values())


def shown_layout(layout: Mapping[str, Any] | None, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored layout without the places of actions that the document does not have."""
    if layout is None:
        return {}
    now = {one["id"] for one in document.get("actions") or []}
    every = layout.get("node_positions", {})
    kept = {key: place for key, place in every.items() if key in now or not is_action_id(key)}
    return {**layout, "node_positions": kept}


def _sorted(fields: Mapping[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    """Return fields with those of `order` first."""
    first = {name: fields[name] for name in order if name in fields}
    return first | {name: value for name, value in fields.items() if name not in first}
