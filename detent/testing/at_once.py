"""`speedrun`: a run from its start to its end, at once.

    run = speedrun(Signup, hero=user, answers={"approval": {"ok": True}})
    assert run.route == ["welcome", "remind:skipped", "complete"]

It is the engine that runs, on a memory store under a fake clock: sleeps of days take no time, and between two steps
that wait the run leaves memory and is read again from its journal, and its hero anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from detent.access.orders import UNSET
from detent.testing.answers import Answers
from detent.testing.clock import Length
from detent.testing.ending import Speedrun
from detent.testing.subject import standing_in, subject_of
from detent.testing.trial import LONGEST_WAIT, Trial


def speedrun(
    workflow: Any,
    *args: Any,
    hero: Any = None,
    input: Any = UNSET,  # noqa: A002 - the word users know
    answers: Mapping[str, Any] | None = None,
    state: Any = None,
    at: datetime | None = None,
    max_wait: Length = LONGEST_WAIT,
    follow: bool = True,
) -> Speedrun:
    """Run a workflow to its end and tell how it went. NeverEnds if it waits for what nobody answers.

    `workflow` is a Workflow class, a function made by @workflow, the name of one, or a definition: its path, its text
    or a dict. `answers` give waits their callback and steps their result without running their body, by name: a
    value, an exception to be raised, or a callable that is called with what was `Asked`. `state` is what `self.state`
    begins with. `at` is when it begins. `max_wait` is how long it may take, in its own time. A durable function that
    goes on as a new run is followed to its end, unless `follow` is false.

    It can be called where a loop is running: that loop stands still meanwhile. Where something on that loop is
    needed, such as a server of the test's, `await speedrun_async(...)`."""
    subject = subject_of(workflow, args, hero=hero, given=input)
    with standing_in(hero):
        return Trial(subject, Answers(answers), at=at, max_wait=max_wait, state=state, follow=follow).run()


async def speedrun_async(workflow: Any, *args: Any, **options: Any) -> Speedrun:
    """The same in a thread of its own, while the loop of the caller goes on."""
    return await asyncio.to_thread(partial(speedrun, workflow, *args, **options))
