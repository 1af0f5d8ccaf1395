"""A Detent with many rules, in a process of its own: `python -m bench.event_node URL`.

Events and plain starts arrive in the same process at a steady rate, and each is measured from its arrival until its run
is durable.
"""

import argparse
import asyncio
import hashlib
import json
import random
import time
from typing import Any

from bench.serving import Meter, Voice, serve
from detent.auth.caller import local_caller
from detent.forms.steps.form import compile_steps
from detent.graph import codec
from detent.ids import WORKFLOW, new_id, show
from detent.observe import listen
from detent.process import App, run_app, run_process
from detent.run.start import StartRequest
from detent.settings import Settings
from detent.store.rows import NewVersion, SavedVersion
from detent.store.rule_rows import NewEntity
from detent.triggers.entities.event import RecordChange, RecordOperation

TENANT = 1
SAVED_TOGETHER = 20
STARTED_TOGETHER = 500
HANGS = 60.0


class EventNode:
    """What the parent can ask for."""

    def __init__(self, app: App) -> None:
        self._app = app
        caller = local_caller("bench")
        self._events = app.triggers.for_caller(caller).events
        self._starts = app.commands.for_caller(caller).starts
        self._rules: list[str] = []
        self._entities = 0
        self._ended = 0
        listen(self._note)

    def _note(self, name: str, facts: dict[str, Any]) -> None:
        self._ended += name == "run.ended"

    async def rules(self, rules: int, entities: int) -> None:
        """Save rules, evenly spread over entities; each waits for another value of `code`."""
        graph = codec.encode(compile_steps({"name": "rule", "tasks": {"a": {"action": "core.echo"}}}).graph)
        self._entities = entities
        store = self._app.store
        for number in range(entities):
            await store.add_entity(NewEntity(TENANT, new_id(), f"entity-{number}", "", None))

        async def save(number: int) -> None:
            entity, code = f"entity-{number % entities}", number // entities
            condition = {"field_name": "code", "operator": "changed_to", "value": code}
            amount = {"field_name": "amount", "operator": "gte", "value": 0}
            written = {"field_conditions": [condition, amount]}
            facts = {"entity": entity, "trigger_type": "on_update", "conditions": written}
            source = json.dumps({"name": f"rule-{number}", **facts})
            trigger = json.dumps({"type": "api", "rule": facts})
            checksum = hashlib.sha256(source.encode()).hexdigest()
            version = NewVersion(
                TENANT, new_id(), f"rule-{number}", "rule", None, True, trigger, None, source, graph, checksum, 1,
                entity=entity,
            )  # fmt: skip
            saved = await store.save_workflow(version, replace=False)
            assert isinstance(saved, SavedVersion)
            self._rules.append(show(WORKFLOW, saved.id))

        for first in range(0, rules, SAVED_TOGETHER):
            await asyncio.gather(*(save(number) for number in range(first, min(rules, first + SAVED_TOGETHER))))
        for first in range(0, rules, STARTED_TOGETHER):  # as after an hour of work: every rule was started before
            some = self._rules[first : first + STARTED_TOGETHER]
            await asyncio.gather(*(self._starts.start(StartRequest(one, {"before": {}, "after": {}})) for one in some))

    async def events(self, rate: float, seconds: float) -> dict[str, Any]:
        """Send events that match one rule each."""
        codes = len(self._rules) // self._entities

        async def one(number: int) -> None:
            dice = random.Random(number)
            entity, code = f"entity-{dice.randrange(self._entities)}", dice.randrange(codes)
            before, after = {"code": -1, "amount": 5}, {"code": code, "amount": 7, "customer": "ann", "number": number}
            change = RecordChange(entity, RecordOperation.UPDATE, str(number), before, after, "bench")
            [receipt] = await self._events.send([("", change)], wait=HANGS)
            if len(receipt.runs or ()) != 1:
                raise RuntimeError(f"an event started {receipt}")

        return await self._steadily(one, rate, seconds)

    async def starts(self, rate: float, seconds: float) -> dict[str, Any]:
        """Start runs of the same workflows, with a request id and a hero each, as an event has."""

        async def one(number: int) -> None:
            dice = random.Random(number)
            body = {"before": {"code": -1, "amount": 5}, "after": {"code": 3, "amount": 7, "number": number}}
            hero = ("entity", str(number))
            id_ = f"bench:{time.monotonic_ns()}:{number}"
            await self._starts.start(StartRequest(dice.choice(self._rules), body, request_id=id_, hero=hero))

        return await self._steadily(one, rate, seconds)

    async def _steadily(self, one: Any, rate: float, seconds: float) -> dict[str, Any]:
        """So many each second, whether or not the earlier ones have ended."""
        took: list[float] = []
        self._ended = 0
        meter, begun, count = Meter(), time.perf_counter(), round(rate * seconds)

        async def timed(number: int) -> None:
            due = begun + number / rate
            await one(number)
            took.append(time.perf_counter() - due)

        tasks = []
        for number in range(count):
            late = begun + number / rate - time.perf_counter()
            if late > 0:
                await asyncio.sleep(late)
            tasks.append(asyncio.create_task(timed(number)))
        await asyncio.gather(*tasks)
        facts = meter.read()
        for _ in range(600):
            if self._ended >= count:
                break
            await asyncio.sleep(0.05)
        return {"took": took, "done": count, "ended": self._ended, **facts}


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    arguments = parser.parse_args()
    voice = Voice()
    async with run_app(Settings(database_url=arguments.database), migrate=True) as app:
        node = EventNode(app)
        await serve({verb: getattr(node, verb) for verb in ("rules", "events", "starts")}, voice)


if __name__ == "__main__":
    run_process(main())
