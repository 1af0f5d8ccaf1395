"""The workflows of the checklist, written with nothing but public names."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from detent import Workflow, cancel_if, heroes, reattempt, step

QUEUES = ("default", "parity", "parity-premium")
NOBODYS = "parity-nobody"
#: What happened, by hero.
SEEN: dict[str, list[Any]] = defaultdict(list)
_GATES: dict[str, threading.Event] = {}
_numbers = itertools.count(1)


@dataclass
class User:
    id: int
    is_active: bool = False
    is_gone: bool = False
    has_expired: bool = False
    loaded: int = 0


@dataclass
class Order:
    id: UUID


@dataclass
class Shelf:
    id: str


USERS: dict[str, User] = {}
ORDERS: dict[str, Order] = {}
SHELVES: dict[str, Shelf] = {}


def new_user() -> User:
    user = User(next(_numbers))
    USERS[str(user.id)] = user
    return user


def seen(hero: Any) -> list[Any]:
    return SEEN[str(hero.id)]


def load_user(id_: str) -> User | None:
    user = USERS.get(id_)
    if user is not None:
        user.loaded += 1
    return user


async def load_order(id_: str) -> Order | None:
    return ORDERS.get(id_)


def register_heroes() -> None:
    heroes.register("User", load=load_user, cls=User)
    heroes.register("Order", load=load_order, cls=Order)
    heroes.register("Shelf", load=SHELVES.get, cls=Shelf)


def gate(hero: Any) -> threading.Event:
    """What a gated step of that hero's waits for."""
    return _GATES.setdefault(str(hero.id), threading.Event())


def open_every_gate() -> None:
    for one in _GATES.values():
        one.set()


def note(self: Workflow) -> str:
    """What most steps do: they say that they ran."""
    SEEN[self.hero_id or ""].append(self.step_name)
    return self.step_name


class Letter(Workflow):
    name = "parity-letter"

    @step
    def write(self) -> str:
        return note(self)

    @step(wait=0.15)
    async def send(self) -> str:
        return note(self)

    @step(wait=0.15)
    def file(self) -> str:
        return note(self)


class Parcel(Workflow):
    name = "parity-parcel"
    step("pack", note)


class Describing(Workflow):
    name = "parity-describing"

    @step
    def describe(self) -> list[Any]:
        return [type(self.hero).__name__, self.hero_type, self.hero_id, str(getattr(self.hero, "id", None))]


class Mixed(Workflow):
    """Every way to write a step."""

    name = "parity-mixed"

    step(note)

    @step
    def defined(self) -> str:
        return note(self)

    def method(self) -> str:
        return note(self)

    step("method")
    step("calling", "method")
    step("block", lambda self: f"{note(self)} of {self.hero_id}")
    step(lambda self: note(self).upper())
    step("step_3", note)
    step(lambda self: note(self).lower())


class Ordered(Workflow):
    name = "parity-ordered"
    step("second", note)
    step("third", note)
    step("first", note, before_step="second")
    step("last", note, after_step="third")
    step("between", note, after_step="second")


class Gated(Workflow):
    """Its first step goes on when the test says so; its second pauses once."""

    name = "parity-gated"

    @step
    def hold(self) -> str:
        seen_here = SEEN[self.hero_id or ""]
        seen_here.append("in")
        _GATES.setdefault(self.hero_id or "", threading.Event()).wait(timeout=300)
        seen_here.append("out")
        return "held"

    @step
    def ask(self) -> str:
        if self.attempt == 1:
            self.pause()
        return "asked"


class Inherited(Workflow, abstract=True):
    """What others are built on."""

    queue, priority = "parity", 5
    hero: User

    @cancel_if
    def gone(self) -> bool:
        return self.hero.is_gone

    step("greet", note)


class Plain(Inherited):
    name = "parity-plain"


class Premium(Inherited):
    name = "parity-premium"
    queue = "parity-premium"
    cancel_if(lambda self: self.hero.has_expired)

    step("gift", note)


