"""Rules on an engine in virtual time, with stand-ins for what their actions call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from detent.forms.compile import compile_document
from detent.forms.definition import read_definition
from detent.forms.rules.form import compile_rule
from detent.graph.model import Graph
from detent.planner import prepare
from detent.planner.scope import status_word
from detent.run.call import StepCall
from detent.run.outcomes import Done
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import CORE, Registry
from detent.steps.errors import Permanent
from detent.views.runs import fold_row
from tests.engine.rig import Rig, done, rig, virtual
from tests.forms.rules import ORDER_STATUS, STAND_INS, action, edge, rule, start

SHIPPED = {
    "id": "evt_1",
    "entity": "order",
    "operation": "update",
    "record_id": "7",
    "before": {"number": "A-7", "status": "paid"},
    "after": {
        "number": "A-7",
        "status": "shipped",
        "customer_email": "ann@shop.example",
        "customer_name": "Ann",
        "first": "the first",
        "length": 3,
    },
    "actor": "bob",
    "at": "2026-02-22T10:00:00Z",
}


class Service:
    """A stand-in for an action that remembers what it was called with."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.calls: list[dict[str, Any]] = []

    def __call__(self, **parameters: Any) -> Any:
        self.calls.append(parameters)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def begin(world: Rig, graph: Graph, body: Any, services: Mapping[str, Service]) -> bytes:
    """Start a run of a rule on an engine that has these actions beside those of Detent."""
    own, core = Registry(), Registry(is_core=True)
    for name, service in services.items():
        (core if name.startswith("core.") else own).add(name, service, inline=True)
    executors = {
        name: ActionExecutor(core=core) if name.startswith("core.") else ActionExecutor(own) for name in services
    }
    usual = ActionExecutor(core=CORE)
    for step in graph.steps:
        if "action" in step.config:
            world.hands.scripts[step.name] = executors.get(step.config["action"], usual).begin
    await world.engine()
    return await world.start(graph, body)


async def statuses(world: Rig, id_: bytes, graph: Graph) -> dict[str, str | None]:
    prepared = prepare(graph)
    entries = [entry for _, entry in sorted(world.store.entries[id_].items())]
    state = fold_row(await world.row(id_), prepared, entries, str)
    return {name: status_word(prepared, state, index) for name, index in prepared.numbers.items()}


async def run(graph: Graph, body: Any, services: Mapping[str, Service]) -> tuple[str, dict[str, str | None], Any]:
    """Run a rule to its end. Return its status, those of its steps, and its output."""
    async with rig() as world:
        id_ = await begin(world, graph, body, services)
        status = await world.ended(id_)
        output = (await world.row(id_)).output
        return status, await statuses(world, id_, graph), None if output is None else json.loads(output)


@virtual
async def test_the_rule_of_the_editor_sends_its_mail_and_then_creates_its_alert() -> None:
    mail, alert = Service({"message_id": "<1>"}), Service({"id": "alert_1"})
    graph = compile_document(read_definition(ORDER_STATUS), actions=STAND_INS).graph
    status, steps, output = await run(graph, SHIPPED, {"email.send": mail, "core.alert": alert})
    assert (status, steps) == ("completed", {"send-email": "success", "create-alert": "success"})
    assert mail.calls == [
        {"to": ["ann@shop.example"], "subject": "Order A-7 Shipped", "text": "Your order has shipped!"}
    ]
    assert alert.calls == [
        {
            "alert_type": "order_shipped",
            "severity": "low",
            "title": "Order shipped",
            "message": "Order A-7 shipped to Ann",
        }
    ]
    assert output == {"id": "alert_1"}


@virtual
async def test_a_mail_that_is_refused_ends_the_run_before_the_alert() -> None:
    mail, alert = Service(Permanent("no such mailbox")), Service()
    graph = compile_document(read_definition(ORDER_STATUS), actions=STAND_INS).graph
    status, steps, _ = await run(graph, SHIPPED, {"email.send": mail, "core.alert": alert})
    assert (status, steps) == ("failed", {"send-email": "failed", "create-alert": "skipped"})
    assert (len(mail.calls), alert.calls) == (1, [])


BRANCHES = rule(
    action("large", "condition", action_config={"expression": "total > vars.limit"}),
    action("pay", "shop.pay", action_config={"total": "{{ total }}"}),
    action("free", "core.echo", action_config={"text": "{{ first }} {{ number }}"}),
    action("log", "core.echo", action_config={"message": "{{ steps.large.output }}"}),
    edges=[
        start("large"),
        edge("large", "pay", "true_branch"),
        edge("large", "free", "false_branch"),
        edge("pay", "log", "always"),
        edge("free", "log", "always"),
    ],
    vars={"limit": 100},
)


