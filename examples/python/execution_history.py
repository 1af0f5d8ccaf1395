"""Every attempt of a run is stored: its step, its outcome, and the error with its traceback.

python examples/python/execution_history.py
"""

from __future__ import annotations

from detent import Workflow, reattempt, step
from detent.testing import speedrun


class ReportWorkflow(Workflow):
    @step(on_exception=reattempt(max=3, wait="1m"))
    def collect(self) -> int:
        if self.attempt < 3:
            raise TimeoutError("the warehouse is asleep")
        return 42

    @step(skip_if=lambda self: self.results["collect"] < 100)
    def ring_the_bell(self) -> None: ...

    @step
    def publish(self) -> str:
        return f"{self.results['collect']} pages"


def main() -> None:
    run = speedrun(ReportWorkflow)
    for attempt in run.history:
        print(f"{attempt.step} {attempt.attempt}: {attempt.state} ({attempt.outcome})")
        if attempt.error is not None:
            print(f"  error: {attempt.error.message}")


if __name__ == "__main__":
    main()
