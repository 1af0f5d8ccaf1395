import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import {
  Conflict,
  ConnectionFailed,
  Detent,
  type Heard,
  Http,
  InvalidArgument,
  NotFound,
  PermissionDenied,
  PreconditionFailed,
  RehearsalFailed,
  Unauthenticated,
} from "../dist/index.js";
import { Server } from "./server.js";

/** Everything of a list. */
async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of list) found.push(one);
  return found;
}

const GREET = {
  name: "greet",
  labels: { team: "shop" },
  tasks: { hello: { action: "core.echo", with: { text: "Hello, {{trigger.body.name}}" } } },
};
const APPROVE = `
name: approve
tasks:
  begin: {action: core.echo}
  ask: {needs: [begin], wait_for_webhook: {timeout: 1h}}
  tell: {needs: [ask], action: core.echo, with: {by: "{{tasks.ask.body.by}}"}}
`;

describe("against a real Detent", { timeout: 900_000 }, () => {
  let server: Server;
  let detent: Detent;

  before(async () => {
    server = await Server.start();
    detent = new Detent({ baseUrl: server.baseUrl, key: server.key });
    await detent.workflows.save(GREET);
    await detent.workflows.save(APPROVE);
  });
  after(async () => await server.stop());

  test("a key is created, does what it may, is rotated and revoked", async () => {
    await assert.rejects(new Detent({ baseUrl: server.baseUrl }).me(), Unauthenticated);
    await detent.workflows.save({ name: "sent", tasks: GREET.tasks });
    const made = await detent.keys.create({ name: "sender", workflows: ["sent"], expires_at: "1h" });
    const sender = new Detent({ baseUrl: server.baseUrl, key: made.key });
    assert.deepEqual((await sender.me()).workflows, ["sent"]);
    await assert.rejects(sender.start("approve"), PermissionDenied);
    assert.equal((await sender.start("sent", { name: "Ada" }, { wait: 60 })).status, "completed");
    const next = await detent.keys.rotate(made.id, { grace: "1h" });
    assert.equal((await detent.keys.get(made.id)).status, "rotated");
    assert.equal((await detent.keys.revoke(next.id)).status, "revoked");
    assert.equal((await all(detent.keys.list())).length, 3);
    await detent.workflows.delete("sent");
  });

  test("a definition that is saved again changes nothing", async () => {
    const saved = await detent.workflows.save(GREET);
    assert.equal(saved.changed, false);
    assert.equal(saved.data.current_version, 1);
  });

  test("a strict publish is refused with its rehearsal", async () => {
    await detent.start("greet", { name: "Ada" }, { wait: 10 });
    const draft = { ...GREET, tasks: { hello: { action: "core.echo", with: { text: "{{trigger.body.nick}}" } } } };
    assert.equal((await detent.workflows.rehearse(draft, { days: 1 })).failing, 1);
    const saved = await detent.workflows.save(draft, { draft: true });
    assert.equal(saved.data.current_version, 1);
    await assert.rejects(detent.workflows.publish("greet", { rehearse: "strict" }), (error) => {
      assert.ok(error instanceof RehearsalFailed && error instanceof Conflict);
      assert.equal(error.rehearsal?.failing, 1);
      return true;
    });
    const published = await detent.workflows.publish("greet", { rehearse: "report", autoActivate: false });
    assert.deepEqual([published.version, published.rehearsal?.failing, published.current_version], [2, 1, 1]);
  });

  test("a list goes over all pages", async () => {
    const names: string[] = [];
    for await (const workflow of detent.workflows.list({ limit: 1 })) names.push(workflow.name);
    assert.deepEqual(names, ["approve", "greet"]);
  });

  test("a page of runs says how far a search has looked, and takes every filter", async () => {
    const { run_id } = await detent.start("greet", { name: "Page" }, { wait: 10, labels: { page: "one" } });
    const which = { text: "one", version: 1, status: ["completed" as const], limit: 1 };
    const page = await detent.runs.page(which);
    assert.deepEqual([page.data.map((run) => run.id), page.searched_until], [[run_id], null]);
    const bulk = await detent.runs.bulk("rerun", { ids: [run_id], status: "completed", text: "one", version: 1 });
    assert.equal(bulk.matched, 1);
    assert.equal((await detent.runs.bulk("cancel", { stage: ["waiting", "person"] })).matched, 0);
  });

  test("a graph is published, compared, moved to, retried, archived and put away", async () => {
    const nodes = (text: string) => [
      { id: "wait", actionType: "core.wait", edges: [{ targetNode: "each" }] },
      { id: "each", actionType: "core.echo", forEach: [1, 2], parameters: { text }, edges: [{ targetNode: "fail" }] },
      { id: "fail", actionType: "core.fail" },
    ];
    const graph = { id: "orders", displayName: "Orders", startNode: "wait" };
    await detent.workflows.save({ ...graph, nodes: nodes("one") });
    assert.equal((await detent.workflows.publish("orders")).version, 1);
    const { run_id } = await detent.start("orders");
    const yaml = `id: orders\ndisplayName: Orders\nstartNode: wait\nnodes: ${JSON.stringify(nodes("two"))}\n`;
    await detent.workflows.save(yaml);
    assert.equal((await detent.workflows.draft("orders")).revision, 2);
    const differs = await detent.workflows.diff("orders");
    assert.deepEqual([differs.from, differs.to, differs.steps.changed.map((step) => step.name)], [1, "draft", ["each"]]);
    assert.equal((await detent.workflows.publish("orders")).version, 2);
    assert.equal((await detent.workflows.version("orders", 1)).version, 1);
    const which = { workflow: "orders" };
    assert.equal((await detent.runs.move(run_id, { dryRun: true })).movable, true);
    assert.equal((await detent.runs.moveAll(which)).movable, 1);
    assert.equal((await detent.runs.move(run_id, { version: 2 })).movable, true);
    const [callback] = (await detent.runs.get(run_id)).callbacks;
    await detent.answer(callback?.url ?? "", {});
    assert.equal((await detent.runs.wait(run_id, { timeout: 30 })).status, "failed");
    const items: unknown[] = [];
    for await (const item of detent.runs.items(run_id, "each", { status: "success" })) items.push(item.index);
    assert.deepEqual(items, [0, 1]);
    assert.equal((await detent.runs.hierarchy(run_id)).root.id, run_id);
    assert.deepEqual((await detent.runs.previewRetry(run_id, { version: "current" })).again, ["fail"]);
    assert.deepEqual((await detent.runs.bulk("retry", which, { version: "current" })).previews?.[0]?.kept, ["wait", "each"]);
    const retried = await detent.runs.retry(run_id, { version: "current" });
    assert.equal((await detent.runs.get(retried.id)).version, 2);
    assert.equal((await detent.workflows.activate("orders", 1)).current_version, 1);
    await detent.workflows.save(JSON.stringify({ ...graph, nodes: nodes("three") }), { draft: true });
    assert.equal((await detent.workflows.discardDraft("orders")).revision, 3);
    assert.equal((await detent.workflows.archive("orders")).status, "archived");
    assert.equal((await detent.workflows.reactivate("orders")).status, "active");
    const pinned = await detent.start("orders", {}, { version: 2 });
    assert.equal((await detent.runs.get(pinned.run_id)).version, 2);
    await detent.workflows.archive("orders");
    await detent.workflows.delete("orders");
  });

  test("a template becomes a workflow, and a document is rendered", async () => {
    const ids: string[] = [];
    for await (const one of detent.workflowTemplates.list({ limit: 3, isOfficial: true })) ids.push(one.id);
    assert.ok(ids.length >= 10 && ids.includes("webhook-relay"));
    const definition = { tasks: { say: { action: "core.echo", with: { text: "${config.text}" } } } };
    const config_schema = { type: "object", properties: { text: { type: "string" } } };
    const made = await detent.workflowTemplates.create({ id: "say", title: "Say", definition, config_schema });
    assert.deepEqual([made.is_official, (await detent.workflowTemplates.get("say")).title], [false, "Say"]);
    await assert.rejects(detent.workflowTemplates.instantiate("say", { text: 1 }), InvalidArgument);
    const draft = await detent.workflowTemplates.instantiate("say", { text: "{{ x }}" }, { title: "Say it" });
    assert.deepEqual([draft.workflow, draft.status, draft.problems], ["say-it", "draft", []]);
    await detent.workflowTemplates.delete("say");
    await detent.workflows.delete("say-it");
    await detent.documentTemplates.saveSet("briefs", { title: "Briefs", team: "product" });
    await detent.documentTemplates.create({ set: "briefs", id: "app", title: "App", body: "one {{ x }}" });
    const saved = await detent.documentTemplates.save("briefs", "app", { title: "App", body: "two {{ x }}" });
    assert.deepEqual([saved.changed, saved.data.version, saved.data.versions], [true, 2, [2, 1]]);
    assert.equal((await detent.documentTemplates.render("app", { x: 5 }, { version: 1 })).rendered_body, "one 5");
    assert.equal((await detent.documentTemplates.disable("app", { version: 2 })).enabled, false);
    assert.equal((await detent.documentTemplates.get("app")).version, 1);
    assert.equal((await detent.documentTemplates.enable("app")).enabled, true);
    const names: string[] = [];
    for await (const one of detent.documentTemplates.list({ team: "product" })) names.push(`${one.set}/${one.id}`);
    for await (const one of detent.documentTemplates.sets()) names.push(one.id);
    assert.deepEqual(names, ["briefs/app", "briefs"]);
    await assert.rejects(detent.documentTemplates.render("nope", {}), NotFound);
  });

  test("the same request id starts one run, and wait gives its output", async () => {
    const options = { requestId: "order-1", wait: 10, labels: { team: "shop" } };
    const first = await detent.start("greet", { name: "Ada" }, options);
    const second = await detent.start("greet", { name: "Ada" }, options);
    assert.equal(first.status, "completed");
    assert.equal(second.run_id, first.run_id);
    const run = await detent.runs.get(first.run_id);
    assert.deepEqual(run.labels, { team: "shop" });
    assert.equal(run.request_id, "order-1");
    assert.equal(run.tasks["hello"]?.["status"], "success");
  });

  test("a run that starts later is pending, and can be cancelled", async () => {
    const { run_id, status, start_at } = await detent.start("greet", {}, { startAt: new Date(Date.now() + 3_600_000) });
    assert.equal(status, "pending");
    assert.ok(start_at);
    assert.equal((await detent.runs.cancel(run_id)).status, "cancelled");
    const { run_id: ended } = await detent.start("greet", {}, { wait: 10 });
    await assert.rejects(detent.runs.cancel(ended), Conflict);
  });

  test("a run is followed over its callback to its end", async () => {
    const { run_id } = await detent.start("approve");
    const heard: Heard[] = [];
    for await (const one of detent.follow(run_id)) {
      heard.push(one);
      if (heard.length === 1) {
        const [callback] = (await detent.runs.get(run_id)).callbacks;
        assert.ok(callback);
        assert.equal((await detent.runs.why(run_id)).reasons[0]?.step, "ask");
        assert.equal((await detent.runs.evaluate(run_id, { expression: "range(3).map(n => n * 2)[2]" })).value, 4);
        assert.deepEqual(await detent.answer(callback.url, { by: "Ada" }), { status: "accepted", step: "ask" });
      }
    }
    const last = heard.at(-1);
    assert.deepEqual(last, { event: "end", data: { run_id, status: "completed" } });
    const ids = heard.flatMap((one) => (one.event === "entry" ? [one.id] : []));
    assert.deepEqual(ids, ids.map((_, index) => index + 1));
    assert.equal((await detent.runs.wait(run_id, { timeout: 10 })).status, "completed");
  });

  test("a retry is a run of its own, and knows where it comes from", async () => {
    await detent.workflows.save({ name: "fail", tasks: { fail: { action: "core.fail" } } });
    const failed = await detent.start("fail", {}, { wait: 10 });
    assert.equal(failed.status, "failed");
    const again = await detent.runs.retry(failed.run_id);
    assert.notEqual(again.id, failed.run_id);
    assert.equal(again.origin?.run_id, failed.run_id);
    const found: string[] = [];
    for await (const run of detent.runs.list({ workflow: "fail" })) found.push(run.id);
    assert.deepEqual(found, [again.id, failed.run_id]);
  });

  test("a schedule is made, looked at, fired and removed", async () => {
    const config = { cron_expression: "0 3 * * *", timezone: "UTC" };
    const trigger = await detent.triggers.create({ workflow: "greet", type: "cron", config });
    const [next] = await detent.triggers.next(trigger.id, 1);
    assert.equal(next?.getUTCHours(), 3);
    const firing = await detent.triggers.fire(trigger.id);
    const fired: string[] = [];
    for await (const one of detent.triggers.firings(trigger.id)) fired.push(one.id);
    assert.deepEqual(fired, [firing.id]);
    assert.equal((await detent.triggers.pause(trigger.id, "holiday")).note, "holiday");
    await detent.triggers.delete(trigger.id);
    await assert.rejects(detent.triggers.get(trigger.id), NotFound);
  });

  test("an event starts what waits for it", async () => {
    const trigger = { type: "event", event: "order.paid" };
    await detent.workflows.save({ name: "paid", trigger, tasks: { one: { action: "core.echo" } } });
    const sent = await detent.sendEvent("order.paid", { order: 1 });
    assert.equal(sent.matched, 1);
  });

  test("an event that can never start is a dead letter, which is requeued once and purged", async () => {
    const trigger = { type: "event", event: "order.lost" };
    const strict = { name: "strict", trigger, tasks: { a: { action: "core.echo" } } };
    await detent.workflows.create({ ...strict, trigger_schema: { type: "object", required: ["order"] } });
    await detent.sendEvent("order.lost", { wrong: 1 });
    const found = await all(detent.deadLetters.list({ kind: "event", state: "open" }));
    assert.equal(found.length, 1);
    const letter = await detent.deadLetters.get(found[0]?.id ?? "");
    assert.equal(letter.workflow, "strict");
    const counted = await detent.deadLetters.bulk({ action: "requeue", filter: { kind: "event" } });
    assert.deepEqual([counted.matched, counted.done], [1, 0]);
    await detent.workflows.save(strict);
    assert.match((await detent.deadLetters.requeue(letter.id)).result ?? "", /^run_/);
    await assert.rejects(detent.deadLetters.requeue(letter.id), Conflict);
    assert.equal((await detent.deadLetters.purge(letter.id)).id, letter.id);
  });

  const RULE = {
    name: "Shipped",
    entity: "order",
    trigger_type: "on_update",
    trigger_conditions: { field_conditions: [{ field_name: "status", operator: "changed_to", value: "shipped" }] },
    actions: [
      {
        name: "Tell",
        action_type: "create_alert",
        action_config: { alert_type: "shipped", severity: "low", title: "Order {{number}}", message: "It left" },
      },
    ],
    edges: [{ target_action_id: "temp:0", edge_type: "start" }],
  };
  const SHIPPED = {
    entity: "order",
    operation: "update" as const,
    id: "7",
    before: { number: 7, status: "new" },
    after: { number: 7, status: "shipped" },
  };

  test("a rule is checked, saved, edited, started by a change of a record, restored and deleted", async () => {
    const order = await detent.entities.create({ name: "order", title: "Orders" });
    await assert.rejects(detent.entities.create({ name: "order" }), Conflict);
    assert.equal((await detent.entities.change("order", { title: "Shop" })).title, "Shop");
    assert.deepEqual((await all(detent.entities.list())).map((one) => one.name), ["order"]);
    assert.equal((await detent.entities.get(order.id)).name, "order");
    assert.deepEqual([(await detent.rules.validate(RULE)).valid, await all(detent.rules.list())], [true, []]);
    const made = await detent.rules.create(RULE);
    assert.deepEqual([made.key, made.version, made.is_active], ["shipped", 1, true]);
    const read = await detent.rules.get("shipped");
    assert.ok(read.etag);
    assert.equal((await detent.rules.save(made.id, { ...read, name: "Left us" }, { ifMatch: read.etag })).version, 2);
    await assert.rejects(detent.rules.save(made.id, { ...read }, { ifMatch: read.etag }), PreconditionFailed);
    const layout = { viewport: { x: 1, y: 2, zoom: 1 }, node_positions: { "temp:0": { x: 3, y: 4 } } };
    const saved = (await detent.rules.saveLayout("shipped", layout)) as typeof layout;
    assert.deepEqual(saved.viewport, layout.viewport);
    const [tell] = await detent.rules.actions("shipped");
    const note = { name: "Note", action_type: "core.log", action_config: { message: "{{status}}" } };
    const edges = [{ source_action_id: tell?.id ?? "", edge_type: "always" }];
    const added = await detent.rules.addAction("shipped", { ...note, edges });
    assert.equal((await detent.rules.changeAction("shipped", added.id, { name: "Write" })).name, "Write");
    const always = (await detent.rules.edges("shipped")).find((one) => one.edge_type === "always");
    await detent.rules.addEdge("shipped", {
      source_action_id: tell?.id ?? "", target_action_id: added.id, edge_type: "sequence",
    });
    assert.equal((await detent.rules.removeEdge("shipped", always?.id ?? "")).id, always?.id);
    assert.equal((await detent.rules.removeAction("shipped", added.id, { reconnect: true })).id, added.id);
    assert.equal((await detent.rules.deactivate("shipped")).is_active, false);
    assert.deepEqual(await detent.matchRules(SHIPPED), []);
    assert.equal((await detent.matchRules(SHIPPED, "shipped"))[0]?.matches, true);
    assert.equal((await detent.rules.activate("shipped")).is_active, true);
    const late = { ...SHIPPED, after: { number: 7, status: "late" } };
    assert.equal((await detent.matchRules(late))[0]?.reason, "not true: status changed to 'shipped'");
    const sent = await detent.sendChange({ ...SHIPPED, event_id: "e-1" }, { wait: "30s" });
    assert.deepEqual([sent.status, sent.runs?.map((one) => one.rule)], ["processed", ["shipped"]]);
    assert.equal((await detent.sendChange({ ...SHIPPED, event_id: "e-1" })).status, "known");
    const [run] = await all(detent.rules.runs("shipped"));
    assert.equal(run?.id, sent.runs?.[0]?.run_id);
    assert.equal((await detent.runs.wait(run?.id ?? "", { timeout: 30 })).status, "completed");
    const versions = await all(detent.rules.history("shipped"));
    assert.deepEqual(versions.at(-2)?.difference?.settings.map((one) => one.field), ["name"]);
    assert.deepEqual([(await detent.rules.restore("shipped", 1)).name], ["Shipped"]);
    assert.ok((await detent.rules.triggerTypes()).some((one) => one.id === "on_update"));
    assert.ok((await detent.rules.actionTypes()).some((one) => one.name === "create_alert"));
    await assert.rejects(detent.entities.delete("order"), Conflict);
  });

  test("an alert is listed, acknowledged and resolved, and an action template is kept", async () => {
    const [alert, ...others] = await all(detent.alerts.list({ status: ["open"], severity: ["low"], rule: "shipped" }));
    assert.deepEqual([alert?.title, alert?.run_id !== undefined, others], ["Order 7", true, []]);
    const id = alert?.id ?? "";
    assert.equal((await detent.alerts.acknowledge(id)).status, "acknowledged");
    assert.equal((await detent.alerts.resolve(id)).status, "resolved");
    await assert.rejects(detent.alerts.acknowledge(id), Conflict);
    assert.ok((await detent.alerts.get(id)).resolved_date);
    const config = { message: "{{status}}" };
    const made = await detent.actionTemplates.create({ name: "Note", action_type: "core.log", default_config: config });
    const next = { name: "Note it", action_type: "core.log", default_config: config };
    assert.equal((await detent.actionTemplates.replace(made.id, next)).name, "Note it");
    assert.deepEqual((await all(detent.actionTemplates.list())).map((one) => one.id), [made.id]);
    await detent.actionTemplates.delete(made.id);
    assert.equal((await detent.rules.delete("shipped")).key, "shipped");
    await assert.rejects(detent.rules.get("shipped"), NotFound);
    assert.equal((await detent.entities.delete("order")).name, "order");
  });

  test("resources of other systems are listed, and a wrong filter is refused", async () => {
    assert.deepEqual(await all(detent.resources({ system: "monday" })), []);
    await assert.rejects(all(detent.resources({ id: "17" })), InvalidArgument);
  });

  test("errors have a type, a code and the places that are wrong", async () => {
    await assert.rejects(detent.workflows.get("nowhere"), NotFound);
    const wrong = { name: "wrong", tasks: { one: { needs: ["two"], sleep: "1s" } } };
    await assert.rejects(detent.workflows.save(wrong), (error: unknown) => {
      assert.ok(error instanceof InvalidArgument);
      assert.equal(error.status, 400);
      assert.equal(error.code, "WFENG005");
      assert.equal(error.problems[0]?.field, "tasks.one.needs[0]");
      return true;
    });
  });

  test("a workflow that somebody else changed is not overwritten", async () => {
    const { etag } = await detent.workflows.get("greet");
    assert.ok(etag);
    await detent.workflows.save({ ...GREET, description: "changed" }, { ifMatch: etag });
    await assert.rejects(detent.workflows.save(GREET, { ifMatch: etag }), PreconditionFailed);
  });

  test("a deleted workflow is gone", async () => {
    await detent.workflows.save({ name: "short", tasks: { one: { action: "core.echo" } } });
    assert.ok((await detent.workflows.delete("short")).deleted_at);
    await assert.rejects(detent.workflows.get("short"), NotFound);
  });

  test("any operation can be asked by its path", async () => {
    const answer = await detent.request("get", "/api/v1/workflows/{workflow}/versions", { path: { workflow: "approve" } });
    assert.equal(answer.data[0]?.version, 1);
  });

  test("a server that is killed and comes back is followed on", async () => {
    const { run_id } = await detent.start("approve");
    const seen: number[] = [];
    let status = "";
    for await (const one of detent.follow(run_id)) {
      if (one.event === "end") status = one.data.status;
      else seen.push(one.id);
      if (seen.length === 1 && status === "") {
        await server.kill();
        await server.up();
        const [callback] = (await detent.runs.get(run_id)).callbacks;
        await detent.answer(callback?.url ?? "", { by: "Bob" });
      }
    }
    assert.equal(status, "completed");
    assert.deepEqual(seen, seen.map((_, index) => index + 1));
  });
});

