"""Retry and repeat: when the next attempt of a failed step, or the next look of a repeated one, is due."""

from __future__ import annotations

import zlib

from detent.graph.model import Repeat, Retry
from detent.instant import Instant, micros
from detent.run.outcomes import Fail


def retry_at(policy: Retry, fail: Fail, *, attempt: int, key: bytes, now: Instant) -> Instant | None:
    """Return when the next attempt is due, or None if this was the last.

    The delay grows by `factor` with every attempt. Jitter spreads it over nearly its whole length, so that a thousand
    steps that failed together are not retried together. The jitter is a hash of (run, step, attempt) and not random,
    because a plan must be deterministic.
    """
    if not fail.retry or attempt >= policy.attempts:
        return None
    delay = min(policy.max_delay, policy.delay * policy.factor ** min(attempt - 1, 64))
    if policy.jitter:
        delay *= 0.1 + 0.9 * (zlib.crc32(b"%b/%d" % (key, attempt)) / 0xFFFFFFFF)
    return now + micros(max(delay, fail.retry_after or 0.0))


def look_at(repeat: Repeat, *, looks: int, since: Instant, now: Instant) -> Instant | None:
    """Return when the next look is due after so many looks, or None if that is too late."""
    pause = min(repeat.max_wait, repeat.every * repeat.factor ** min(looks, 64))
    when = now + micros(pause)
    is_over = repeat.give_up_after is not None and when > since + micros(repeat.give_up_after)
    return None if is_over else when
