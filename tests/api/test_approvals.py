"""Waits that people answer: schemas, buttons, forms, approvals by name and by link, on every database."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from detent.auth.caller import Caller
from detent.auth.scopes import SCOPES, Role
from detent.commands.callbacks import DeliveryResult
from detent.errors import Conflict, Forbidden, InvalidInput
from detent.ids import RUN, parse, show
from detent.run.initiator import Principal
from detent.run.start import StartRequest
from detent.settings import DEFAULT_TENANT
from detent.store.rows import Receipt
from tests.api.conftest import EVERY_DATABASE
from tests.api.server import Detent

V1 = "/api/v1"
HTML = {"Accept": "text/html"}
FORM = {
    "type": "object",
    "properties": {"cost_center": {"type": "string", "minLength": 2}},
    "required": ["cost_center"],
}


def expense(**approve: Any) -> str:
    approve = {"title": "Expense of {{trigger.body.name}}", "data": {"amount": "{{trigger.body.amount}}"}, **approve}
    pay = {"needs": ["approve"], "action": "core.echo", "with": {"said": "{{tasks.approve.output}}"}}
    return json.dumps({"name": "expense", "tasks": {"approve": {"approve": approve}, "pay": pay}})


def person(name: str, role: Role = Role.OPERATOR) -> Caller:
    who = Principal(name, name.title(), f"{name}@example.com")
    return Caller(DEFAULT_TENANT, f"user {name}", SCOPES[role], "session", principal=who)


async def asked(detent: Detent, definition: str, body: Any = None) -> dict[str, Any]:
    """A run whose first step waits."""
    name = json.loads(definition)["name"]
    saved = await detent.call("PUT", f"{V1}/workflows/{name}", data=definition)
    assert saved.status in (200, 201), saved.text
    return await detent.start(name, {"name": "Ada", "amount": 120} if body is None else body)


async def decide(
    detent: Detent, started: dict[str, Any], who: Caller, body: Any, step: str = "approve"
) -> DeliveryResult:
    bound = detent.app.commands.for_caller(who)
    return await bound.callbacks.answer(started["run_id"], "approve", body=body, headers={}, query={}, message_id=None)


async def kinds(detent: Detent, started: dict[str, Any]) -> list[str]:
    entries = await detent.app.engine.store.journal(DEFAULT_TENANT, parse(RUN, started["run_id"]))
    return [entry.kind for entry in entries]


async def url_of(detent: Detent, started: dict[str, Any]) -> str:
    found: str = (await detent.run(started))["callbacks"][0]["url"]
    return found


async def output(detent: Detent, started: dict[str, Any]) -> Any:
    run = await detent.ended(started)
    assert run["status"] == "completed", run
    return run["output"]["said"]


@EVERY_DATABASE
async def test_of_two_people_that_decide_at_the_same_moment_one_is_told_that_it_was_too_late(detent: Detent) -> None:
    started = await asked(detent, expense())
    answers = await asyncio.gather(
        decide(detent, started, person("eve"), {"approved": False, "comment": "no"}),
        decide(detent, started, person("bob"), {"approved": True}),
    )
    assert sorted(answer.receipt for answer in answers) == [Receipt.ACCEPTED, Receipt.USED]
    said = await output(detent, started)
    first = "eve" if answers[0].receipt is Receipt.ACCEPTED else "bob"
    assert (said["by"], said["approved"], len(said["decisions"])) == (first, first == "bob", 1)
    late = await detent.call("POST", f"{V1}/runs/{started['run_id']}/steps/approve/answer", json={"approved": True})
    assert (late.status, late.json["message"]) == (
        409, "step 'approve' has its answer already; this one was not counted",
    )  # fmt: skip


@EVERY_DATABASE
async def test_runs_that_need_a_person_are_listed_as_such(detent: Detent) -> None:
    started = await asked(detent, expense())
    plain = {"name": "plain", "tasks": {"wait": {"wait_for_webhook": {}}}}
    await asked(detent, json.dumps(plain))
    for query in ("stage=person", "view=person"):
        while not (found := (await detent.call("GET", f"{V1}/runs?{query}")).json["data"]):
            await detent.call("GET", f"{V1}/runs/{started['run_id']}?wait=100ms")
        assert [(one["id"], one["stage"]["step"]) for one in found] == [(started["run_id"], "approve")]
    why = (await detent.call("GET", f"{V1}/runs/{started['run_id']}/why")).json["data"]
    assert why["summary"].startswith("Step 'approve' waits for a decision")


async def test_a_run_that_waits_for_a_person_says_until_when_and_not_when_it_reminds(api: Detent) -> None:
    started = await asked(api, expense(timeout="7d", remind={"every": "1d", "max": 3}))
    [item] = (await api.call("GET", f"{V1}/waits")).json["data"]
    while not (found := (await api.call("GET", f"{V1}/runs?stage=person")).json["data"]):
        await api.call("GET", f"{V1}/runs/{started['run_id']}?wait=100ms")
    assert found[0]["stage"]["until"] == item["until"]
    for path in ("", "/outline"):
        run = (await api.call("GET", f"{V1}/runs/{started['run_id']}{path}")).json["data"]
        assert run.get("run", run)["stage"]["until"] == item["until"], path


@EVERY_DATABASE
async def test_a_decision_at_the_last_instant_or_the_end_of_the_time_counts_and_never_both(detent: Detent) -> None:
    started = [await asked(detent, expense(timeout="150ms", on_timeout="reject")) for _ in range(4)]

    async def late(one: dict[str, Any], number: int) -> Receipt:
        await asyncio.sleep(0.12 + 0.02 * number)
        return (await decide(detent, one, person("bob"), {"approved": True})).receipt

    receipts = await asyncio.gather(*(late(one, number) for number, one in enumerate(started)))
    for one, receipt in zip(started, receipts, strict=True):
        assert receipt in (Receipt.ACCEPTED, Receipt.EXPIRED)
        said = await output(detent, one)
        assert said["approved"] is (receipt is Receipt.ACCEPTED)
        assert (said["by"] is None) is (receipt is Receipt.EXPIRED)


@EVERY_DATABASE
async def test_a_quorum_of_two_needs_two_people(detent: Detent) -> None:
    started = await asked(detent, expense(quorum=2, assignees=["bob@example.com", "role:editor"]))
    with pytest.raises(Forbidden, match="not one of those"):
        await decide(detent, started, person("mallory"), {"approved": True})
    first = await decide(detent, started, person("bob"), {"approved": True, "comment": "fine"})
    assert first.receipt is Receipt.COUNTED
    with pytest.raises(Conflict, match="decided this already"):
        await decide(detent, started, person("bob"), {"approved": True})
    both = await asyncio.gather(
        decide(detent, started, person("eve", Role.EDITOR), {"approved": True}),
        decide(detent, started, person("kim", Role.ADMIN), {"approved": True}),
    )
    assert sorted(one.receipt for one in both) == [Receipt.ACCEPTED, Receipt.USED]
    said = await output(detent, started)
    assert said["decisions"][0]["by"] == "bob"
    assert len({one["by"] for one in said["decisions"]}) == 2
    journal = await kinds(detent, started)
    assert journal.count("noted") == 1


async def test_the_decision_is_in_the_document_of_the_run_and_of_its_step(api: Detent) -> None:
    started = await asked(api, expense(form=FORM))
    body = {"approved": True, "comment": "ok", "answer": {"cost_center": "R&D"}}
    await decide(api, started, person("ada"), body)
    told = await output(api, started)
    assert (await api.run(started))["tasks"]["approve"]["output"] == told
    step = (await api.call("GET", f"{V1}/runs/{started['run_id']}/steps/approve")).json["data"]
    assert step["output"] == told


@EVERY_DATABASE
async def test_a_link_preview_decides_nothing_and_a_changed_form_does_not_change_what_is_open(detent: Detent) -> None:
    started = await asked(detent, expense(form=FORM))
    url = await url_of(detent, started)
    [before] = (await detent.call("GET", f"{V1}/waits")).json["data"]
    for method in ("GET", "HEAD"):
        assert (await detent.call(method, url, headers=HTML)).status == 200
    changed = expense(title="Something else", form={"type": "object", "properties": {"vat": {"type": "integer"}}})
    await asked(detent, changed)
    page = await detent.call("GET", url, headers=HTML)
    assert "Expense of Ada" in page.text
    assert "field.cost_center" in page.text
    assert "vat" not in page.text
    wrong = await detent.call("POST", url, json={"approved": True, "answer": {"cost_center": "x"}})
    assert (wrong.status, wrong.json["details"]["validation_errors"][0]["field"]) == (400, "answer.cost_center")
    sent = {"_page": "1", "approved": "true", "field.cost_center": "R&D", "comment": "ok"}
    done = await detent.call("POST", url, data=sent, headers=HTML)
    assert (done.status, "Thank you" in done.text) == (200, True)
    said = await output(detent, started)
    assert (said["by"], said["answer"], said["comment"]) == ("link", {"cost_center": "R&D"}, "ok")
    assert said["digest"] == before["ask"]["digest"]


async def test_the_person_that_started_a_run_may_not_decide_it(api: Detent) -> None:
    await asked(api, expense(not_by="starter"))
    key = api.app.commands.for_caller(person("ada"))
    accepted = await key.starts.start(StartRequest("expense", {"name": "Ada", "amount": 5}))
    started = {"run_id": show(RUN, accepted.run)}
    with pytest.raises(Forbidden, match="started the run"):
        await decide(api, started, person("ada"), {"approved": True})
    for who, may in (("ada", False), ("bob", True)):
        inbox = api.app.commands.for_caller(person(who)).inbox
        found = {item.run.id: item for item in (await inbox.find(limit=5)).items}
        ask = found[started["run_id"]].ask
        assert ask is not None
        assert ask.may_decide is may
        own = [item.run.id for item in (await inbox.find(limit=5, own=True)).items]
        assert (started["run_id"] in own) is may
    assert (await decide(api, started, person("bob"), {"approved": True})).receipt is Receipt.ACCEPTED


async def test_an_address_shows_an_approval_of_named_people_and_does_not_decide_it(api: Detent) -> None:
    started = await asked(api, expense(assignees=["bob"]))
    url = await url_of(api, started)
    page = await api.call("GET", url, headers=HTML)
    assert "inbox?wait=" in page.text
    assert "<form" not in page.text
    assert (await api.call("POST", url, json={"approved": True})).status == 403
    assert (await api.call("POST", url, data={"_page": "1", "approved": "true"}, headers=HTML)).status == 403
    by_link = await asked(api, expense(assignees=["bob"], by_link=True))
    assert (await api.call("POST", await url_of(api, by_link), json={"approved": True})).status == 200


@pytest.mark.parametrize("approvers", [[], None, "", [" "]])
async def test_people_that_render_to_no_one_do_not_let_everyone_decide(api: Detent, approvers: Any) -> None:
    definition = expense(assignees=["{{trigger.body.approvers}}"])
    run = await api.ended(await asked(api, definition, {"name": "Ada", "amount": 1, "approvers": approvers}))
    assert run["status"] == "failed"
    assert "assignees" in run["tasks"]["approve"]["error"]["message"]


@pytest.mark.parametrize(
    "form",
    [
        {"_page": "1"},
        {"_page": "1", "approved": "yes"},
        {"_page": "1", "approved": "true", "field.cost_center": "[" * 20_000},
        {"_page": "1", "approved": "true", "field.cost_center": "9" * 5_000},
    ],
)
async def test_a_forged_form_is_refused_and_decides_nothing(api: Detent, form: dict[str, str]) -> None:
    schema = {"type": "object", "properties": {"cost_center": {"type": "integer"}}, "required": ["cost_center"]}
    started = await asked(api, expense(form=schema))
    url = await url_of(api, started)
    assert (await api.call("POST", url, data=form, headers=HTML)).status == 400
    assert (await api.call("POST", url, json={"_page": 1, "approved": True})).status == 400
    assert "received" not in await kinds(api, started)
    assert (await api.call("POST", url, json={"approved": False})).status == 200


async def test_those_it_escalates_to_may_decide_after_that_time(api: Detent) -> None:
    before = await asked(api, expense(assignees=["bob"], escalate={"after": "1d", "to": ["boss"]}))
    with pytest.raises(Forbidden):
        await decide(api, before, person("boss"), {"approved": True})
    started = await asked(api, expense(assignees=["bob"], escalate={"after": "50ms", "to": ["boss"]}))
    async with asyncio.timeout(60):
        while True:
            if "noted" in await kinds(api, started):
                break
            await asyncio.sleep(0.05)
    assert (await decide(api, started, person("boss"), {"approved": False})).receipt is Receipt.ACCEPTED
    said = await output(api, started)
    assert (said["approved"], said["name"]) == (False, "Boss")


async def test_the_inbox_says_what_is_approved_by_whom_until_when(api: Detent) -> None:
    approve = {"assignees": ["bob"], "quorum": 2, "timeout": "2d", "remind": {"every": "1d", "max": 1}, "form": FORM}
    started = await asked(api, expense(**approve))
    inbox = api.app.commands.for_caller(person("bob")).inbox
    [item] = (await inbox.find(limit=5, own=True)).items
    assert item.ask is not None
    assert (item.question, item.ask.data, item.ask.form) == ("Expense of Ada", {"amount": 120}, FORM)
    assert (item.ask.may_decide, item.ask.reminders, item.ask.quorum) == (True, 0, 2)
    assert item.ask.next_reminder_at is not None
    await decide(api, started, person("bob"), {"approved": True, "answer": {"cost_center": "R&D"}})
    assert (await inbox.find(limit=5, own=True)).items == []
    [item] = (await inbox.find(limit=5)).items
    assert item.ask is not None
    assert [(one.by, one.approved) for one in item.ask.decisions] == [("bob", True)]
    assert (await api.call("GET", f"{V1}/waits?for=me")).status == 200
    assert (await api.call("GET", f"{V1}/waits?for=you")).status == 400


BAD: list[Any] = [None, {"approved": "yes"}, {"approved": True, "more": 1}, {"approved": True, "answer": 5}]


@pytest.mark.parametrize("body", BAD)
async def test_what_is_not_a_decision_is_refused_and_the_approval_stays_open(api: Detent, body: Any) -> None:
    started = await asked(api, expense())
    with pytest.raises(InvalidInput):
        await decide(api, started, person("bob"), body)
    assert (await decide(api, started, person("bob"), {"approved": True})).receipt is Receipt.ACCEPTED


# -- waits for webhooks

ORDER = {"type": "object", "properties": {"status": {"enum": ["paid", "refused"]}}, "required": ["status"]}


def waiting(**block: Any) -> str:
    read = {"needs": ["w"], "action": "core.echo", "with": {"said": "{{tasks.w.body}}"}}
    return json.dumps({"name": "waits", "tasks": {"w": {"wait_for_webhook": block}, "read": read}})


async def test_a_body_that_does_not_fit_is_refused_and_the_url_stays_good(api: Detent) -> None:
    started = await asked(api, waiting(schema=ORDER))
    url = await url_of(api, started)
    wrong = await api.call("POST", url, json={"status": "lost"})
    assert (wrong.status, wrong.json["details"]["validation_errors"][0]["field"]) == (400, "body.status")
    page = await api.call("GET", url, headers=HTML)
    assert "takes a POST" in page.text
    assert (await api.call("POST", url, json={"status": "paid"}, headers={"webhook-id": "1"})).status == 200
    again = await api.call("POST", url, json={"status": "paid"}, headers={"webhook-id": "1"})
    assert (again.status, (await api.call("POST", url, json={"status": "paid"})).status) == (200, 409)
    assert await output(api, started) == {"status": "paid"}


async def test_a_page_has_the_buttons_that_the_workflow_names(api: Detent) -> None:
    buttons = [{"label": "Ship <it>", "body": {"ship": True}}, {"label": "Wait", "body": {"ship": False}}]
    started = await asked(api, waiting(title="Ship {{trigger.body.name}}?", text="Is it ready?", buttons=buttons))
    url = await url_of(api, started)
    page = await api.call("GET", url, headers=HTML)
    assert "Ship Ada?" in page.text
    assert "Ship &lt;it&gt;" in page.text
    assert "<script" not in page.text
    assert (await api.call("POST", url, data={"_page": "1", "button": "7"}, headers=HTML)).status == 400
    assert (await api.call("POST", url, data={"_page": "1", "button": "1"}, headers=HTML)).status == 200
    assert await output(api, started) == {"ship": False}


async def test_a_button_that_no_page_has_is_refused(api: Detent) -> None:
    started = await asked(api, waiting(buttons=[{"label": "Go", "body": 1}]))
    url = await url_of(api, started)
    for number in ("1", "9" * 5_000, "-1", "²"):
        assert (await api.call("POST", url, data={"_page": "1", "button": number}, headers=HTML)).status == 400
    assert (await api.call("POST", url, data={"_page": "1", "button": "0"}, headers=HTML)).status == 200


async def test_a_form_sends_the_types_that_its_schema_asks_for(api: Detent) -> None:
    kinds = {"count": "integer", "price": "number", "gift": "boolean", "note": "string", "tags": "array"}
    form = {"type": "object", "properties": {name: {"type": kind} for name, kind in kinds.items()}}
    started = await asked(api, waiting(form=form))
    url = await url_of(api, started)
    page = await api.call("GET", url, headers=HTML)
    assert page.text.count("field.") == 5
    sent = {"_page": "1", "field.count": "2.5", "field.tags": "[1, 2]", "field.note": "", "field.price": "1.5"}
    wrong = await api.call("POST", url, data=sent, headers=HTML)
    assert (wrong.status, "must be of type integer" in wrong.text) == (400, True)
    assert (await api.call("POST", url, data={**sent, "field.count": "2"}, headers=HTML)).status == 200
    assert await output(api, started) == {"count": 2, "price": 1.5, "gift": False, "tags": [1, 2]}


async def test_a_wait_without_a_page_has_none_and_a_plain_one_has_no_empty_button(api: Detent) -> None:
    started = await asked(api, waiting(page=False))
    assert (await api.call("GET", await url_of(api, started), headers=HTML)).status == 404
    plain = await url_of(api, await asked(api, waiting()))
    page = await api.call("GET", plain, headers=HTML)
    assert ("takes a POST" in page.text, "<button" in page.text) == (True, False)
    assert "<button" in (await api.call("GET", f"{plain}?action=ship", headers=HTML)).text


async def test_an_early_answer_is_checked_too(api: Detent) -> None:
    document = json.loads(waiting(schema=ORDER))
    document["tasks"] = {"before": {"wait_for_webhook": {}}, **document["tasks"]}
    document["tasks"]["w"]["needs"] = ["before"]
    started = await asked(api, json.dumps(document))
    urls = {one["step"]: one["url"] for one in (await api.run(started))["callbacks"]}
    assert (await api.call("POST", urls["w"], json={"status": "lost"})).status == 400
    assert (await api.call("POST", urls["w"], json={"status": "paid"})).status == 202
    assert (await api.call("POST", urls["before"], json={})).status == 200
    assert await output(api, started) == {"status": "paid"}


async def test_the_first_of_several_waits_closes_the_others(api: Detent) -> None:
    tasks: dict[str, Any] = {
        "paid": {"wait_for_webhook": {"schema": ORDER}},
        "refused": {"wait_for_webhook": {}},
        "late": {"sleep": "1h"},
        "first": {"first_of": ["paid", "refused", "late"]},
        "read": {"needs": ["first"], "action": "core.echo", "with": {"said": "{{tasks.first.output}}"}},
    }
    started = await asked(api, json.dumps({"name": "race", "tasks": tasks}))
    urls = {one["step"]: one["url"] for one in (await api.run(started))["callbacks"]}
    assert (await api.call("POST", urls["refused"], json={})).status == 200
    assert (await api.call("POST", urls["paid"], json={"status": "paid"})).status == 410
    assert await output(api, started) == {"first": "refused", "status": "success"}
    short = json.dumps({"name": "short", "tasks": {**tasks, "late": {"sleep": "10ms"}}})
    started = await asked(api, short)
    assert await output(api, started) == {"first": "late", "status": "success"}
    for one in (await api.run(started))["callbacks"]:
        assert (await api.call("POST", one["url"], json={"status": "paid"})).status == 410


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"schema": {"type": "thing"}}, "must be one of"),
        ({"schema": {"type": "string"}, "form": FORM}, "one of form and schema"),
        ({"buttons": [{"label": "x", "body": {"status": "lost"}}], "schema": ORDER}, "does not fit the schema"),
        ({"form": FORM, "page": False}, "page: false"),
        ({"form": {"type": "string"}}, "a form is a JSON Schema of an object"),
        ({"buttons": []}, "a list such as"),
    ],
)
async def test_what_cannot_be_asked_is_refused_at_save(api: Detent, block: dict[str, Any], message: str) -> None:
    answer = await api.call("POST", f"{V1}/workflows", data=waiting(**block))
    assert (answer.status, message in answer.text) == (400, True), answer.text
