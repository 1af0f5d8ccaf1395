"""What a unit adds to a flush."""

from __future__ import annotations

from detent.engine.write import LONGEST_ERROR, PendingWrite
from detent.run.plan import Plan
from detent.store.rows import End, Flush


def test_an_error_text_that_no_database_column_could_hold_is_made_to_fit() -> None:
    write = PendingWrite(
        b"r" * 16, None, Plan(None, [], [], []), 0, end=End(b"r" * 16, 1, "failed", 1, None, "a\0b" + "x" * 10_000)
    )
    flush = Flush()
    write.add_to(flush)
    error = flush.ends[0].error
    assert error is not None
    assert error.startswith("a\ufffdb")
    assert len(error) == LONGEST_ERROR
