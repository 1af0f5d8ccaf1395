"""What steps leave behind: results, state, and what a transaction keeps."""

from __future__ import annotations

import functools
import logging
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

import msgspec
import pytest

from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.registry import PythonRegistry
from detent.run.outcomes import Done, Finish, Pause, Skip
from tests.python.stage import call_of, output_of, play


@pytest.mark.case("F14")
@pytest.mark.parametrize(
    ("value", "named"),
    [({1, 2}, "set"), (b"x", "bytes"), (object(), "object"), (float("nan"), "nan"), (2**70, "64 bits"), (len, "")],
)
async def test_a_result_that_has_no_json_form_is_an_exception_of_the_step(
    code: PythonRegistry, value: Any, named: str
) -> None:
    class Odd(Workflow, registry=code):
        step("work", lambda self: value)
        step("finishes", lambda self: self.finish(value), on_exception="skip")

    outcome = await play(Odd, "work")
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert named in outcome.error.message
    assert isinstance(await play(Odd, "finishes"), Skip)


@dataclass
class Parcel:
    weight: int
    sent: datetime | None = None


async def test_a_result_is_read_as_the_annotation_of_its_step_says(code: PythonRegistry) -> None:
    class Shipping(Workflow, registry=code):
        @step
        def pack(self) -> Parcel:
            return Parcel(4)

        @step
        async def route(self) -> tuple[int, ...]:
            return (1, 2)

        @step
        def promise(self) -> Parcel:
            return "another thing"  # type: ignore[return-value]

        @step
        def weigh(self) -> Any:
            parcel = self.results["pack"]
            assert self.results["route"] == (1, 2)
            return [type(parcel).__name__, parcel.weight, parcel.sent.year, self.results["promise"]]

    results = {
        "pack": b'{"output":{"weight":4,"sent":"2030-01-01T00:00:00Z"},"state":{},"state_number":1}',
        "route": b'{"output":[1,2]}',
        "promise": b'{"output":"another thing"}',
    }
    assert output_of(await play(Shipping, "weigh", results=results)) == ["Parcel", 4, 2030, "another thing"]


