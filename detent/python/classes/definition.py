"""The steps and conditions of a workflow class, read from its body and those of its parents.

Problems are collected, so that a user sees all of them at once. Reading a class never changes its parents.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from detent.errors import InvalidInput
from detent.forms.names import check_step_name, read_priority, read_queue
from detent.graph.model import OnCrash
from detent.python.decorators import CANCEL_MARK, MARK, CancelMark, ClassBody, Condition, StepMark, StepOptions
from detent.python.flow import Policies, read_policies
from detent.values.durations import in_seconds
from detent.values.fields import Fields, Problems
from detent.values.nearest import nearest

# The order of steps: as they were written, those of the parent first. A step with an anchor goes next to its anchor.


class Anchor(NamedTuple):
    """The step next to which another step goes, and on which side."""

    name: str
    is_before: bool


def ordered(names: Sequence[str], anchors: Mapping[str, Anchor]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the names in order, and a (step, problem) pair for each invalid anchor.

    Steps after the same anchor keep the order in which they were written.
    """
    problems = [(name, _unknown(anchor, names)) for name, anchor in anchors.items() if anchor.name not in names]
    wrong = {name for name, _ in problems}
    order = [name for name in names if name not in anchors or name in wrong]
    waiting = [name for name in names if name in anchors and name not in wrong]
    behind: dict[str, int] = {}
    while waiting:
        placed = [name for name in waiting if anchors[name].name in order]
        if not placed:
            circle = ", ".join(map(repr, waiting))
            problems += [
                (name, f"it cannot be next to {anchors[name].name!r}: the anchors form a cycle: {circle}")
                for name in waiting
            ]
            break
        name = placed[0]
        _place(order, name, anchors[name], behind)
        waiting.remove(name)
    return order, problems


def _place(order: list[str], name: str, anchor: Anchor, behind: dict[str, int]) -> None:
    index = order.index(anchor.name)
    if not anchor.is_before:
        index += 1 + behind.get(anchor.name, 0)
        behind[anchor.name] = behind.get(anchor.name, 0) + 1
    order.insert(index, name)


def _unknown(anchor: Anchor, names: Sequence[str]) -> str:
    side = "before_step" if anchor.is_before else "after_step"
    meant = nearest(anchor.name, names)
    hint = f"; did you mean {meant!r}?" if meant else f"; there are {', '.join(map(repr, names))}"
    return f"{side}: there is no step {anchor.name!r}{hint}"


#: Only an action declares a probe.
_CRASHES: Final = tuple(str(rule) for rule in OnCrash if rule is not OnCrash.PROBE)


@dataclass(frozen=True, slots=True)
class StepDefinition:
    """One step. It calls `function`, or the method `attribute` as the most derived class defines it."""

    name: str
    attribute: str | None
    function: Callable[..., Any] | None
    options: StepOptions
    wait: float | None = None
    timeout: float | None = None
    policies: Policies | None = None  # None: those of the class
    on_crash: OnCrash = OnCrash.RETRY


@dataclass(frozen=True, slots=True)
class CancelCondition:
    """One `cancel_if`: a method by its name, or a callable or a constant."""

    attribute: str | None
    value: Condition | None

    @property
    def name(self) -> str:
        return self.attribute or str(getattr(self.value, "__name__", self.value))


@dataclass(frozen=True, slots=True)
class Definitions:
    """The steps and conditions of one class in order, those of its parents included."""

    steps: tuple[StepDefinition, ...] = ()
    conditions: tuple[CancelCondition, ...] = ()


