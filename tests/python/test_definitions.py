"""What a workflow class may say, and what is made of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.errors import Conflict
from detent.graph.model import OnCrash
from detent.python.classes.workflow import Workflow
from detent.python.decorators import cancel_if, step
from detent.python.registry import PythonRegistry
from detent.values.durations import days, hours, minutes, seconds, weeks
from tests.python.stage import made, method


def names(workflow: type[Workflow]) -> list[str]:
    return [one.name for one in workflow.__definitions__.steps]


def test_steps_stand_in_the_order_in_which_they_were_written(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        step("first", lambda self: 1)

        @step
        def second(self) -> None: ...

        step("third", "something")

        @step(wait=days(1))
        async def fourth(self) -> None: ...

        step("something")

        @step("sixth-step")
        def other(self) -> None: ...

        def something(self) -> None: ...

    assert names(Signup) == ["first", "second", "third", "fourth", "something", "sixth-step"]


def test_steps_without_a_name_are_numbered_and_never_collide(code: PythonRegistry) -> None:
    class Parent(Workflow, registry=code):
        step(lambda self: 1)

        @step
        def step_2(self) -> None: ...

        step(lambda self: 3)

    class Child(Parent):
        step(lambda self: 4)

    assert names(Parent) == ["step_1", "step_2", "step_3"]
    assert names(Child) == ["step_1", "step_2", "step_3", "step_4"]


def test_a_loop_in_the_body_makes_steps(code: PythonRegistry) -> None:
    class Polls(Workflow, registry=code):
        for number in range(3):
            step(f"poll_{number}", lambda self: None)
        [step(f"more_{number}", lambda self: None) for number in range(2)]

    assert names(Polls) == ["poll_0", "poll_1", "poll_2", "more_0", "more_1"]


def test_a_body_that_raises_leaves_nothing_behind(code: PythonRegistry) -> None:
    with pytest.raises(ZeroDivisionError):

        class Broken(Workflow, registry=code):
            step("lost", lambda self: 1)
            1 / 0  # noqa: B018

    class Whole(Workflow, registry=code):
        step("kept", lambda self: 1)

        class Inner(Workflow, registry=code):
            step("inner", lambda self: 1)

        step("later", lambda self: 1)

    assert names(Whole) == ["kept", "later"]
    assert names(Whole.Inner) == ["inner"]
    assert code.names() == ("Inner", "Whole")


def test_every_length_of_time_is_a_wait(code: PythonRegistry) -> None:
    class Waits(Workflow, registry=code):
        max_duration = weeks(1)
        step("a", lambda self: 1, wait=days(2))
        step("b", lambda self: 1, wait="1h30m")
        step("c", lambda self: 1, wait=5)
        step("d", lambda self: 1, wait=hours(1) + minutes(1) + seconds(1))

    assert Waits.__compiled__ is not None
    graph = Waits.__compiled__.graph
    assert [one.delay for one in graph.steps] == [172_800.0, 5_400.0, 5.0, 3_661.0]
    assert graph.max_duration == 604_800.0


def test_before_and_after_place_a_step(code: PythonRegistry) -> None:
    class Parent(Workflow, registry=code):
        step("a", lambda self: 1)
        step("b", lambda self: 1)
        step("c", lambda self: 1)

    class Child(Parent):
        step("first", lambda self: 1, before_step="a")
        step("after_b", lambda self: 1, after_step="b")
        step("after_b_too", lambda self: 1, after_step="b")
        step("beside", lambda self: 1, before_step="last")
        step("last", lambda self: 1)

    assert names(Child) == ["first", "a", "b", "after_b", "after_b_too", "c", "beside", "last"]
    assert names(Parent) == ["a", "b", "c"]


def test_a_subclass_never_changes_its_parent(code: PythonRegistry) -> None:
    class Parent(Workflow, registry=code):
        queue, priority, max_duration = "low", 1, days(30)
        cancel_if("is_gone")

        @step
        def welcome(self) -> str:
            return "parent"

        @step(wait=days(1))
        def remind(self) -> None: ...

        def is_gone(self) -> bool:
            return False

    was = code.find("Parent")

    class Child(Parent):
        queue = "premium"
        allow_multiple = True
        cancel_if(lambda self: self.hero is None)

        @step(wait="5m", queue="mail")
        def welcome(self) -> str:
            return "child"

        @step
        def more(self) -> None: ...

    assert code.find("Parent") == was
    parent, child = Parent.__compiled__, Child.__compiled__
    assert parent is not None
    assert child is not None
    assert names(Child) == ["welcome", "remind", "more"]
    assert names(Parent) == ["welcome", "remind"]
    assert [one.name for one in Parent.__definitions__.conditions] == ["is_gone"]
    assert [one.name for one in Child.__definitions__.conditions] == ["is_gone", "<lambda>"]
    assert (parent.settings.queue, child.settings.queue, child.settings.priority) == ("low", "premium", 1)
    assert child.settings.max_duration == parent.settings.max_duration == 30 * 86_400
    assert (parent.graph.one_per_hero, child.graph.one_per_hero) == (True, False)
    assert [one.delay for one in parent.graph.steps] == [None, 86_400.0]
    assert [one.delay for one in child.graph.steps] == [300.0, 86_400.0, None]
    assert [one.queue for one in child.graph.steps] == ["mail", "premium", "premium"]
    assert [one.queue for one in parent.graph.steps] == [None, None]


def test_a_method_that_is_overridden_without_a_decorator_stays_the_step(code: PythonRegistry) -> None:
    class Parent(Workflow, registry=code):
        @step(wait=days(1))
        def welcome(self) -> str:
            return "parent"

    class Child(Parent):
        def welcome(self) -> str:
            return "child of " + super().welcome()

    child = Child.__compiled__
    assert child is not None
    assert child.steps["welcome"].body.call is Child.welcome
    assert child.graph.steps[0].delay == 86_400.0


def test_a_class_without_steps_is_there_to_be_built_on(code: PythonRegistry) -> None:
    class Base(Workflow, registry=code):
        queue = "workflows"
        cancel_if("is_gone")  # which its children have

    class Halfway(Base, abstract=True):
        @step
        def common(self) -> None: ...

    class Whole(Halfway):
        def is_gone(self) -> bool:
            return False

    assert code.names() == ("Whole",)
    assert names(Whole) == ["common"]


def test_what_is_compiled_says_all_that_the_engine_must_know(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        """Greets people.

        And more."""

        name, queue, priority = "sign-up", "onboarding", 5

        @step(on_crash="ask", transactional=True)
        def welcome(self) -> None: ...

        @step(wait=days(2), priority=9, timeout=30)
        def remind(self) -> None: ...

    found = code.find("sign-up")
    assert found is not None
    compiled = found.compiled
    assert (compiled.form, compiled.queue, compiled.priority) == ("python", "onboarding", 5)
    assert compiled.description == "Greets people. And more."
    assert compiled.code == ("workflow:sign-up",)
    assert code.serves() == ("workflow:sign-up", f"workflow:sign-up@{found.fingerprint}")
    welcome, remind = compiled.graph.steps
    assert welcome.on_crash is OnCrash.ASK
    assert welcome.config["transactional"] is True
    assert (welcome.priority, remind.priority, remind.delay, remind.timeout) == (5, 9, 172_800.0, None)
    document = json.loads(found.source)
    assert document["class"].endswith(":test_what_is_compiled_says_all_that_the_engine_must_know.<locals>.Signup")
    assert document["steps"][1] == {"name": "remind", "calls": "remind", "wait": 172800.0, "priority": 9, "timeout": 30}


def test_pinned_code_is_asked_for_by_its_fingerprint(code: PythonRegistry) -> None:
    class Pinned(Workflow, registry=code):
        drift = "pin"
        step("a", lambda self: 1)

    found = code.find("Pinned")
    assert found is not None
    assert found.compiled.code == (f"workflow:Pinned@{found.fingerprint}",)


def test_a_fingerprint_follows_the_code_and_not_its_lines() -> None:
    def made(words: str, **options: Any) -> str:
        code = PythonRegistry()
        space: dict[str, Any] = {"Workflow": Workflow, "step": step, "code": code, "options": options}
        exec(words, space)
        found = code.find("W")
        assert found is not None
        return found.fingerprint

    body = "class W(Workflow, registry=code):\n    @step(**options)\n    def a(self):\n        return {1, 2} == 'x'\n"
    assert made(body) == made("\n\n# moved\n" + body)
    assert made(body) != made(body.replace("'x'", "'y'"))
    assert made(body) != made(body, wait=1)
    assert made(body) != made(body + "    def unrelated(self): return 1\n")


def test_two_classes_cannot_have_one_name(code: PythonRegistry) -> None:
    assert made("First", code, name="signup", a=step(method())).__compiled__ is not None
    with pytest.raises(Conflict, match="signup"):
        made("Second", code, name="signup", a=step(method()))
    # A module that is loaded again defines the same class again.
    again = made("First", code, name="signup", a=step(method()))
    replaced = code.find("signup")
    assert replaced is not None
    assert replaced.target is again


def test_a_name_is_not_inherited(code: PythonRegistry) -> None:
    class Parent(Workflow, registry=code):
        name = "parent-workflow"
        step("a", lambda self: 1)

    class Child(Parent):
        pass

    assert (Parent.name, Child.name) == ("parent-workflow", "Child")
    assert code.names() == ("Child", "parent-workflow")