class Unserved(Workflow):
    name = "parity-unserved"
    queue = NOBODYS
    step("never", note)


class StepElsewhere(Workflow):
    name = "parity-step-elsewhere"
    queue, priority = "parity", 3
    step("here", note)
    step("elsewhere", note, queue=NOBODYS, priority=9)


class Skipping(Workflow):
    name = "parity-skipping"
    hero: User

    def is_active(self) -> bool:
        return self.hero.is_active

    step("by_name", note, skip_if="is_active")
    step("by_callable", note, skip_if=lambda self: self.hero.is_active)
    step("by_true", note, skip_if=True)
    step("by_false", note, skip_if=False)


class Deciding(Workflow):
    """Decides about its second step when it comes to it."""

    name = "parity-deciding"
    hero: User
    step("first", note)
    step("second", note, wait="1h", skip_if=lambda self: self.hero.is_active)


class Blanket(Workflow):
    name = "parity-blanket"
    hero: User
    cancel_if(lambda self: self.hero.is_gone)
    step("first", note)
    step("second", note, wait="1h")
    step("third", note)


class Steered(Workflow):
    """Its first step does with its run what the input says, once."""

    name = "parity-steered"

    @step
    def first(self) -> str:
        note(self)
        if self.attempt == 1 and self.input.get("verb"):
            getattr(self, self.input["verb"])(**self.input.get("with", {}))
        return f"attempt {self.attempt}"

    step("second", note)


class Sleeper(Workflow):
    """Stands before its second step for a long time."""

    name = "parity-sleeper"
    step("first", note)
    step("second", note, wait="1h")
    step("third", note)


class Orphan(Workflow):
    name = "parity-orphan"
    step("first", note)
    step("second", note, wait="1h")


class Cleanup(Orphan):
    name = "parity-cleanup"
    may_proceed_without_hero = True
    step("third", lambda self: [self.hero, self.hero_id])


def failing(times: int = 1) -> Callable[[Workflow], str]:
    def fail(self: Workflow) -> str:
        SEEN[self.hero_id or ""].append(f"try {self.attempt}")
        if self.attempt <= times:
            raise ConnectionError("the gateway is away")
        return f"attempt {self.attempt}"

    return fail


class PausesByDefault(Workflow):
    name = "parity-fails-pause"
    step("charge", failing())
    step("after", note)


class CancelsOnException(Workflow):
    name = "parity-fails-cancel"
    step("charge", failing(), on_exception="cancel")
    step("after", note)


class ReattemptsOnException(Workflow):
    name = "parity-fails-reattempt"
    step("charge", failing(2), on_exception=reattempt(max=3, wait=0.05, factor=1))
    step("after", note)


class SkipsOnException(Workflow):
    name = "parity-fails-skip"
    step("charge", failing(), on_exception="skip")
    step("after", note)


class Several(Workflow):
    name = "parity-several"
    allow_multiple = True
    step("wait", note, wait="1h")


class Hooked(Workflow):
    """Says in which order it is asked what."""

    name = "parity-hooked"
    hero: User

    def before_step_starts(self, step_name: str) -> None:
        SEEN[self.hero_id or ""].append(f"before {step_name}")

    @cancel_if
    def gone(self) -> bool:
        SEEN[self.hero_id or ""].append("cancel_if")
        return False

    def skips(self) -> bool:
        SEEN[self.hero_id or ""].append("skip_if")
        return self.step_name == "second"

    step("first", note, skip_if="skips")
    step("second", note, skip_if="skips")


class Counting(Workflow):
    """Keeps a state from step to step."""

    name = "parity-counting"
    hero: User
    state: dict[str, int]

    def count(self) -> int:
        self.state["steps"] = self.state.get("steps", 0) + 1
        return self.state["steps"]

    step("first", "count")
    step("second", "count", wait=0.1)
    step("third", "count", wait=0.1)
