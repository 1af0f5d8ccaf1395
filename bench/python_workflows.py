"""The ten trivial steps of W1 as Python writes them: a class, and a durable function; awaited, and in threads."""

import random

from detent import Run, Workflow, step, workflow

STEPS = 10
#: What a step of the flood logs: 100 KB that cannot be compressed, more than is stored of an attempt.
LINES = [random.Random(number).randbytes(500).hex() for number in range(100)]


async def echo_of(self: Workflow) -> dict[str, int]:
    return {"n": 1}


def echo_of_in_thread(self: Workflow) -> dict[str, int]:
    return {"n": 1}


class Awaited(Workflow):
    name = "python-class"

    for number in range(STEPS):
        step(f"s{number}", echo_of)


class InThreads(Workflow):
    name = "python-class-threads"

    for number in range(STEPS):
        step(f"s{number}", echo_of_in_thread)


async def flood_of(self: Workflow) -> dict[str, int]:
    for line in LINES:
        self.log.info(line)
    return {"n": 1}


class Flooding(Workflow):
    name = "python-flood"

    for number in range(STEPS):
        step(f"s{number}", flood_of)


async def echo(n: int) -> dict[str, int]:
    return {"n": n}


def echo_in_thread(n: int) -> dict[str, int]:
    return {"n": n}


@workflow(name="python-function")
async def ten_awaited(run: Run, order: int) -> int:
    for number in range(STEPS):
        await run.step(echo, number)
    return order


@workflow(name="python-function-threads")
async def ten_in_threads(run: Run, order: int) -> int:
    for number in range(STEPS):
        await run.step(echo_in_thread, number)
    return order


FLOOD = "python-flood"
#: What is measured: what people call it, and the name of the workflow.
STYLES = {
    "class, async def": "python-class",
    "class, def (threads)": "python-class-threads",
    "durable function, async def": "python-function",
    "durable function, def (threads)": "python-function-threads",
}
