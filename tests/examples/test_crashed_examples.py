"""Every example is killed at each of its moments, and comes to the same end each time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from detent.examples import EXAMPLES
from detent.testing import Response, crash_matrix

FOLDER = Path(__file__).parents[2] / "examples" / "python"
O1, LOST = {"order": {"id": "o1", "amount": 50}}, {"order": {"id": "lost-5", "amount": 20}}
ASKED, APPROVED = {"question": "Money back for o1"}, {"support.approve.refund": {"approved": True}}
LARGE = {"order": {"id": "o2", "amount": 500}}


def load(name: str) -> ModuleType:
    """The example as it is when it is loaded for the first time."""
    spec = spec_from_file_location(f"examples_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def mended() -> None:
    load("resuming_paused").BROKEN["printer"] = False


def unchanged() -> None:
    """Put nothing back: the example keeps nothing between two runs."""


#: The example and its workflow, what it is started with, how it ends, and what is put back before each life.
PYTHON: dict[str, tuple[str, str, dict[str, Any], str, Callable[[], object] | None]] = {
    "signup": ("basic_usage", "SignupWorkflow", {"hero": ("User", 1)}, "completed", None),
    "premium": ("inheritance", "PremiumOnboarding", {"hero": ("Member", 1)}, "completed", None),
    "deactivated": ("inheritance", "PremiumOnboarding", {"hero": ("Member", 2)}, "cancelled", None),
    "expired": ("inheritance", "PremiumOnboarding", {"hero": ("Member", 3)}, "cancelled", None),
    "gentle": ("inheritance", "GentleOnboarding", {"hero": ("Member", 1)}, "completed", None),
    # Its first step deletes its own hero: killed behind that, it is cancelled one step earlier.
    "gone hero": (
        "hero_deletion",
        "ChargeWorkflow",
        {"hero": ("Account", 1), "same": lambda run: run.status},
        "cancelled",
        None,
    ),
    "cleanup": ("hero_deletion", "DataCleanupWorkflow", {"hero": ("Account", 9)}, "completed", None),
    "buyer 1": ("exception_handling", "PaymentWorkflow", {"hero": ("Buyer", 1)}, "completed", None),
    "buyer 2": ("exception_handling", "PaymentWorkflow", {"hero": ("Buyer", 2)}, "cancelled", None),
    "buyer 3": ("exception_handling", "PaymentWorkflow", {"hero": ("Buyer", 3)}, "cancelled", None),
    "buyer 4": ("exception_handling", "PaymentWorkflow", {"hero": ("Buyer", 4)}, "paused", None),
    "broken printer": ("resuming_paused", "InvoiceWorkflow", {"input": [20, 1]}, "paused", None),
    "mended printer": ("resuming_paused", "InvoiceWorkflow", {"input": [20, 1]}, "completed", mended),
    "report": ("execution_history", "ReportWorkflow", {}, "completed", None),
    "checkout": ("checkout", "checkout", {"input": O1}, "completed", None),
    "agent": ("support_agent", "answer", {"input": ASKED, "answers": APPROVED}, "completed", unchanged),
    "approved": ("checkout", "checkout", {"input": LARGE, "answers": {"approval": {"ok": True}}}, "completed", None),
    "too late": ("checkout", "checkout", {"input": LARGE, "answers": {"approval": TimeoutError}}, "completed", None),
    "undone": ("checkout", "checkout", {"input": LOST}, "completed", None),
}

#: What the example service would answer.
ANSWERS: dict[str, dict[str, Any]] = {
    "hello": {},
    "order-processing": {
        "charge": {"charge_id": "ch_1", "status": "paid", "order_id": 7, "amount": 42},
        "send-receipt": {},
        "notify-warehouse": {},
        "handle-failure": {},
    },
    "trial-expiry": {
        "start-trial": {"trial_id": "t_1", "user_id": 7, "email": "a@example.com"},
        "send-reminder": {},
        "expire-trial": {},
    },
    "checkout-flow": {
        "create-checkout": {"checkout_id": "c_1", "url": "https://shop.example/c_1"},
        "payment-result": {"status": "paid", "payment_id": "p_1"},
        "fulfill-order": {},
        "handle-timeout": {},
    },
}


def test_every_example_is_killed() -> None:
    assert {case[0] for case in PYTHON.values()} == {path.stem for path in FOLDER.glob("*.py")}
    assert set(ANSWERS) == {example.name for example in EXAMPLES}


@pytest.mark.parametrize("case", PYTHON)
def test_an_example_in_python_ends_the_same_wherever_it_dies(case: str) -> None:
    file, workflow, given, status, setup = PYTHON[case]
    load(file)
    report = crash_matrix(workflow, setup=setup or (lambda: load(file)), ending=status, **given)
    assert report.ending.status == status
    assert report.kills >= 4


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_in_yaml_ends_the_same_wherever_it_dies(example: Any) -> None:
    for given in example.inputs:
        report = crash_matrix(example.text(), input=given, answers=ANSWERS[example.name])
        assert report.ending.status == "completed"
        assert report.kills >= 8


def test_an_order_that_cannot_be_charged_ends_the_same_wherever_it_dies() -> None:
    [example] = [one for one in EXAMPLES if one.name == "order-processing"]
    answers = {**ANSWERS["order-processing"], "charge": Response({"error": "declined"}, status=402)}
    report = crash_matrix(example.text(), input=example.inputs[1], answers=answers)
    assert report.ending.step("charge").outcome == "failed"
    assert report.ending.step("handle-failure").outcome == "success"


REVIEW = Path(__file__).parents[2] / "examples" / "graph" / "order-review.yaml"
REVIEWS: dict[str, tuple[int, Any, bool]] = {
    "small": (20, None, True),
    "approved": (250, {"approved": True}, True),
    "turned down": (250, {"approved": False}, False),
    "no answer": (250, TimeoutError, False),
}


@pytest.mark.parametrize("name", REVIEWS)
def test_wherever_a_review_dies_it_ends_the_same(name: str) -> None:
    total, answer, shipped = REVIEWS[name]
    answers = {} if answer is None else {"approval": answer}
    report = crash_matrix(REVIEW, input={"total": total}, answers=answers, same=lambda run: (run.status, run.output))
    assert report.ran_twice.keys() == {"ship" if shipped else "turn-down", "write-log"}