async def test_results_of_earlier_steps_are_there_by_name(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        step("first", lambda self: 1)
        step("second", lambda self: 1)

        @step
        def third(self) -> Any:
            assert list(self.results) == ["first"]
            assert self.results.get("second") is None
            return self.results["first"]["mail"]

        step("wrong", lambda self: self.results["frist"])
        step("too_early", lambda self: self.results["third"])

    results = {"first": b'{"output":{"mail":5}}'}
    assert output_of(await play(Signup, "third", results=results)) == 5
    outcome = await play(Signup, "wrong", results=results)
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "there is no step 'frist'; did you mean 'first'?" in outcome.error.message
    outcome = await play(Signup, "too_early", results=results)
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "has not ended yet" in outcome.error.message


async def test_a_step_knows_its_attempt(code: PythonRegistry, caplog: pytest.LogCaptureFixture) -> None:
    class Signup(Workflow, registry=code):
        @step
        def welcome(self) -> list[Any]:
            self.log.info("hello %s", "Ann")
            return [self.run_id, self.step_name, self.attempt, self.input, self.now().tzname()]

        step("key", lambda self: self.idempotency_key)

    with caplog.at_level(logging.INFO, "detent.workflow"):
        run_id, *rest = output_of(await play(Signup, "welcome", attempt=3, body=[1]))
    assert run_id.startswith("run_")
    assert rest == ["welcome", 3, [1], "UTC"]
    record = caplog.records[0]
    assert record.getMessage() == "hello Ann"
    assert (record.__dict__["step"], record.__dict__["attempt"]) == ("welcome", 3)
    assert output_of(await play(Signup, "key")) == call_of(Signup, "key").idempotency_key


async def test_each_attempt_has_an_instance_of_its_own(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        def __init__(self) -> None:
            self.count = 0

        @step
        def welcome(self) -> int:
            self.count += 1
            return self.count

    assert output_of(await play(Signup, "welcome")) == 1
    assert output_of(await play(Signup, "welcome")) == 1


async def test_bodies_that_are_not_plain_functions_run(code: PythonRegistry) -> None:
    class Callable:
        def __call__(self, workflow: Workflow) -> str:
            return f"called for {workflow.step_name}"

    def greet(greeting: str, workflow: Workflow) -> str:
        return f"{greeting} {workflow.step_name}"

    class Odd(Workflow, registry=code):
        step("by_object", Callable())
        step("by_partial", functools.partial(greet, "hello"))

    assert output_of(await play(Odd, "by_object")) == "called for by_object"
    assert output_of(await play(Odd, "by_partial")) == "hello by_partial"


@dataclass
class Progress:
    sent: int = 0
    names: list[str] = field(default_factory=list)


class Basket(msgspec.Struct):
    items: list[str] = []


class Loose(TypedDict, total=False):
    sent: int


async def test_typed_state_goes_from_step_to_step(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        state: Progress

        @step
        def first(self) -> str:
            assert isinstance(self.state, Progress)
            self.state.sent += 1
            self.state.names.append("Ann")
            return "ok"

        @step
        async def untouched(self) -> None: ...

        @step
        def second(self) -> list[Any]:
            assert isinstance(self.state, Progress)
            self.state.sent += 1
            return [self.state.sent, self.state.names]

    results: dict[str, bytes] = {}
    for name in ("first", "untouched", "second"):
        outcome = await play(Signup, name, results=results)
        assert isinstance(outcome, Done), outcome
        results[name] = outcome.result
    assert msgspec.json.decode(results["first"]) == {
        "output": "ok",
        "state": {"sent": 1, "names": ["Ann"]},
        "state_number": 1,
    }
    assert msgspec.json.decode(results["untouched"]) == {"output": None}
    assert msgspec.json.decode(results["second"])["output"] == [2, ["Ann"]]
    # The newest counts, wherever its step stands by now.
    assert msgspec.json.decode(results["second"])["state_number"] == 2


@pytest.mark.parametrize("kind", [Progress, Basket, Loose, dict, dict[str, int]])
async def test_every_kind_of_state_is_made_and_read_back(code: PythonRegistry, kind: Any) -> None:
    class Signup(Workflow, registry=code):
        state: kind

        @step
        def first(self) -> None:
            _ = self.state

        @step
        def second(self) -> str:
            return type(self.state).__name__

    done = await play(Signup, "first")
    assert isinstance(done, Done)
    again = await play(Signup, "second", results={"first": done.result})
    assert output_of(again) in (getattr(kind, "__name__", ""), "dict")


async def test_state_without_a_type_is_a_dictionary_and_can_be_replaced(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        @step
        def first(self) -> None:
            self.state = {"a": 1}

        @step
        def skips(self) -> None:
            self.state["b"] = 2
            self.skip()

        @step
        def finishes(self) -> None:
            self.state["c"] = 3
            self.finish("end")

    done = await play(Signup, "first")
    assert isinstance(done, Done)
    results = {"first": done.result}
    skipped = await play(Signup, "skips", results=results)
    assert isinstance(skipped, Skip)
    assert msgspec.json.decode(skipped.result)["state"] == {"a": 1, "b": 2}
    finished = await play(Signup, "finishes", results={**results, "skips": skipped.result})
    assert isinstance(finished, Finish)
    assert msgspec.json.decode(finished.result) == {
        "output": "end",
        "state": {"a": 1, "b": 2, "c": 3},
        "state_number": 3,
    }


@pytest.mark.case("F14")
async def test_a_state_that_cannot_be_kept_is_an_exception_of_the_step(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        @step
        def first(self) -> None:
            self.state["x"] = {1, 2}

    outcome = await play(Signup, "first")
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "the state has a value of type set" in outcome.error.message


class Books:
    """Keeps results as a database would."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.rolled_back = 0

    def run_once(self, call: Any, generation: int, body: Any) -> bytes:
        if call.step not in self.kept:
            try:
                self.kept[call.step] = body("a session")
            except BaseException:
                self.rolled_back += 1
                raise
        return self.kept[call.step]

    async def run_once_async(self, call: Any, generation: int, body: Any) -> bytes:
        if call.step not in self.kept:
            self.kept[call.step] = await body("an async session")
        return self.kept[call.step]


async def test_a_transactional_step_runs_in_its_transaction_once(code: PythonRegistry) -> None:
    class Payment(Workflow, registry=code):
        step("plain", lambda self: self.session, transactional=True)

        @step(transactional=True)
        async def awaited(self) -> Any:
            return self.session

        @step(transactional=True)
        def swallows(self) -> str:
            try:
                self.skip()
            except BaseException:  # noqa: BLE001 - what people write
                return "kept?"

        step("outside", lambda self: self.session)

    books = Books()
    assert output_of(await play(Payment, "plain", keeper=books)) == "a session"
    assert output_of(await play(Payment, "awaited", keeper=books)) == "an async session"
    books.kept["plain"] = b'{"output":"from before"}'
    assert output_of(await play(Payment, "plain", keeper=books)) == "from before"
    assert await play(Payment, "swallows", keeper=books) == Skip()
    assert books.rolled_back == 1
    assert "swallows" not in books.kept
    missing = await play(Payment, "plain")
    assert isinstance(missing, Pause)
    assert missing.error is not None
    assert "detent.transactions" in missing.error.message
    assert isinstance(await play(Payment, "outside"), Pause)


@dataclass
class Trolley:
    count: int = 0


async def test_a_state_that_does_not_fit_is_told_with_its_class_and_what_was_expected(code: PythonRegistry) -> None:
    class Shopping(Workflow, registry=code):
        state: Trolley
        step("add", lambda self: None)
        step("pay", lambda self: self.state.count)

        @step
        def replace(self) -> None:
            self.state = 5  # type: ignore[assignment]

    kept = {"add": b'{"output":null,"state":{"count":"many"},"state_number":1}'}
    outcome = await play(Shopping, "pay", results=kept)
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "Shopping is not a valid Trolley: Expected `int`, got `str`" in outcome.error.message
    assert "then resume" in outcome.error.message
    outcome = await play(Shopping, "replace")
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "Shopping is a Trolley, not a int" in outcome.error.message
