"""Every example of a workflow in Python runs as it stands, in a process of its own, and says what its text promises."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.servers import programs

FOLDER = Path(__file__).parents[2] / "examples" / "python"

SAYS = {
    "basic_usage": ["started: running", "one at a time: there is an active run", "slept 9 days", "onboarded: True"],
    "inheritance": [
        "Ann <PremiumOnboarding: completed>",
        "Ben <PremiumOnboarding: cancelled>",
        "Cleo <PremiumOnboarding: cancelled>",
        "hello Ann, take your time",
    ],
    "hero_deletion": ["<ChargeWorkflow: cancelled", "<DataCleanupWorkflow: completed>", "['account 1']"],
    "exception_handling": [
        "buyer 1: <PaymentWorkflow: completed, slept 0:01:40>",
        "buyer 2: <PaymentWorkflow: cancelled>",
        "buyer 3: <PaymentWorkflow: cancelled>",
        "buyer 4: <PaymentWorkflow: paused",
        "skipped, OSError: the printer is on fire",
    ],
    "checkout": [
        "waits for approval",
        "<checkout: completed, slept 14 days",
        "['o3 is packed', 'invoice: 500 EUR for o3, attempt 1', 'o3 is shipped', 'how do you like it?']",
        "['o4 is refunded']",
        "['lost-5 is refunded']",
    ],
    "support_agent": [
        "✓ support.approve.refund",
        "I asked for it: it is older than a year",
        "✓ support.model#4",
        "a colleague will call you",
    ],
    "resuming_paused": ["the printer does not answer", "['20 EUR, please', '21 EUR, please', '22 EUR, please']"],
    "execution_history": [
        "collect 1: failed (reattempted)",
        "  error: TimeoutError: the warehouse is asleep",
        "collect 3: completed (success)",
        "ring_the_bell 1: skipped (skipped)",
    ],
}


def test_every_example_that_is_promised_is_there() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_and_says_what_it_promises(name: str) -> None:
    command = [sys.executable, "-W", "error", str(FOLDER / f"{name}.py")]
    done = programs.run(command)
    assert done.returncode == 0, done.stderr
    said = done.stdout
    for words in SAYS[name]:
        assert words in said, f"{words!r} is missing in:\n{said}"
