"""What must become of the workflows in `python_workflows.py`, said without running them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.chaos.programs import Program

#: Few enough that most starts for one of them find it busy.
COURIERS = 6
SIGNALS = 2


def python_programs(*, transactional: bool) -> list[Program]:
    """All of them; those with transactional steps only where the database is not the engine's own file."""
    found = [_errands(), _edited(), _called_off(), _rounds(), _function(), _child()]
    return [*found, _booking(), _transfer()] if transactional else found


def _class(name: str, endings: Mapping[str, str], *without_effect: str, **more: Any) -> Program:
    effects = frozenset(step for step in endings if step not in without_effect)
    status = more.pop("status", "completed")
    return Program(name, None, endings, effects, (), status, **more)


def _done(*steps: str) -> dict[str, str]:
    return dict.fromkeys(steps, "success")


def _errands() -> Program:
    endings = _done("fetch", "carry", "flaky", "deliver") | {"left_out": "skipped", "hopeless": "skipped"}
    trail = ["fetch", "carry", "flaky", "deliver"]
    return _class("python_errands", endings, "left_out", outputs={"deliver": lambda n: trail})


def _edited() -> Program:
    return _class("python_edited", _done("first", "second", "third"), optional=frozenset({"extra"}))


def _called_off() -> Program:
    endings = {"first": "success", "second": "cancelled", "third": "cancelled"}
    return _class("python_called_off", endings, "third", status="cancelled")


def _rounds() -> Program:
    return _class("python_rounds", _done("leave", "ring", "come_back"), heroes=COURIERS)


def _booking() -> Program:
    transactional = frozenset({"debit", "credit"})
    return _class("python_booking", _done("debit", "announce", "credit"), *transactional, transactional=transactional)


def _durable(
    name: str, effects: str, checkpoints: Mapping[str, str], output: Callable[[int], Any], **more: Any
) -> Program:
    return Program(
        name,
        None,
        {name: "success"},
        frozenset(effects.split()),
        more.pop("callbacks", ()),
        "completed",
        checkpoints=checkpoints,
        outputs={name: output},
        **more,
    )


def _function() -> Program:
    effects = "first left right flaky refused slow again again#2 last"
    waits = ["@now", "@sleep", "@sleep#2", "@sleep#3", "@wait:answer", "@signal:paid", "@signal:paid#2"]
    checkpoints = _done(*effects.split(), *waits, "@child:python_child")
    checkpoints |= {"refused": "failed", "@wait:missed": "timeout"}
    return _durable(
        "python_function",
        effects,
        checkpoints,
        lambda n: {"n": n, "child": -n},
        callbacks=("@wait:answer",),
        signals={"paid": SIGNALS},
        has_child=True,
    )


def _child() -> Program:
    return _durable("python_child", "only", _done("only", "@sleep"), lambda n: n, is_child=True)


def _transfer() -> Program:
    transactional = frozenset({"debit", "credit", "close"})
    checkpoints = _done(*transactional, "announce")
    return _durable("python_transfer", "announce", checkpoints, lambda n: n, transactional=transactional)
