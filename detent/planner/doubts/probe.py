"""What the probe of a step answers after a crash: its effect happened, it did not, or that is unknown.

A step with `on_crash: probe` whose node died during an attempt is not tried again. Its next attempt calls the probe, an
action with the same parameters and the same idempotency key. If the effect happened, the step ends with what the probe
returned. If it did not happen, the step is tried again. An answer that does not say it is asked for again, as often as
the step may be tried and at least `LEAST_PROBES` times. After that the step is uncertain, and a user resolves it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

import msgspec

from detent.graph.model import Ending
from detent.instant import Instant
from detent.planner.apply import Change
from detent.planner.doubts.resolve import did_not_happen
from detent.planner.prepared import Prepared
from detent.planner.retry import retry_at
from detent.planner.suspects import UNCERTAIN, most_probes
from detent.run import events
from detent.run.journal import EntryData, Kind, ProbeAnswer, ProbeEntry
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.run.state import RunState

_LONGEST: Final = 200
_decode: Final = msgspec.json.Decoder().decode
_encode: Final = msgspec.json.Encoder().encode


class _Verdict(NamedTuple):
    """What a probe said. `result` is that of the step if it happened, `fail` says why the answer is unknown."""

    answer: ProbeAnswer
    result: bytes = b""
    fail: Fail | None = None


def probe_answered(event: events.AttemptEnded, prepared: Prepared, state: RunState, now: Instant) -> Change:
    """Plan what follows the answer of a probe."""
    index = event.step
    step, probing = prepared.graph.steps[index], state.probes[index]
    assert step.probe is not None
    verdict = _read(step.probe.action, event.outcome)
    data = EntryData(probe=ProbeEntry(step.probe.action, verdict.answer))
    if verdict.answer is ProbeAnswer.HAPPENED:
        data.result = msgspec.Raw(verdict.result)
        return Change(Kind.ENDED, index, probing.attempt, Ending.SUCCESS, data)
    if verdict.answer is ProbeAnswer.DID_NOT_HAPPEN:
        data.error = did_not_happen(step.name, step.probe.action)
        if state.failing:  # it begins no new attempts
            return Change(Kind.ENDED, index, probing.attempt, Ending.FAILED, data)
        data.retry_at = now
        return Change(Kind.RETRY, index, probing.attempt, Ending.FAILED, data)
    assert verdict.fail is not None
    data.error, data.ms = verdict.fail.error, event.ms
    if state.failing:
        words = f"it is unknown whether '{step.name}' happened: its node died, and {data.error.message}"
        data.error = StepError(UNCERTAIN, words)
        return Change(Kind.ENDED, index, probing.attempt, Ending.FAILED, data)
    policy = replace(step.retry, attempts=most_probes(step))
    key = b"%b/%b/probe" % (state.facts.id, step.name.encode())
    data.retry_at = retry_at(policy, verdict.fail, attempt=probing.tries + 1, key=key, now=now)
    return Change(Kind.RETRY, index, 0, None, data)


def _read(action: str, outcome: Outcome) -> _Verdict:
    """Read the answer of a probe: `{happened: true, output: ...}`, or `{happened: false}`."""
    if not isinstance(outcome, Done):
        fail = outcome if isinstance(outcome, Fail) else Fail(_unclear(action, f"it ended as {type(outcome).__name__}"))
        return _Verdict(ProbeAnswer.UNKNOWN, fail=fail)
    result: Any = _decode(outcome.result)
    output = result.get("output") if isinstance(result, dict) else None
    happened = output.get("happened") if isinstance(output, dict) else None
    if happened is True:
        assert isinstance(output, dict)
        return _Verdict(ProbeAnswer.HAPPENED, _encode({**result, "output": output.get("output", output)}))
    if happened is False:
        return _Verdict(ProbeAnswer.DID_NOT_HAPPEN)
    said = _encode(output).decode()
    words = f"its output has to have happened: true or false, and it is {said[:_LONGEST]}"
    return _Verdict(ProbeAnswer.UNKNOWN, fail=Fail(_unclear(action, words)))


def _unclear(action: str, words: str) -> StepError:
    return StepError("unclear_probe", f"the probe {action!r} does not say whether the effect happened: {words}")
