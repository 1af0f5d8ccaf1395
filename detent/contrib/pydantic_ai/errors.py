"""The exceptions of agents in durable functions.

Exception
├── StepFailed
│   └── ResultTooLarge      the answer of a model or a tool is larger than a step may store
└── ValueError
    └── MessagesTooLarge    the messages of a conversation are larger than a run may store
"""

from __future__ import annotations

from detent.python.functions import StepFailed
from detent.run.outcomes import StepError
from detent.values.limits import INPUT_LIMIT


class ResultTooLarge(StepFailed):
    """The answer of a model or a tool is larger than a step may store. Its message says what to do."""

    def __init__(self, failed: StepFailed, advice: str) -> None:
        super().__init__(failed.key, StepError(failed.code, f"{failed.message}; {advice}", failed.detail))


class MessagesTooLarge(ValueError):
    """The messages of a conversation are larger than a run may store."""

    def __init__(self, count: int, size: int) -> None:
        super().__init__(
            f"{count:,} messages take {size:,} bytes, more than {INPUT_LIMIT // 1024} KB, the limit of a run's input "
            "and output: keep the newest ones, let the agent summarise the older ones, or store them in your own "
            "database in a step and pass their key"
        )