test("an answer that breaks off is asked for again, and a start only under the same request id", async () => {
  const keys: (string | undefined)[] = [];
  const halfway = createServer((request, response) => {
    keys.push(request.headers["idempotency-key"] as string | undefined);
    response.writeHead(201, { "content-type": "application/json", "content-length": "100" });
    response.write('{"data":');
    setTimeout(() => response.destroy(), 20);
  }).listen(0, "127.0.0.1");
  await once(halfway, "listening");
  const { port } = halfway.address() as AddressInfo;
  const detent = new Detent({ baseUrl: `http://127.0.0.1:${port}`, retries: 2 });
  await assert.rejects(detent.start("greet"), ConnectionFailed);
  assert.equal(keys.length, 3);
  assert.ok(keys[0]);
  assert.deepEqual(new Set(keys).size, 1);
  await assert.rejects(detent.runs.cancel("run_1"), ConnectionFailed);
  assert.equal(keys.length, 4);
  halfway.close();
});

test("whoever gives up himself is not asked again", async () => {
  const detent = new Detent({ baseUrl: "http://127.0.0.1:1" });
  const signal = AbortSignal.abort();
  await assert.rejects(detent.start("greet", {}, { signal }), { name: "AbortError" });
});

test("an answer without a body is an answer, and is not asked for again", async () => {
  const asked: string[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => {
    asked.push(init?.method ?? "");
    return new Response(null, { status: 204 });
  };
  const http = new Http({ baseUrl: "http://127.0.0.1:9", retries: 2, fetch });
  const answer = await http.send("delete", "/api/v1/sessions/{session}", { path: { session: "current" } });
  assert.deepEqual([answer.status, asked], [204, ["DELETE"]]);
  assert.equal(await http.call("delete", "/api/v1/sessions/{session}", { path: { session: "current" } }), undefined);
});

test("a server that is not there is a connection that failed", async () => {
  const detent = new Detent({ baseUrl: "http://127.0.0.1:1", retries: 1 });
  await assert.rejects(detent.workflows.get("greet"), ConnectionFailed);
});
