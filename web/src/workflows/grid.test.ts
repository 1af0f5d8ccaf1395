import assert from "node:assert/strict";
import { test } from "node:test";
import { figuresOf, oldestFirst, saidCell, versionStarts } from "./grid";

test("a cell is said in words", () => {
  assert.equal(saidCell(null), "Not reached");
  assert.equal(saidCell({ s: "s", ms: 1200 }), "Succeeded after 1.2 s");
  assert.equal(saidCell({ s: "f", ms: 90, attempts: 3 }), "Failed after 3 tries, 90 ms");
  assert.equal(saidCell({ s: "k", ms: 0 }), "Skipped");
});

test("figures leave out what did not end by itself", () => {
  const row = [{ s: "s", ms: 30 }, { s: "f", ms: 10 }, { s: "k" }, null, { s: "r" }, { s: "s", ms: 20 }];
  assert.deepEqual(figuresOf(row), { failed: 1, ended: 3, typical: 20 });
  assert.deepEqual(figuresOf([]), { failed: 0, ended: 0, typical: null });
});

test("time goes to the right", () => {
  const run = (id: string, version: number) => ({ id, status: "completed", accepted_at: "", version });
  const grid = oldestFirst({ runs: [run("b", 2), run("a", 1)], steps: ["x"], cells: [[null, { s: "s" }]] });
  assert.deepEqual(grid.runs.map((one) => one.id), ["a", "b"]);
  assert.deepEqual(grid.cells, [[{ s: "s" }, null]]);
  assert.deepEqual(versionStarts([{ version: 1 }, { version: 1 }, { version: 3 }, { version: 2 }]), [0, 2, 3]);
});