class ClassReader:
    """Reads one class body and collects its `problems`."""

    def __init__(self, class_name: str, body: ClassBody, parents: Sequence[Definitions]) -> None:
        self._class_name, self._body, self._parents = class_name, body, parents
        self._names = {
            mark: name for name, value in body.items() if isinstance(mark := getattr(value, MARK, None), StepMark)
        }
        self.problems = Problems()

    def read(self) -> Definitions:
        """Return all steps and conditions of the class."""
        steps: dict[str, StepDefinition] = {}
        conditions: dict[CancelCondition, None] = {}
        for parent in self._parents:
            steps.update({one.name: one for one in parent.steps if one.name not in steps})
            conditions.update(dict.fromkeys(parent.conditions))
        own = list(self._own({*steps}))
        anchors = self._anchors(own)
        steps.update({one.name: one for one in own})
        order, wrong = ordered(list(steps), anchors)
        for name, message in wrong:
            self.problems.add(name, message)
        conditions.update(dict.fromkeys(map(self._condition, self._body.conditions)))
        return Definitions(tuple(steps[name] for name in order), tuple(conditions))

    def _own(self, inherited: set[str]) -> Iterator[StepDefinition]:
        # A step that was marked elsewhere, and assigned to an attribute of the class, counts too.
        marks = sorted({*self._body.steps, *self._names}, key=lambda mark: mark.number)
        given = {name for mark in marks if (name := mark.name or self._names.get(mark))}
        taken = inherited | given
        seen: set[str] = set()
        for mark in marks:
            definition = self._definition(mark, taken)
            if definition is None:
                continue
            if definition.name in seen:
                self.problems.add(definition.name, "there are two steps of this name in one class")
                continue
            seen.add(definition.name)
            yield self._checked(definition)

    def _definition(self, mark: StepMark, taken: set[str]) -> StepDefinition | None:
        attribute = self._names.get(mark)
        if attribute is not None:
            return StepDefinition(mark.name or attribute, attribute, None, mark.options)
        if isinstance(mark.target, str):
            return StepDefinition(mark.name or mark.target, mark.target, None, mark.options)
        assert mark.target is not None
        if self._is_lost(mark.target, mark.name):
            return None
        name = mark.name or _next_anonymous(taken)
        taken.add(name)
        return StepDefinition(name, None, mark.target, mark.options)

    def _is_lost(self, function: Callable[..., Any], given: str | None) -> bool:
        """Return whether a method is no longer in the class: a later one has its name, or a decorator hides it."""
        name = getattr(function, "__name__", "")
        inside = getattr(function, "__qualname__", "").rpartition(".")[0].rpartition(".")[2] == self._class_name
        if name == "<lambda>" or not inside or name not in self._body or self._body[name] is function:
            return False
        if isinstance(getattr(self._body[name], MARK, None), StepMark):
            self.problems.add(given or name, f"there are two methods {name!r} in one class")
        else:
            self.problems.add(given or name, "it is hidden by another decorator; put @step above that")
        return True

    def _condition(self, mark: CancelMark) -> CancelCondition:
        if isinstance(mark.condition, str):
            return CancelCondition(mark.condition, None)
        named = (name for name, value in self._body.items() if getattr(value, CANCEL_MARK, None) is mark)
        attribute = next(named, None)
        given: object = mark.condition
        if attribute is None and not callable(given) and not isinstance(given, bool):
            message = f"{given!r} is not a valid condition; name a method, or give a function or a bool"
            self.problems.add("cancel_if", message)
        return CancelCondition(attribute, None if attribute is not None else mark.condition)

    def _anchors(self, own: Sequence[StepDefinition]) -> Mapping[str, Anchor]:
        found = {}
        for one in own:
            before, after = self._place(one, "before_step"), self._place(one, "after_step")
            if before is not None and after is not None:
                self.problems.add(one.name, "it has both before_step and after_step; use one of them")
            elif one.name in (before, after):
                self.problems.add(one.name, "it cannot be next to itself")
            elif before is not None or after is not None:
                found[one.name] = Anchor(before or after or "", before is not None)
        return found

    def _place(self, one: StepDefinition, option: str) -> str | None:
        """Return the name of the anchor that an option names. The option may be the name or the step itself."""
        given: Any = getattr(one.options, option)
        if given is None or isinstance(given, str):
            return given
        mark = getattr(given, MARK, None)
        if isinstance(mark, StepMark):
            return mark.name or self._names.get(mark) or str(getattr(given, "__name__", ""))
        self.problems.add(one.name, f"{option}: {given!r:.80} is not a valid step; give the name of one, or its method")
        return None

    def _checked(self, one: StepDefinition) -> StepDefinition:
        """Return the step with its options parsed. Add a problem for each invalid option."""
        said, name = one.options, one.name
        check_step_name(name, name, self.problems)
        for complaint in said.complaints():
            self.problems.add(name, complaint)
        if said.retry is not None:
            self.problems.add(name, "retry is for durable functions; use on_exception=reattempt(...)")
        skip_if: object = said.skip_if
        if not isinstance(skip_if, str | bool | None) and not callable(skip_if):
            self.problems.add(name, f"skip_if: {skip_if!r} is not a valid condition; name a method, or give a function")
        if said.on_crash not in _CRASHES:
            self.problems.add(name, f"on_crash cannot be {said.on_crash!r}; it is one of {', '.join(_CRASHES)}")
        fields = Fields({"queue": said.queue, "priority": said.priority}, name, self.problems)
        read_queue(fields)
        read_priority(fields)
        return replace(
            one,
            wait=read_option(self.problems, name, "wait: ", in_seconds, said.wait),
            timeout=read_option(self.problems, name, "timeout: ", _more_than_nothing, said.timeout),
            policies=read_option(self.problems, name, "", read_policies, said.on_exception),
            on_crash=OnCrash(said.on_crash) if said.on_crash in _CRASHES else OnCrash.RETRY,
        )


def read_option(problems: Problems, where: str, option: str, read: Callable[[Any], Any], given: Any) -> Any:
    """Return the value of an option, or None if it is missing. Add a problem and return None if it is invalid."""
    if given is None:
        return None
    try:
        return read(given)
    except InvalidInput as error:
        problems.add(where, f"{option}{error.message}")
        return None


def _more_than_nothing(given: Any) -> float:
    return in_seconds(given, zero=False)


def _next_anonymous(taken: Container[str]) -> str:
    return next(name for number in itertools.count(1) if (name := f"step_{number}") not in taken)
