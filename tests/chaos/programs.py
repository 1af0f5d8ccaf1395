"""Workflows whose outcome is known before they run: made from a seed, predicted by a few lines that know no engine."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

#: Tries enough for every crash of a campaign: a crash counts as a try, since the effect may have happened.
PATIENT: Final = {"attempts": 100, "delay": "50ms", "factor": 1.5, "max_delay": "200ms"}
FAILURES: Final = frozenset({"failed", "timeout"})
RAN: Final = FAILURES | {"success"}


@dataclass(frozen=True)
class Kind:
    """A kind of step: how it is written, how it ends, whether the target hears of it, and whether a callback comes."""

    write: Callable[[random.Random, str], dict[str, Any]]
    ending: str = "success"
    effect: bool = False
    callback: bool = False
    weight: int = 4


@dataclass(frozen=True)
class Program:
    """A workflow and what must become of every run of it. Steps are in an order in which needs come first."""

    name: str
    definition: Mapping[str, Any] | None  # null: nodes have it, as code
    endings: Mapping[str, str]
    effects: frozenset[str]  # steps the target must hear of
    callbacks: tuple[str, ...]  # waits that end by a callback
    status: str = field(default="")
    optional: frozenset[str] = frozenset()  # steps that a run has or has not, as its code was edited
    outputs: Mapping[str, Callable[[int], Any]] = field(default_factory=dict)  # what a step of run n must have given
    checkpoints: Mapping[str, str] | None = None  # of a durable function: how each of its operations ends
    transactional: frozenset[str] = frozenset()  # steps that write one row beside
    signals: Mapping[str, int] = field(default_factory=dict)  # how many of each name are sent
    heroes: int = 0  # how many heroes it is started for; each has one open run
    has_child: bool = False  # starts a run and waits for it
    is_child: bool = False  # started by runs alone


def _call(path: str) -> Callable[[random.Random, str], dict[str, Any]]:
    def write(_: random.Random, step: str) -> dict[str, Any]:
        mark = f"n={{{{trigger.body.n}}}}&step={step}"
        body = {"n": "{{trigger.body.n}}"}
        return {"url": f"{{{{trigger.body.target}}}}{path}?{mark}", "body": body, "retries": PATIENT}

    return write


KINDS: Final[Mapping[str, Kind]] = {
    "echo": Kind(lambda rng, step: {"action": "core.echo", "with": {"step": step}}, weight=8),
    "fail": Kind(lambda rng, step: {"action": "core.fail", "retries": 0}, "failed", weight=1),
    "nap": Kind(lambda rng, step: {"action": "chaos.nap", "with": {"ms": rng.randint(1, 200)}, "retries": PATIENT}),
    "block": Kind(
        lambda rng, step: {"action": "chaos.block", "with": {"ms": rng.randint(1, 60)}, "retries": PATIENT}, weight=2
    ),
    "call": Kind(_call("/echo"), effect=True, weight=8),
    "refused": Kind(_call("/status/402"), "failed", effect=True, weight=1),
    "flaky": Kind(_call("/flaky/2"), effect=True),
    "slow": Kind(_call("/slow/150"), effect=True),
    "sleep": Kind(lambda rng, step: {"sleep": f"{rng.choice((50, 200, 600, 1500))}ms"}),
    "wait": Kind(lambda rng, step: {"wait_for_webhook": {}}, callback=True),
    "missed": Kind(lambda rng, step: {"wait_for_webhook": {"timeout": "300ms"}}, "timeout", weight=1),
}


def ten_echoes() -> Program:
    """The plainest load: ten steps, one after the other."""
    names = [f"s{number}" for number in range(10)]
    steps = {name: {"action": "core.echo", "with": {"step": name}} for name in names}
    for before, name in pairwise(names):
        steps[name]["needs"] = [before]
    return predicted("ten_echoes", steps, dict.fromkeys(names, "echo"))


def chain(name: str, *kinds: str, **given: Mapping[str, Any]) -> Program:
    """Steps of these kinds one after the other, named a, b, c...; `given` changes what a step says."""
    names = [chr(ord("a") + number) for number in range(len(kinds))]
    rng = random.Random(name)
    steps = {
        step: {**KINDS[kind].write(rng, step), **given.get(step, {})} for step, kind in zip(names, kinds, strict=True)
    }
    for before, step in pairwise(names):
        steps[step]["needs"] = [before]
    return predicted(name, steps, dict(zip(names, kinds, strict=True)))


def make_programs(seed: int, count: int) -> list[Program]:
    """`count` workflows of four to ten steps, the same for the same seed."""
    return [_make(random.Random(f"{seed}/{number}"), f"program_{number}") for number in range(count)]


def _make(rng: random.Random, name: str) -> Program:
    steps: dict[str, dict[str, Any]] = {}
    kinds: dict[str, str] = {}
    for number in range(rng.randint(4, 10)):
        step = f"s{number}"
        [kind] = rng.choices(list(KINDS), [kind.weight for kind in KINDS.values()])
        steps[step] = KINDS[kind].write(rng, step)
        earlier = list(kinds)[-4:]
        needs = rng.sample(earlier, min(len(earlier), rng.choice((0, 1, 1, 1, 2, 3))))
        if needs:
            steps[step]["needs"] = needs
        guardable = [need for need in needs if kinds[need] != "wait"]  # a wait's success reads `received`
        if guardable and rng.random() < 0.2:
            steps[step]["if"] = f"tasks.{guardable[0]}.status {rng.choice(('==', '!='))} 'success'"
        kinds[step] = kind
    return predicted(name, steps, kinds)


def predicted(name: str, steps: Mapping[str, Mapping[str, Any]], kinds: Mapping[str, str]) -> Program:
    """The program of these steps; `kinds` names the kind of each."""
    endings: dict[str, str] = {}
    for step, written in steps.items():
        endings[step] = KINDS[kinds[step]].ending if _runs(written, endings) else "skipped"
    ran = [step for step, ending in endings.items() if ending in RAN]
    return Program(
        name=name,
        definition={"name": name, "tasks": dict(steps)},
        endings=endings,
        effects=frozenset(step for step in ran if KINDS[kinds[step]].effect),
        callbacks=tuple(step for step in ran if KINDS[kinds[step]].callback),
        status="failed" if _unhandled(steps, endings) else "completed",
    )


def _runs(written: Mapping[str, Any], endings: Mapping[str, str]) -> bool:
    if "if" in written:
        path, operator, _ = written["if"].split()
        succeeded = endings[str(path).split(".")[1]] == "success"
        return succeeded is (operator == "==")
    return all(endings[need] == "success" for need in written.get("needs", ()))


def _unhandled(steps: Mapping[str, Mapping[str, Any]], endings: Mapping[str, str]) -> list[str]:
    """Failures after which nothing ran, directly or through skipped steps."""

    def handled(step: str) -> bool:
        after = [name for name, written in steps.items() if step in written.get("needs", ())]
        return any(endings[name] in RAN or handled(name) for name in after)

    return [step for step, ending in endings.items() if ending in FAILURES and not handled(step)]
