"""What a workflow class is told that says something wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from detent.errors import InvalidDefinition
from detent.python.classes.workflow import Workflow
from detent.python.decorators import cancel_if, step
from detent.python.flow import reattempt
from detent.python.registry import PythonRegistry
from tests.python.stage import made, method


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("wait", "soon", "wait: 'soon' is not a duration"),
        ("wait", -1, "wait: cannot be negative"),
        ("timeout", 0, "timeout: must be more than zero"),
        ("on_exception", "pauze", "'pauze' is not a valid policy; did you mean 'pause'?"),
        ("on_exception", 5, "5 is not a valid policy"),
        ("on_exception", reattempt(max=0), "`max` must be 1 or more"),
        ("on_exception", reattempt(wait="never"), "`wait`"),
        ("on_exception", reattempt(factor=0.5), "`factor`"),
        ("on_exception", reattempt(then="skipp"), "did you mean 'skip'?"),
        ("on_exception", {"ValueError": "skip"}, "is not a class of exceptions"),
        ("on_exception", {ValueError: "explode"}, "'explode' is not a valid policy"),
        ("skip_if", 5, "5 is not a valid condition"),
        ("skip_if", "is_aktive", "there is no method 'is_aktive'; did you mean 'is_active'?"),
        ("skip_if", lambda: True, "it must take self"),
        ("on_crash", "explode", "on_crash cannot be 'explode'"),
        ("queue", "no such queue", "cannot be the name of a queue"),
        ("priority", 10_000, "priority"),
        ("retry", 3, "on_exception=reattempt"),
        ("before_step", "welcom", "before_step: there is no step 'welcom'; did you mean 'welcome'?"),
        ("after_step", "zzz", "after_step: there is no step 'zzz'; there are"),
        ("after_step", "remind", "next to itself"),
        ("after_step", len, "after_step: <built-in function len> is not a valid step"),
        ("skip_iff", True, "step has no option 'skip_iff'; did you mean 'skip_if'?"),
        ("zzz", True, "step has no option 'zzz'; there are wait, skip_if,"),
    ],
)
def test_a_wrong_option_is_told_with_its_class_and_step(
    code: PythonRegistry, option: str, value: Any, message: str
) -> None:
    with pytest.raises(InvalidDefinition) as caught:

        class Signup(Workflow, registry=code):
            @step
            def welcome(self) -> None: ...

            @step(**{option: value})
            def remind(self) -> None: ...

            def is_active(self) -> bool:
                return True

    text = str(caught.value)
    assert "Signup cannot be a workflow" in text
    assert "remind" in text
    assert message in text
    assert caught.value.problems
    assert code.names() == ()


def test_all_that_is_wrong_is_told_at_once(code: PythonRegistry) -> None:
    with pytest.raises(InvalidDefinition) as caught:

        class Signup(Workflow, registry=code):
            queue, drift, max_duration = "bad queue", "lax", "soon"
            priority = "high"  # type: ignore[assignment]
            allow_multiple = "yes"  # type: ignore[assignment]
            on_exception = "explode"
            cancel_if("is_gnoe", 5)  # type: ignore[call-overload]
            step("a", "nowhere")
            step("b", lambda self: 1, before_step="a", after_step="c")
            step("c", lambda self: 1, wait="x")

            def is_gone(self) -> bool:
                return False

    fields = {problem.field for problem in caught.value.problems}
    assert fields >= {"queue", "priority", "drift", "max_duration", "allow_multiple", "on_exception"}
    assert fields >= {"cancel_if", "a", "b", "c"}
    assert "did you mean 'is_gone'?" in str(caught.value)


def test_two_steps_of_one_name_are_refused(code: PythonRegistry) -> None:
    with pytest.raises(InvalidDefinition, match="two steps of this name"):

        class ByName(Workflow, registry=code):
            step("welcome", lambda self: 1)
            step("welcome", lambda self: 2)

    with pytest.raises(InvalidDefinition, match="two methods 'welcome'"):

        class ByMethod(Workflow, registry=code):
            @step
            def welcome(self) -> None: ...

            @step  # type: ignore[no-redef]
            def welcome(self) -> None: ...  # noqa: F811

    with pytest.raises(InvalidDefinition, match="two steps of this name"):

        class Mixed(Workflow, registry=code):
            @step
            def welcome(self) -> None: ...

            step("welcome", lambda self: 1)

    with pytest.raises(InvalidDefinition, match="differ only in case"):

        class Cases(Workflow, registry=code):
            step("welcome", lambda self: 1)
            step("Welcome", lambda self: 1)


def test_a_step_that_another_decorator_hides_is_refused(code: PythonRegistry) -> None:
    def hiding(function: Any) -> Any:
        return lambda self: [function(self)]

    with pytest.raises(InvalidDefinition, match="hidden by another decorator"):

        class Signup(Workflow, registry=code):
            @hiding
            @step
            def welcome(self) -> None: ...


def test_anchors_in_a_circle_are_refused(code: PythonRegistry) -> None:
    with pytest.raises(InvalidDefinition, match="the anchors form a cycle"):

        class Signup(Workflow, registry=code):
            step("a", lambda self: 1, before_step="b")
            step("b", lambda self: 1, before_step="a")


@pytest.mark.parametrize("name", ["cancel", "pause", "skip", "finish", "results", "input", "attempt", "log"])
def test_names_that_every_workflow_has_cannot_be_steps(code: PythonRegistry, name: str) -> None:
    with pytest.raises(InvalidDefinition, match=f"every workflow has '{name}' already"):
        made("Signup", code, **{name: step(method())})


def test_a_method_must_take_self_and_nothing_else(code: PythonRegistry) -> None:
    with pytest.raises(InvalidDefinition, match="it must take self and nothing else"):

        class Signup(Workflow, registry=code):
            @step
            def welcome(self, whom: str) -> None: ...


def test_an_async_step_cannot_be_inline(code: PythonRegistry) -> None:
    with pytest.raises(InvalidDefinition, match="only a plain function can be inline"):

        class Signup(Workflow, registry=code):
            @step(inline=True)
            async def welcome(self) -> None: ...


@dataclass
class Needy:
    must: int


def test_a_state_is_made_without_arguments_and_can_be_read_back(code: PythonRegistry) -> None:
    with pytest.raises(InvalidDefinition, match="give every field a default"):

        class Signup(Workflow, registry=code):
            state: Needy
            step("a", lambda self: 1)

    with pytest.raises(InvalidDefinition, match="annotate it only"):

        class Other(Workflow, registry=code):
            state: dict[str, int] = {}  # noqa: RUF012
            step("a", lambda self: 1)

    with pytest.raises(InvalidDefinition, match="its annotation cannot be read: name 'Nowhere'"):

        class Third(Workflow, registry=code):
            state: Nowhere  # type: ignore[name-defined]  # noqa: F821
            step("a", lambda self: 1)


def test_statements_belong_into_a_class_body() -> None:
    with pytest.raises(InvalidDefinition, match="can only be used in the body"):
        step("a", lambda self: 1)
    with pytest.raises(InvalidDefinition, match="can only be used in the body"):
        cancel_if("gone")
    with pytest.raises(InvalidDefinition, match="a step is a function or a name"):
        step(5)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("attribute", "value", "meant"),
    [
        ("alow_multiple", True, "allow_multiple"),
        ("max_duraton", 5, "max_duration"),
        ("on_exeption", "skip", "on_exception"),
        ("nmae", "signup", "name"),
        ("dirft", "pin", "drift"),
        ("before_step_start", lambda self, name: None, "before_step_starts"),
    ],
)
def test_a_misspelt_option_of_a_class_is_refused(code: PythonRegistry, attribute: str, value: Any, meant: str) -> None:
    with pytest.raises(InvalidDefinition, match=f"a workflow has no option '{attribute}'; did you mean '{meant}'"):

        class Signup(Workflow, registry=code):
            locals()[attribute] = value
            step("welcome", lambda self: None)


def test_attributes_of_a_class_that_only_look_like_options_are_its_own(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        draft, game, queues, exceptions, priorities = 1, 2, 3, (ValueError,), ()
        max_durations: int = 5

        def allow_multiples(self) -> bool:
            return True

        step("welcome", lambda self: None)

    assert Signup.draft == 1


def test_a_step_may_be_named_by_itself_where_another_stands_beside_it(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        @step
        def welcome(self) -> None: ...

        @step("said-goodbye")
        def goodbye(self) -> None: ...

        @step(after_step=welcome)
        def remind(self) -> None: ...

        @step(before_step=goodbye)
        def thank(self) -> None: ...

    class Longer(Signup, registry=code):
        @step(before_step=Signup.welcome)
        def greet(self) -> None: ...

    assert Longer.__compiled__ is not None
    assert list(Longer.__compiled__.steps) == ["greet", "welcome", "remind", "thank", "said-goodbye"]


def test_a_class_that_is_made_without_a_class_statement_is_told_how(code: PythonRegistry) -> None:
    with pytest.raises(
        InvalidDefinition, match=r"write it as `class Made\(Workflow\):`, or make it with types.new_class"
    ):
        type("Made", (Workflow,), {})


def test_an_option_that_a_step_function_does_not_have_is_told_with_its_name() -> None:
    with pytest.raises(InvalidDefinition, match="charge: step has no option 'retrys'; did you mean 'retry'"):

        @step(retrys=3)  # type: ignore[call-overload, untyped-decorator]
        def charge() -> None: ...
