"""What the documents of all forms share: durations, retries, maps, repeats, and the facts of a workflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from detent.forms.asks import is_approval, written_ask
from detent.forms.compiled import Compiled
from detent.forms.kinds import MapFields, RepeatFields
from detent.forms.triggers import TRIGGER_FIELDS
from detent.graph.model import Each, Edge, FailurePolicy, Graph, ItemFailure, Repeat, Retry, Step, StepKind
from detent.values.durations import write_duration
from detent.values.fields import Problems

Document = dict[str, Any]
#: The kinds of steps that are code of a user and not a part of a document.
CODE: Final = (StepKind.PYTHON, StepKind.FUNCTION)
#: The kinds whose attempts have a time limit and retries.
TRIED: Final = (StepKind.HTTP, StepKind.ACTION, StepKind.SUBWORKFLOW)


class Source(NamedTuple):
    """What is converted: a compiled workflow, the document it was compiled from, and how problems name its parts.

    `steps` is the key of its steps: `tasks`, `nodes` or `actions`."""

    compiled: Compiled
    document: Mapping[str, Any]
    steps: str
    problems: Problems

    def refuse(self, step: str, message: str) -> None:
        """Report a step that the other form cannot hold."""
        self.problems.add(self._place(step), message)

    def refuse_edge(self, edge: Edge, message: str) -> None:
        """Report an edge that the other form cannot hold."""
        self.problems.add(self._place(edge.target), f"the edge from {edge.source!r}: {message}")

    def _place(self, step: str) -> str:
        return self.compiled.places.get(f"steps.{step}", f"{self.steps}.{step}")

    def refuse_code(self) -> None:
        """Report steps and policies that only code has."""
        for step in self.compiled.graph.steps:
            if step.kind in CODE:
                self.refuse(step.name, f"is code (kind {step.kind}), and no form has code")
        if self.compiled.graph.on_failure is FailurePolicy.PAUSE:
            self.problems.add("", "a failure pauses its runs: only workflows that are code do that")

    def descriptions(self) -> Mapping[str, str]:
        """Return the descriptions of steps, which are for people and no part of the graph."""
        if self.compiled.form != "steps":
            return self.compiled.step_descriptions
        written = self.document.get(self.steps)
        named = written.items() if isinstance(written, dict) else ((one["name"], one) for one in written or ())
        return {name: one["description"] for name, one in named if one.get("description") is not None}


def trigger_of(source: Source) -> Document:
    """Return the keys of the trigger. They are the same in the steps form and the graph form."""
    compiled, document = source.compiled, source.document
    if compiled.form != "rule":
        return {name: document[name] for name in TRIGGER_FIELDS if document.get(name) is not None}
    rule, trigger = compiled.rule, compiled.trigger
    if rule is not None and rule.operations:
        order = "queue" if rule.is_ordered else None
        conditions = only_written(trigger_conditions=dict(rule.conditions), overlap=order)
        return {"trigger": {"type": rule.trigger_type, "entity": rule.entity, **conditions}}
    block = {"type": trigger.type.value, **trigger.config, **only_written(condition=trigger.condition)}
    return {"trigger": block if len(block) > 1 else trigger.type.value}


def only_written(**values: Any) -> Document:
    """Return the values that say something: a null counts as not written, and an empty mapping or list adds nothing."""
    return {name: value for name, value in values.items() if value is not None and value not in ({}, [])}


def edges_into(graph: Graph) -> dict[str, list[Edge]]:
    """Return the incoming edges of each step."""
    found: dict[str, list[Edge]] = {step.name: [] for step in graph.steps}
    for edge in graph.edges:
        found[edge.target].append(edge)
    return found


def edges_out_of(graph: Graph) -> dict[str, list[Edge]]:
    """Return the outgoing edges of each step, in the order in which they are considered."""
    found: dict[str, list[Edge]] = {step.name: [] for step in graph.steps}
    for _, edge in sorted(enumerate(graph.edges), key=lambda pair: (pair[1].otherwise, pair[1].order, pair[0])):
        found[edge.source].append(edge)
    return found


def limit(seconds: float | None, usual: float | None, write: Any = write_duration) -> Any:
    """Return how a limit of time is written: nothing if it is the usual one, `none` if there is none."""
    if seconds == usual:
        return None
    return "none" if seconds is None else write(seconds)


def milliseconds(seconds: float) -> int | float:
    """Return a duration in milliseconds, to the microsecond."""
    found = round(seconds * 1000, 3)
    return int(found) if found.is_integer() else found


def number(value: float) -> int | float:
    """Return a whole number without its decimal point."""
    return int(value) if float(value).is_integer() else value


def map_fields(each: Each | None, names: MapFields) -> Document:
    """Return the keys of a map."""
    if each is None:
        return {}
    tolerate: Any = each.tolerate or None
    if each.tolerate_share:
        tolerate = f"{each.tolerate_share * 100:.7f}".rstrip("0").rstrip(".") + "%"
    return {
        names.for_each: each.items,
        **only_written(
            **{
                names.max_parallel: None if each.parallel == _USUAL.parallel else each.parallel,
                names.on_item_failure: None if each.on_failure is ItemFailure.STOP else each.on_failure.value,
                names.tolerate: tolerate,
                names.max_items: None if each.max_items == _USUAL.max_items else each.max_items,
            }
        ),
        # An empty list or mapping can be collected, so it is no default.
        **({names.collect: each.collect} if each.collect is not None else {}),
    }


_USUAL: Final = Each([])


def repeat_fields(repeat: Repeat | None, names: RepeatFields) -> Document | None:
    """Return the block of a repeat."""
    if repeat is None:
        return None
    usual_wait = max(3600.0, repeat.every)
    return only_written(
        **{
            names.until: repeat.until,
            names.every: write_duration(repeat.every),
            names.factor: None if repeat.factor == 1.0 else number(repeat.factor),
            names.max_wait: None if repeat.max_wait == usual_wait else write_duration(repeat.max_wait),
            names.give_up_after: None if repeat.give_up_after is None else write_duration(repeat.give_up_after),
        }
    )


def request_fields(step: Step) -> Document:
    """Return the keys of a request."""
    config = step.config
    return {
        "url": config["url"],
        **only_written(
            method=None if config["method"] == "POST" else config["method"],
            headers=config["headers"],
            acting_user_headers=config.get("acting_user_headers"),
            large=config.get("large"),
            parts=config.get("parts"),
        ),
        **({"body": config["body"]} if config["body"] is not None else {}),
    }


def sleep_length(step: Step) -> str:
    """Return how long a sleep lasts: a template, or a duration."""
    seconds = step.config["seconds"]
    return seconds if isinstance(seconds, str) else write_duration(seconds)


def wait_fields(step: Step) -> Document:
    """Return the keys of a wait."""
    timeout, early = step.config["timeout"], step.config["early"]
    return only_written(
        timeout=None if timeout is None else write_duration(timeout),
        early=None if early == "buffer" or is_approval(step) else early,
        **written_ask(step),
    )


def retries(retry: Retry, usual: Retry) -> Any:
    """Return the retries as the steps form and rules write them: those after the first attempt."""
    if retry == usual:
        return None
    usual_wait = max(usual.max_delay, retry.delay)
    block = only_written(
        delay=None if retry.delay == usual.delay else write_duration(retry.delay),
        factor=None if retry.factor == usual.factor else number(retry.factor),
        max_delay=None if retry.max_delay == usual_wait else write_duration(retry.max_delay),
        jitter=None if retry.jitter == usual.jitter else retry.jitter,
    )
    return {"max_attempts": retry.attempts, **block} if block else retry.attempts - 1
