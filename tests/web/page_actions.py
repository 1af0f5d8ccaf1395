"""What a server imports for the tests of pages: a schedule in code, and an action that says how far it is."""

from __future__ import annotations

import asyncio

import detent
from detent import ActionContext, Run, cron


@detent.action("pages.count")
async def count(context: ActionContext) -> None:
    context.progress(0.4, "page 4 of 10")
    while not context.cancelled:  # noqa: ASYNC110 - as an action with a loop does
        await asyncio.sleep(0.05)


@detent.workflow(schedule=cron("0 9 * * 1-5", "Europe/Zurich", overlap="skip"))
async def morning_report(run: Run, title: str = "Orders") -> str:
    return title
