"""What each operation sends: method, address, query and body, as docs/api.md says them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from detent.api.app import ROUTES
from detent.client import overviews, runs, templates, triggers, workflows
from detent.client.calls import Call, Pages, RetryPolicy
from detent.errors import InvalidInput

NOON = datetime(2026, 2, 22, 12, 0, tzinfo=timezone(timedelta(hours=2)))
TABLE: list[tuple[Call[Any] | Pages[Any], str]] = [
    (workflows.get("a b"), "GET /api/v1/workflows/a%20b"),
    (workflows.list_all(), "GET /api/v1/workflows?limit=100"),
    (
        workflows.list_all(label="team:a", enabled=False, limit=7),
        "GET /api/v1/workflows?label=team%3Aa&enabled=false&limit=7",
    ),
    (workflows.delete("x"), "DELETE /api/v1/workflows/x"),
    (workflows.enable("x"), "POST /api/v1/workflows/x/enable"),
    (workflows.disable("x"), "POST /api/v1/workflows/x/disable"),
    (runs.start("x"), "POST /api/v1/workflows/x/trigger {}"),
    (runs.start("x", [1]), "POST /api/v1/workflows/x/trigger [1]"),
    (runs.start("x", 0), "POST /api/v1/workflows/x/trigger 0"),
    (
        runs.start("x", {}, start_at=NOON, wait=2.5, labels={"a": "1", "b": "2:3"}, hero=("order", "7")),
        (
            "POST /api/v1/workflows/x/trigger?start_at=2026-02-22T10%3A00%3A00Z&wait=2500ms&hero=order%3A7"
            "&label=a%3A1&label=b%3A2%3A3 {}"
        ),
    ),
    (runs.start("x", start_at=timedelta(minutes=10)), "POST /api/v1/workflows/x/trigger?start_at=600000ms {}"),
    (
        runs.start("x", start_at="10m", hero="order:7"),
        "POST /api/v1/workflows/x/trigger?start_at=10m&hero=order%3A7 {}",
    ),
    (runs.list_all(), "GET /api/v1/runs?limit=100"),
    (
        runs.list_all(stage=["waiting", "person"], version=3, ids=["run_1", "run_2"], text="a b", error="e", limit=5),
        "GET /api/v1/runs?stage=waiting&stage=person&version=3&ids=run_1%2Crun_2&text=a+b&error=e&limit=5",
    ),
    (runs.list_all(stage="child", view="failing"), "GET /api/v1/runs?stage=child&view=failing&limit=100"),
    (
        runs.list_page(text="a", progress=True, sort="started_at", cursor="c", limit=5),
        "GET /api/v1/runs?text=a&include=progress&sort=started_at&limit=5&cursor=c",
    ),
    (runs.list_page(), "GET /api/v1/runs?limit=100"),
    (overviews.counts(), "GET /api/v1/runs/counts"),
    (overviews.histogram(), "GET /api/v1/runs/histogram"),
    (
        overviews.histogram(begin=NOON, end="2027-01-01", buckets=7, workflow="x"),
        "GET /api/v1/runs/histogram?from=2026-02-22T10%3A00%3A00Z&to=2027-01-01&workflow=x&buckets=7",
    ),
    (overviews.search("a:b", limit=3), "GET /api/v1/search?q=a%3Ab&limit=3"),
    (overviews.heroes(), "GET /api/v1/heroes?limit=100"),
    (overviews.heroes("order", prefix="7"), "GET /api/v1/heroes?type=order&prefix=7&limit=100"),
    (
        templates.list_all(category="a b", official=True, search="x"),
        "GET /api/v1/templates/workflows?category=a+b&isOfficial=true&search=x&limit=100",
    ),
    (templates.get("a"), "GET /api/v1/templates/workflows/a"),
    (templates.delete("a"), "DELETE /api/v1/templates/workflows/a"),
    (
        templates.create("a", "A", {"tasks": {}}, tags=["t"]),
        'POST /api/v1/templates/workflows {"id":"a","title":"A","definition":{"tasks":{}},"tags":["t"]}',
    ),
    (
        templates.instantiate("a", {"x": 1}, name="n", title="N"),
        'POST /api/v1/templates/workflows/a/instantiate {"config":{"x":1},"name":"n","display_name":"N"}',
    ),
    (templates.list_documents(team="t", set="s"), "GET /api/v1/templates?team=t&set=s&limit=100"),
    (templates.get_document("d", set="s", version=2), "GET /api/v1/templates/d?set=s&version=2"),
    (
        templates.create_document("s", "d", "D", "text", format="html"),
        'POST /api/v1/templates {"set":"s","id":"d","title":"D","body":"text","format":"html"}',
    ),
    (
        templates.save_document("s", "d", "D", "text", {}),
        'PUT /api/v1/templates/d?set=s {"title":"D","body":"text","fields":{}}',
    ),
    (templates.enable_document("d"), "POST /api/v1/templates/d/enable"),
    (templates.disable_document("d", version=1), "POST /api/v1/templates/d/disable?version=1"),
    (
        templates.render_document("d", {"x": 1}, version=1, extras={"y": 2}),
        'POST /api/v1/templates/d/render?version=1 {"answers":{"x":1},"extras":{"y":2}}',
    ),
    (templates.list_sets(team="t"), "GET /api/v1/template-sets?team=t&limit=100"),
    (templates.save_set("s", title="S", enabled=False), 'PUT /api/v1/template-sets/s {"title":"S","enabled":false}'),
    (workflows.stats("x", days=3), "GET /api/v1/workflows/x/stats?days=3"),
    (workflows.all_stats(), "GET /api/v1/stats?limit=100"),
    (
        runs.list_all(
            status=["failed", "timeout"],
            workflow="x",
            trigger="cron",
            hero=("order", "7"),
            labels={"a": "1"},
            request_id="r",
            origin="run_1",
            started_after=NOON,
            started_before="2027-01-01",
            sort="started_at",
            limit=5,
        ),
        (
            "GET /api/v1/runs?status=failed&status=timeout&workflow=x&trigger=cron&hero=order%3A7&label=a%3A1"
            "&request_id=r&origin=run_1&started_after=2026-02-22T10%3A00%3A00Z&started_before=2027-01-01"
            "&sort=started_at&limit=5"
        ),
    ),
    (
        runs.bulk("cancel", {"status": "paused", "labels": {"a": "1"}, "workflow": "x", "started_after": NOON}),
        (
            'POST /api/v1/runs/bulk {"action":"cancel","filter":{"status":["paused"],"label":["a:1"],"workflow":"x",'
            '"started_after":"2026-02-22T10:00:00Z"},"dry_run":true,"limit":1000}'
        ),
    ),
    (
        runs.bulk("cancel", {"stage": ["waiting", "person"], "version": 3, "ids": ["run_1", "run_2"], "view": "stuck"}),
        (
            'POST /api/v1/runs/bulk {"action":"cancel","filter":{"stage":["waiting","person"],"version":"3",'
            '"ids":"run_1,run_2","view":"stuck"},"dry_run":true,"limit":1000}'
        ),
    ),
    (
        runs.bulk("pause", {}, everything=True, dry_run=False, limit=5),
        'POST /api/v1/runs/bulk {"action":"pause","filter":{},"dry_run":false,"limit":5,"all":true}',
    ),
    (runs.get("run_1"), "GET /api/v1/runs/run_1"),
    (runs.cancel("run_1"), "POST /api/v1/runs/run_1/cancel"),
    (runs.pause("run_1"), "POST /api/v1/runs/run_1/pause"),
    (runs.resume("run_1"), "POST /api/v1/runs/run_1/resume"),
    (runs.retry("run_1"), "POST /api/v1/runs/run_1/retry {}"),
    (runs.rerun("run_1"), "POST /api/v1/runs/run_1/rerun {}"),
    (runs.rerun("run_1", None), 'POST /api/v1/runs/run_1/rerun {"input":null}'),
    (runs.fork("run_1", "charge"), 'POST /api/v1/runs/run_1/fork {"step":"charge"}'),
    (
        runs.fork("run_1", "charge", output=None, status_code=200),
        'POST /api/v1/runs/run_1/fork {"step":"charge","output":null,"status_code":200}',
    ),
    (
        runs.resolve("run_1", "a/b", happened=True, output={"id": 1}),
        'POST /api/v1/runs/run_1/steps/a%2Fb/resolve {"happened":true,"output":{"id":1}}',
    ),
    (runs.resolve("run_1", "a", happened=False), 'POST /api/v1/runs/run_1/steps/a/resolve {"happened":false}'),
    (runs.why("run_1"), "GET /api/v1/runs/run_1/why"),
    (runs.outline("run_1"), "GET /api/v1/runs/run_1/outline"),
    (runs.outline("run_1", at=0), "GET /api/v1/runs/run_1/outline?at=0"),
    (runs.graph("run_1", at=3), "GET /api/v1/runs/run_1/graph?at=3"),
    (runs.step("run_1", "a b", whole=True), "GET /api/v1/runs/run_1/steps/a%20b?whole=true"),
    (runs.answer("run_1", "w", {"ok": True}), 'POST /api/v1/runs/run_1/steps/w/answer {"ok":true}'),
    (runs.waits(workflow="x", hero=("order", "7")), "GET /api/v1/waits?workflow=x&hero=order%3A7&limit=100"),
    (runs.evaluate("run_1", "1 + 1"), 'POST /api/v1/runs/run_1/evaluate {"expression":"1 + 1"}'),
    (
        runs.evaluate("run_1", template={"a": "{{ now() }}"}, step="pay"),
        'POST /api/v1/runs/run_1/evaluate {"template":{"a":"{{ now() }}"},"step":"pay"}',
    ),
    (runs.callback("AZ_x", {"ok": True}), 'POST /wh/AZ_x {"ok":true}'),
    (runs.callback("https://public.example/wh/AZ_x?action=approve&b="), "POST /wh/AZ_x?action=approve&b= null"),
    (runs.callback("http://h/webhook/workflow/resume/AZ%2Fx", 1), "POST /wh/AZ%2Fx 1"),
    (
        runs.send_event("order.paid", {"n": 1}, id="e1"),
        'POST /api/v1/events {"type":"order.paid","data":{"n":1},"id":"e1"}',
    ),
    (runs.health(), "GET /health/ready"),
    (
        triggers.create("x", "cron", {"cron_expression": "0 9 * * *"}, name="daily", condition="true"),
        (
            'POST /api/v1/triggers {"workflow":"x","type":"cron","config":{"cron_expression":"0 9 * * *"},'
            '"enabled":true,"name":"daily","condition":"true"}'
        ),
    ),
    (
        triggers.apply("x", "daily", "cron", {"cron_expression": "0 9 * * *"}),
        ('PUT /api/v1/triggers {"workflow":"x","name":"daily","type":"cron","config":{"cron_expression":"0 9 * * *"}}'),
    ),
    (triggers.get("trg_1"), "GET /api/v1/triggers/trg_1"),
    (
        triggers.list_all(workflow="x", type="cron", enabled=True),
        "GET /api/v1/triggers?workflow=x&type=cron&enabled=true&limit=100",
    ),
    (triggers.update("trg_1", enabled=False, name=None), 'PUT /api/v1/triggers/trg_1 {"name":null,"enabled":false}'),
    (
        triggers.update("trg_1", note="x", if_updated_at=NOON),
        'PUT /api/v1/triggers/trg_1 {"note":"x","updated_at":"2026-02-22T10:00:00Z"}',
    ),
    (triggers.delete("trg_1"), "DELETE /api/v1/triggers/trg_1"),
    (triggers.fire("trg_1"), "POST /api/v1/triggers/trg_1/fire {}"),
    (triggers.fire("trg_1", {"n": 1}), 'POST /api/v1/triggers/trg_1/fire {"body":{"n":1}}'),
    (triggers.pause("trg_1", "holidays"), 'POST /api/v1/triggers/trg_1/pause {"note":"holidays"}'),
    (triggers.resume("trg_1"), "POST /api/v1/triggers/trg_1/resume"),
    (triggers.coming("trg_1", 3), "GET /api/v1/triggers/trg_1/next?count=3"),
    (
        triggers.preview("0 9 * * *", timezone="Europe/Berlin"),
        "GET /api/v1/schedules/preview?cron_expression=0+9+%2A+%2A+%2A&timezone=Europe%2FBerlin&count=10",
    ),
    (
        triggers.backfill("trg_1", NOON, "2026-03-01T00:00:00Z", dry_run=False),
        (
            'POST /api/v1/triggers/trg_1/backfill {"from":"2026-02-22T10:00:00Z","to":"2026-03-01T00:00:00Z",'
            '"dry_run":false}'
        ),
    ),
    (triggers.firings("trg_1", state="errored"), "GET /api/v1/triggers/trg_1/firings?state=errored&limit=100"),
    (triggers.firing("trg_1", "fir_1"), "GET /api/v1/triggers/trg_1/firings/fir_1"),
    (triggers.replay("trg_1", "fir_1"), "POST /api/v1/triggers/trg_1/firings/fir_1/replay"),
]


def first(asked: Call[Any] | Pages[Any]) -> Call[Any]:
    return asked.first if isinstance(asked, Pages) else asked


@pytest.mark.parametrize(("asked", "sent"), TABLE, ids=[line.partition(" {")[0] for _, line in TABLE])
def test_an_operation_sends_what_it_is_described_to_send(asked: Call[Any] | Pages[Any], sent: str) -> None:
    request = first(asked).request(RetryPolicy())
    body = "" if request.body is None else f" {request.body.decode()}"
    assert f"{request.method} {request.target}{body}" == sent
    assert ("Content-Type" in request.headers) == (request.body is not None)


@pytest.mark.parametrize("asked", [asked for asked, _ in TABLE], ids=[line.partition(" {")[0] for _, line in TABLE])
def test_what_makes_something_new_has_an_id_of_its_own_or_is_not_repeated(asked: Call[Any] | Pages[Any]) -> None:
    call = first(asked)
    makes = call.method == "POST" and call.path.rpartition("/")[2] in {
        "trigger", "retry", "rerun", "fork", "fire", "replay", "backfill", "triggers", "events",
    }  # fmt: skip
    named = call.key or {"Idempotency-Key", "webhook-id"} & set(call.headers) or b'"id"' in (call.body or b"")
    assert not (makes and call.repeatable) or named


@pytest.mark.parametrize("asked", [asked for asked, _ in TABLE], ids=[line.partition(" {")[0] for _, line in TABLE])
def test_there_is_a_route_for_every_operation(asked: Call[Any] | Pages[Any]) -> None:
    call = first(asked)
    fits = [
        path
        for handler in ROUTES
        for path in handler.paths
        if call.method in handler.http_methods and re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", path), call.path)
    ]
    assert fits


DEFINITION = {"name": "order", "tasks": {"a": {"action": "core.echo"}}}
YAML = "# comment\nname: order\ntasks:\n  a: {action: core.echo}\n"


@pytest.mark.parametrize(
    ("definition", "kind", "body"),
    [
        (DEFINITION, "application/json", json.dumps(DEFINITION, separators=(",", ":")).encode()),
        (YAML, "application/yaml", YAML.encode()),
        (json.dumps(DEFINITION), "application/json", json.dumps(DEFINITION).encode()),
        ("{name: order, tasks: {}}", "application/yaml", b"{name: order, tasks: {}}"),
    ],
)
def test_a_definition_is_sent_as_it_was_written(definition: Any, kind: str, body: bytes) -> None:
    for call in (workflows.create(definition), workflows.save(definition)):
        assert (call.headers["Content-Type"], call.body) == (kind, body)
    assert workflows.save(definition).path == "/api/v1/workflows/order"


@pytest.mark.parametrize(("name", "kind"), [("o.yaml", "application/yaml"), ("o.JSON", "application/json")])
def test_a_file_is_sent_as_it_is(name: str, kind: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(json.dumps(DEFINITION))
    call = workflows.save(file, if_match='"v1.5"')
    assert call.body == file.read_bytes()
    assert call.headers == {"Content-Type": kind, "If-Match": '"v1.5"'}


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="time zone"):
        runs.start("x", start_at=NOON.replace(tzinfo=None))
    assert runs.start("x", start_at=NOON.astimezone(UTC)).query == runs.start("x", start_at=NOON).query


@pytest.mark.parametrize("key", ["a:b", ":"])
def test_a_label_whose_name_would_be_read_otherwise_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput, match="colon"):
        runs.start("x", labels={key: "1"})
