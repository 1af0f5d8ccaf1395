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
  InvalidArgument,
  NotFound,
  PreconditionFailed,
} from "../src/index.js";
import { Server } from "./server.js";

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

describe("against a real Detent", { timeout: 90_000 }, () => {
  let server: Server;
  let detent: Detent;

  before(async () => {
    server = await Server.start();
    detent = new Detent({ baseUrl: server.baseUrl });
    await detent.workflows.save(GREET);
    await detent.workflows.save(APPROVE);
  });
  after(async () => await server.stop());

  test("a definition that is saved again changes nothing", async () => {
    const saved = await detent.workflows.save(GREET);
    assert.equal(saved.changed, false);
    assert.equal(saved.data.current_version, 1);
  });

  test("a list goes over all pages", async () => {
    const names: string[] = [];
    for await (const workflow of detent.workflows.list({ limit: 1 })) names.push(workflow.name);
    assert.deepEqual(names, ["approve", "greet"]);
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

test("a server that is not there is a connection that failed", async () => {
  const detent = new Detent({ baseUrl: "http://127.0.0.1:1", retries: 1 });
  await assert.rejects(detent.workflows.get("greet"), ConnectionFailed);
});
