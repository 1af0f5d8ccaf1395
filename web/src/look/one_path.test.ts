import assert from "node:assert/strict";
import { test } from "node:test";
import { onePath } from "./one_path";

test("a path that begins relative begins where it did", () => {
  assert.equal(onePath([["path", { d: "M2 2h4" }], ["path", { d: "m16 9-5.5 5.5L8 12", key: "x" }]]), "M2 2h4M16 9l-5.5 5.5L8 12");
  assert.equal(onePath([["path", { d: "m9 9 6 6" }]]), "M9 9l6 6");
  assert.equal(onePath([["path", { d: "m.5-1.5h3" }]]), "M.5 -1.5h3");
  assert.equal(onePath([["path", { d: "m3 3z" }]]), "M3 3z");
});

test("every shape is a path", () => {
  assert.equal(onePath([["circle", { cx: "12", cy: "12", r: "10" }]]), "M2 12a10 10 0 1 0 20 0a10 10 0 1 0 -20 0");
  assert.equal(onePath([["line", { x1: "10", x2: "10", y1: "15", y2: "9" }]]), "M10 15L10 9");
  assert.equal(onePath([["rect", { width: "6", height: "4", x: "1", y: "2" }]]), "M1 2h6v4h-6z");
  assert.equal(
    onePath([["rect", { width: "8", height: "8", x: "3", y: "3", rx: "2" }]]),
    "M5 3h4a2 2 0 0 1 2 2v4a2 2 0 0 1 -2 2h-4a2 2 0 0 1 -2 -2v-4a2 2 0 0 1 2 -2z",
  );
});

test("what is more than a line is refused", () => {
  assert.throws(() => onePath([["circle", { cx: 1, cy: 1, r: 1, fill: "currentColor" }]]), /circle with fill/);
  assert.throws(() => onePath([["text", {}]]), /text with no line/);
});
