"""The works: each puts the sides on stage, lets them take turns, and writes its lines."""

from collections.abc import Callable

from bench.stage import Stage
from bench.works import (
    api,
    events,
    forms,
    history,
    http,
    identity,
    idle,
    logs,
    nodes,
    parallel,
    python,
    sleeping,
    steps,
)

WORKS: dict[str, Callable[[Stage], None]] = {
    "W0": idle.measure,
    "W1": steps.measure,
    "W1p": python.measure,
    "W1g": forms.measure,
    "W1l": logs.measure,
    "W2": parallel.measure_join,
    "W2b": parallel.measure_growth,
    "W3": http.measure,
    "W4": api.measure,
    "W4k": identity.measure,
    "W5": sleeping.measure,
    "W5b": history.measure,
    "W6": events.measure,
    "nodes": nodes.measure,
}

__all__ = ["WORKS"]
