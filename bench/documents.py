"""The workflows that are measured, as definitions in the steps form and the graph form."""

import json
from typing import Any


def chain(steps: int) -> str:
    """Trivial steps, one after the other."""
    written: dict[str, Any] = {}
    for number in range(steps):
        written[f"s{number}"] = _echo(number) | ({"needs": [f"s{number - 1}"]} if number else {})
    return _document(f"chain-{steps}", written)


def graph_chain(steps: int) -> str:
    """The same as `chain`, in the graph form."""
    nodes: list[dict[str, Any]] = [
        {"id": f"s{number}", "actionType": "core.echo", "parameters": {"n": number}} for number in range(steps)
    ]
    for number, node in enumerate(nodes[:-1], 1):
        node["edges"] = [{"targetNode": f"s{number}"}]
    whole = {"id": f"graph-chain-{steps}", "displayName": "A chain", "startNode": "s0", "nodes": nodes}
    return json.dumps(whole, separators=(",", ":"))


def fan(steps: int) -> str:
    """Trivial steps side by side, and one that needs them all."""
    written = {f"p{number}": _echo(number) for number in range(steps)}
    return _document(f"fan-{steps}", written | {"join": _echo(0) | {"needs": list(written)}})


def posts(url: str, steps: int = 3) -> str:
    """HTTP requests, one after the other."""
    written: dict[str, Any] = {}
    for number in range(steps):
        needs = {"needs": [f"post{number - 1}"]} if number else {}
        written[f"post{number}"] = {"url": url, "method": "POST", "body": {"n": number}, **needs}
    return _document("posts", written)


def nap(seconds: float) -> str:
    """One sleep and nothing else."""
    return _document(f"nap-{seconds:g}", {"pause": {"sleep": f"{round(seconds * 1000)}ms"}})


def work_and_nap(seconds: float) -> str:
    """A trivial step, then a sleep: a run that was in memory before it slept."""
    work = {"action": "core.echo", "with": {"n": 1}}
    return _document(
        f"work-{seconds:g}", {"work": work, "pause": {"sleep": f"{round(seconds * 1000)}ms", "needs": ["work"]}}
    )


def answered(step: str) -> str:
    """A wait for a callback, and a trivial step after it."""
    return _document("answered", {step: {"wait_for_webhook": {"timeout": "1h"}}, "then": _echo(1) | {"needs": [step]}})


def stroll(rounds: int, seconds: float) -> str:
    """Short sleeps and trivial steps in turn: a run that is in memory for a while and always about to do something."""
    written: dict[str, Any] = {}
    before: list[str] = []
    for number in range(rounds):
        written[f"pause{number}"] = {"sleep": f"{round(seconds * 1000)}ms", "needs": before}
        written[f"step{number}"] = _echo(number) | {"needs": [f"pause{number}"]}
        before = [f"step{number}"]
    return _document(f"stroll-{rounds}", written)


def _echo(number: int) -> dict[str, Any]:
    return {"action": "core.echo", "with": {"n": number}}


def _document(name: str, written: dict[str, Any]) -> str:
    return json.dumps({"name": name, "tasks": written}, separators=(",", ":"))
