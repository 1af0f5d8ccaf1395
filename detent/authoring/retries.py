"""How often a step is tried again: `retries: 3`, or `retries: {attempts: 3, delay: 5s, factor: 2, ...}`."""

from __future__ import annotations

from typing import Final

from detent.authoring.durations import SECOND
from detent.authoring.fields import Fields
from detent.graph.model import Retry

RETRY_FIELDS: Final = ("retries", "retry")
MOST_RETRIES: Final = 100
_BLOCK_FIELDS: Final = ("attempts", "delay", "factor", "max_delay", "jitter")
_LARGEST_FACTOR: Final = 100.0


def read_retry(fields: Fields, default: Retry) -> Retry:
    """`retries` counts the tries after the first, as a number and as `attempts` of the block."""
    written = fields.written(RETRY_FIELDS)
    if len(written) > 1:
        fields.problems.add(fields.at("retry"), "is another spelling of 'retries'; write one of them")
    if not written:
        return default
    [name, *_] = written
    if isinstance(fields.get(name), dict):
        return _block(Fields(fields.get(name), fields.at(name), fields.problems), default)
    again = fields.integer(name, least=0, most=MOST_RETRIES)
    return default if again is None else Retry(attempts=again + 1)


def _block(fields: Fields, default: Retry) -> Retry:
    fields.refuse_unknown(_BLOCK_FIELDS)
    again = fields.integer("attempts", least=0, most=MOST_RETRIES)
    delay = fields.duration("delay", unit=SECOND)
    factor = fields.number("factor", least=1.0, most=_LARGEST_FACTOR)
    longest = fields.duration("max_delay", unit=SECOND)
    retry = Retry(
        attempts=default.attempts if again is None else again + 1,
        delay=default.delay if delay is None else delay,
        factor=default.factor if factor is None else factor,
        jitter=fields.boolean("jitter", default.jitter),
        max_delay=max(default.max_delay, delay or 0.0) if longest is None else longest,
    )
    if longest is not None and longest < retry.delay:
        fields.problems.add(fields.at("max_delay"), f"is shorter than the first delay of {retry.delay:g} s")
    return retry
