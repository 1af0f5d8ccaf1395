"""The idempotency key: the same in every attempt of a step of a run, and of nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detent.graph.model import StepKind
from detent.run.call import StepCall

RUNS = st.binary(min_size=16, max_size=16)
STEPS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,20}", fullmatch=True)


def _call(run: bytes, tenant: int, step: str, attempt: int = 1) -> StepCall:
    return StepCall(run, tenant, step, StepKind.HTTP, attempt, None)


@given(RUNS, st.integers(1, 99), STEPS, st.integers(1, 9))
def test_every_attempt_has_the_same_key(run: bytes, tenant: int, step: str, attempt: int) -> None:
    key = _call(run, tenant, step).idempotency_key
    assert key == _call(run, tenant, step, attempt).idempotency_key
    assert len(key) == 40
    assert key.isalnum()


@given(st.sets(st.tuples(RUNS, st.integers(1, 99), STEPS), min_size=2, max_size=20))
def test_no_two_steps_share_a_key(owners: set[tuple[bytes, int, str]]) -> None:
    assert len({_call(*owner).idempotency_key for owner in owners}) == len(owners)
