import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY, distance, exact, HOUR, lengthOf, MINUTE, moment, partsOf, roughSpan, saidLength, shown, span } from "./time";

const NOW = Date.parse("2026-03-04T12:19:40.000Z");

test("a span has at most two units", () => {
  const cases: [number, string][] = [
    [0, "0 ms"],
    [-5, "0 ms"],
    [346, "346 ms"],
    [999.7, "1.0 s"],
    [3400, "3.4 s"],
    [59_940, "59.9 s"],
    [59_960, "1 m 0 s"],
    [104_000, "1 m 44 s"],
    [2 * HOUR + 14 * MINUTE, "2 h 14 m"],
    [30 * DAY, "30 d 0 h"],
  ];
  for (const [ms, text] of cases) assert.equal(span(ms), text);
});

test("no span has 60 of a unit", () => {
  for (let i = 0; i < 20_000; i += 1) {
    const text = span(Math.random() * 3 * DAY);
    assert.doesNotMatch(text, /\b60 [sm]|\b24 h/, text);
  }
});

test("a span that is counted has whole seconds", () => {
  assert.equal(roughSpan(3400), "3 s");
  assert.equal(roughSpan(61_000), "1 m 1 s");
});

test("a distance has a direction, and what has passed one unit", () => {
  assert.equal(distance(NOW - 3000, NOW), "3 s ago");
  assert.equal(distance(NOW + 2 * HOUR, NOW), "in 2 h 0 m");
  assert.equal(distance(NOW - 300, NOW), "now");
  assert.equal(distance(NOW - 9 * DAY, NOW), "9 d ago");
});

test("an instant of today has seconds, an older one its day", () => {
  assert.equal(moment(NOW - HOUR, "utc", NOW), "11:19:40");
  assert.equal(moment(NOW - DAY, "utc", NOW), "3 Mar 12:19");
  assert.equal(moment(NOW - 400 * DAY, "utc", NOW), "28 Jan 2025 12:19");
  assert.equal(shown(NOW - 4000, "relative", NOW), "4 s ago");
  assert.equal(exact(NOW, "utc"), "2026-03-04 12:19:40.000 UTC");
});

test("a length is read and said", () => {
  assert.equal(lengthOf("24h"), DAY);
  assert.equal(lengthOf("2 w"), 14 * DAY);
  assert.equal(lengthOf("soon"), undefined);
  assert.equal(saidLength("24h"), "24 h");
});

test("instants in a sentence are found, and the rest is left as it is", () => {
  const at = Date.parse("2026-03-04T10:00:00Z");
  assert.deepEqual(partsOf("2 slots from 2026-03-04T10:00:00+00:00 on, 2026-03-04T10:00Z"), ["2 slots from ", { at }, " on, ", { at }]);
  assert.deepEqual(partsOf("2026-13-45T10:00:00Z passed"), ["2026-13-45T10:00:00Z passed"]);
  assert.deepEqual(partsOf(""), []);
});
