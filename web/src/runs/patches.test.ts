import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page, RunSummary } from "../api/documents";
import { arrived, patched } from "./patches";

const run = (id: string, status = "running") => ({ id, status }) as RunSummary;
const page = (...ids: string[]): Page<RunSummary> => ({ data: ids.map((id) => run(id)), next_cursor: null });
const ids = (pages: Page<RunSummary>[]) => pages.map((one) => one.data.map((each) => each.id));

test("a changed row is replaced, and what did not change stays the same object", () => {
  const pages = [page("c", "b"), page("a")];
  const next = patched(pages, [run("b", "failed")], new Set());
  assert.equal(next[0]?.data[1]?.status, "failed");
  assert.equal(next[0]?.data[0], pages[0]?.data[0]);
  assert.equal(next[1], pages[1]);
});

test("a row that is gone leaves", () => {
  assert.deepEqual(ids(patched([page("c", "b")], [], new Set(["c"]))), [["b"]]);
});

test("new rows come above, known ones are renewed", () => {
  const next = arrived([page("b", "a")], page("d", "c", "b"));
  assert.deepEqual(next.added, ["d", "c"]);
  assert.deepEqual(ids(next.pages), [["d", "c", "b", "a"]]);
});

test("a gap between what is new and what is known is noticed", () => {
  const newest = { ...page("z", "y"), next_cursor: "more" };
  assert.equal(arrived([page("b", "a")], newest).added, undefined);
  assert.deepEqual(arrived([page()], newest).added, ["z", "y"]);
});

test("how far a run came is kept where the stream does not say", () => {
  const before = { ...run("a"), progress: { done: 1, total: 2, failed: 0 } };
  const [next] = patched([{ data: [before] }], [run("a", "completed")], new Set());
  assert.deepEqual(next?.data[0]?.progress, { done: 1, total: 2, failed: 0 });
});