@virtual
async def test_the_true_branch_runs_and_the_false_one_is_skipped() -> None:
    pay = Service({"paid": True})
    status, steps, _ = await run(compile_rule(BRANCHES).graph, {"total": 150}, {"shop.pay": pay})
    assert status == "completed"
    assert steps == {"large": "success", "pay": "success", "free": "skipped", "log": "success"}
    assert pay.calls == [{"total": 150}]


@virtual
async def test_the_false_branch_runs_with_fields_that_are_named_like_functions() -> None:
    pay = Service()
    record = {"total": 100, "first": 1, "number": "A-7"}
    graph = compile_rule({**BRANCHES, "output": "{{ steps.free.output.text }}"}).graph
    status, steps, output = await run(graph, record, {"shop.pay": pay})
    assert (status, steps["pay"], steps["free"], output) == ("completed", "skipped", "success", "1 A-7")


@virtual
async def test_an_always_edge_is_taken_by_a_failure_and_the_run_fails_all_the_same() -> None:
    pay = Service(Permanent("no funds"))
    status, steps, _ = await run(compile_rule(BRANCHES).graph, {"after": {"total": 150}}, {"shop.pay": pay})
    assert (status, steps["pay"], steps["log"]) == ("failed", "failed", "success")


@virtual
async def test_actions_behind_one_action_begin_in_the_order_of_their_edges() -> None:
    services = {f"shop.{name}": Service() for name in "bcd"}
    order: list[str] = []
    for name, service in services.items():
        service.calls = _Noted(order, name)
    actions = [action("a"), *(action(name, f"shop.{name}") for name in "bcd")]
    edges = [start("a"), *(edge("a", name, edge_order=place) for name, place in (("b", 3), ("c", 1), ("d", 2)))]
    status, _, _ = await run(compile_rule(rule(*actions, edges=edges)).graph, {}, services)
    assert (status, order) == ("completed", ["shop.c", "shop.d", "shop.b"])


class _Noted(list[dict[str, Any]]):
    """A list of calls that also notes which service was called."""

    def __init__(self, order: list[str], name: str) -> None:
        super().__init__()
        self._order, self._name = order, name

    def append(self, call: dict[str, Any]) -> None:
        self._order.append(self._name)


@virtual
async def test_a_delay_parks_the_run_a_wait_is_called_back_and_a_call_reads_the_answer() -> None:
    written = rule(
        action("pause", "delay", action_config={"duration": "2m"}),
        action("approval", "wait", action_config={"timeout": "7d"}),
        action("tell", "call", action_config={"url": "https://shop.example/{{ number }}", "body": "{{ answer }}"}),
        edges=[start("pause"), edge("pause", "approval"), edge("approval", "tell")],
    )
    written["actions"][2]["action_config"]["body"] = {
        "by": "{{ steps.approval.output.by }}",
        "was": "{{ before.status }}",
    }
    graph = compile_rule(written).graph
    sent: list[Any] = []

    def answer(call: StepCall) -> Done:
        sent.append(call.parameters)
        return Done(b'{"status_code":200,"headers":{},"body":{"ok":true}}')

    async with rig() as world:
        world.hands.scripts["tell"] = answer
        begun = world.clock.monotonic()
        id_ = await begin(world, graph, SHIPPED, {})
        await world.until(lambda: ("ended", "pause") in world.kinds(id_), within=300)
        assert world.clock.monotonic() - begun >= 120
        await world.call_back(id_, "approval", {"by": "carl"})
        assert await world.ended(id_) == "completed"
        assert await statuses(world, id_, graph) == {"pause": "success", "approval": "received", "tell": "success"}
        output = (await world.row(id_)).output
    assert output is not None
    assert json.loads(output) == {"ok": True}
    [request] = sent
    assert (request["url"], request["body"]) == ("https://shop.example/A-7", {"by": "carl", "was": "paid"})


@virtual
async def test_a_rule_is_adopted_by_another_node_and_goes_on_with_the_same_record() -> None:
    graph = compile_rule(
        rule(action("a"), action("b", action_config={"of": "{{ number }}"}), edges=[start(), edge("a", "b")])
    ).graph
    async with rig() as world:
        gate = world.hands.hold("a")
        first = await world.engine()
        id_ = await world.start(graph, SHIPPED)
        await world.until(lambda: bool(world.hands.attempts("a")))
        world.crash(first)
        world.hands.scripts["a"] = lambda call: done("again")
        gate.set()
        await world.engine()
        assert await world.ended(id_, within=600) == "completed"
        [call] = [call for call in world.hands.calls if call.step == "b"]
    assert call.parameters["with"] == {"of": "A-7"}
