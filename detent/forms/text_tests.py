"""Tests of a workflow in text: `tests:` in a definition, or a file `*.test.yaml` beside it.

    tests:
      - name: an expensive order is approved first
        input: {id: 7}
        clock: 2026-02-22T10:00:00Z
        answers:
          get: {sum: 250}
          approve: {$after: 2d, $value: {ok: true}}
        expect:
          status: completed
          route: [get, approve, ship]
          outputs: {approve: {ok: true}}
          output: {tracking: $any}
          requests: {ship: {body: {id: 7}}}

A test is no part of the version: it is stored in the text of a definition, as a comment is, and changes no checksum.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from detent.documents.runs import ENDED
from detent.forms.stated_answers import BELOW, StatedAnswers, read_stated_answers
from detent.graph.model import Ending, Graph
from detent.values.durations import SECONDS
from detent.values.fields import Fields, Problems, described, shown

FIELD: Final = "tests"
MOST_TESTS: Final = 500
_LONGEST_NAME: Final = 200
_FIELDS: Final = ("name", "input", "headers", "query", "hero", "clock", "answers", "expect")
_EXPECTED: Final = ("status", "route", "ran", "skipped", "outputs", "output", "requests", "error", "took")
_LONGEST_ERROR: Final = 4_000
_EXAMPLE: Final = "2026-02-22T10:00:00Z"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a test expects; a field that is `None` is not checked. `has_output` says whether `output` is checked.

    `route` has all steps that ended, in any order: `name`, or `name:outcome` unless it succeeded. `ran` and `skipped`
    name some of them."""

    status: str | None = None
    route: tuple[str, ...] | None = None
    ran: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    outputs: Mapping[str, Any] = field(default_factory=dict)
    output: Any = None
    has_output: bool = False
    requests: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    took: float | None = None


@dataclass(frozen=True, slots=True)
class TextTest:
    """One test: what the run begins with, the answers to its effects, and what is expected of it."""

    name: str
    input: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    hero: tuple[str, str] | None = None
    clock: datetime | None = None
    answers: StatedAnswers = field(default_factory=dict)
    expect: Expected = field(default_factory=Expected)


def read_text_tests(given: Any, path: str, problems: Problems, graph: Graph | None) -> tuple[TextTest, ...]:
    """Read a list of tests. Add every problem with its path. Without a `graph` names of steps are not checked."""
    if given is None:
        return ()
    if not isinstance(given, list):
        problems.add(path, f"must be a list of tests, not {described(given)}")
        return ()
    if len(given) > MOST_TESTS:
        problems.add(path, f"has {len(given)} tests; at most {MOST_TESTS} are allowed")
        return ()
    found: dict[str, TextTest] = {}
    for number, one in enumerate(given):
        place = f"{path}[{number}]"
        if not isinstance(one, dict):
            problems.add(place, f"must be a mapping with a name, not {described(one)}")
            continue
        test = _read_test(Fields(one, place, problems), graph)
        if test.name and test.name in found:
            problems.add(f"{place}.name", f"{shown(test.name)} is the name of another test here")
        found[test.name] = test
    return tuple(found.values())


def _read_test(fields: Fields, graph: Graph | None) -> TextTest:
    fields.refuse_unknown(_FIELDS)
    if fields.get("name") is None:
        fields.problems.add(fields.at("name"), "is missing: say in a sentence what the test shows")
    if not fields.values.get("expect"):
        fields.problems.add(fields.at("expect"), f"is missing: say at least one of {', '.join(_EXPECTED)}")
    block = fields.mapping("expect") or {}
    return TextTest(
        name=fields.text("name", most=_LONGEST_NAME) or "",
        input=fields.values.get("input", {}),
        headers=_texts(fields, "headers"),
        query=_texts(fields, "query"),
        hero=_hero(fields),
        clock=_clock(fields),
        answers=read_stated_answers(fields.get("answers"), fields.at("answers"), fields.problems, graph),
        expect=_read_expected(Fields(block, fields.at("expect"), fields.problems), graph),
    )


def _read_expected(fields: Fields, graph: Graph | None) -> Expected:
    fields.refuse_unknown(_EXPECTED)
    steps = None if graph is None else [step.name for step in graph.steps]
    status = fields.get("status")
    words = sorted(ENDED)
    if status is not None and status not in words:
        hint = fields.problems.did_you_mean(str(status), words)
        fields.problems.add(fields.at("status"), f"must be one of {', '.join(words)}, not {described(status)}{hint}")
    return Expected(
        status=status if isinstance(status, str) else None,
        route=_read_route(fields, steps),
        ran=_names(fields, "ran", steps),
        skipped=_names(fields, "skipped", steps),
        outputs=_by_step(fields, "outputs", steps),
        output=fields.get("output"),
        has_output="output" in fields.values,
        requests=_by_step(fields, "requests", steps),
        error=fields.text("error", most=_LONGEST_ERROR, lines=True),
        took=fields.duration("took", unit=SECONDS),
    )


def _read_route(fields: Fields, steps: Collection[str] | None) -> tuple[str, ...] | None:
    if fields.get("route") is None:
        return None
    found = _texts_of(fields, "route")
    endings = [str(ending) for ending in Ending]
    for number, one in enumerate(found):
        name, colon, ending = one.partition(":")
        place = f"{fields.at('route')}[{number}]"
        _check_step(fields, place, name, steps)
        if colon and ending not in endings:
            hint = fields.problems.did_you_mean(ending, endings)
            fields.problems.add(place, f"{shown(ending)} is not one of {', '.join(endings)}{hint}")
    return tuple(one.removesuffix(f":{Ending.SUCCESS}") for one in found)


def _names(fields: Fields, name: str, steps: Collection[str] | None) -> tuple[str, ...]:
    found = _texts_of(fields, name)
    for number, one in enumerate(found):
        _check_step(fields, f"{fields.at(name)}[{number}]", one, steps)
    return tuple(found)


def _texts_of(fields: Fields, name: str) -> list[str]:
    given = fields.get(name)
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        fields.wrong(name, "a list of names of steps")
        return []
    return given


def _by_step(fields: Fields, name: str, steps: Collection[str] | None) -> dict[str, Any]:
    found = fields.mapping(name) or {}
    for step in found:
        if BELOW not in step:
            _check_step(fields, f"{fields.at(name)}.{step}", step, steps)
    return found


def _check_step(fields: Fields, place: str, name: str, steps: Collection[str] | None) -> None:
    if steps is not None and name not in steps:
        fields.problems.add(place, f"no step {shown(name)}{fields.problems.did_you_mean(name, steps)}")


def _texts(fields: Fields, name: str) -> dict[str, str]:
    block = fields.mapping(name) or {}
    for key, value in block.items():
        if not isinstance(value, str):
            fields.problems.add(f"{fields.at(name)}.{key}", f"must be text, not {described(value)}")
    return {key: value for key, value in block.items() if isinstance(value, str)}


def _hero(fields: Fields) -> tuple[str, str] | None:
    text = fields.text("hero", most=_LONGEST_NAME)
    if text is None:
        return None
    kind, _, id_ = text.partition(":")
    if not kind or not id_:
        fields.problems.add(fields.at("hero"), f"{shown(text)} is not a valid hero; write for example User:7")
        return None
    return kind, id_


def _clock(fields: Fields) -> datetime | None:
    text = fields.text("clock", most=_LONGEST_NAME)
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        fields.problems.add(fields.at("clock"), f"{shown(text)} is not an instant; write for example {_EXAMPLE}")
        return None
