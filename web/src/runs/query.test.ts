import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY, HOUR } from "../look/time";
import { type Chip, fromUrl, type Name, NAMES, said, saidTogether, toFilter, together, toUrl, usualWindow, windowOf, withChip, withoutTimes } from "./query";
import { parse, write } from "./query_text";

const NOW = Date.parse("2026-03-04T12:19:40.000Z");
const MANY = ["status", "stage", "label"];

function pick<T>(list: readonly T[]): T {
  const found = list[Math.floor(Math.random() * list.length)];
  assert.ok(found !== undefined);
  return found;
}

const ATOMS = ["a", "Ü", " ", '"', "\\", ":", "&", "=", "?", "#", "%", "+", "<script>", ",", "'", "1", "\t", "😀"];

function randomValue(): string {
  const text = Array.from({ length: 1 + Math.floor(Math.random() * 6) }, () => pick(ATOMS)).join("");
  return text.trim() ? text : "x";
}

function randomChips(): Chip[] {
  let chips: Chip[] = [];
  for (let i = Math.floor(Math.random() * 6); i > 0; i -= 1) {
    const name: Name = pick(NAMES);
    chips = withChip(chips, { name, value: name === "text" ? randomValue().trim() : randomValue() });
  }
  // The text stands last, as it does in the bar.
  return [...chips.filter((one) => one.name !== "text"), ...chips.filter((one) => one.name === "text")];
}

test("chips and text mirror each other", () => {
  for (let i = 0; i < 5000; i += 1) {
    const chips = randomChips();
    assert.deepEqual(parse(write(chips)), chips, write(chips));
  }
});

test("chips and URL mirror each other", () => {
  for (let i = 0; i < 5000; i += 1) {
    const chips = randomChips();
    assert.deepEqual(fromUrl(`?${toUrl(chips)}`), chips);
  }
});

test("any line can be read, and what was read is stable", () => {
  for (let i = 0; i < 5000; i += 1) {
    const line = Array.from({ length: 8 }, () => pick([...ATOMS, "status:", "label:", "text:"])).join("");
    const chips = parse(line);
    assert.deepEqual(parse(write(chips)), chips, line);
  }
});

test("words that are no filter are searched for together", () => {
  assert.deepEqual(parse("card status:failed declined http://x"), [
    { name: "status", value: "failed" },
    { name: "text", value: "card declined http://x" },
  ]);
});

test("a filter with one value is replaced, one with several is not repeated", () => {
  assert.deepEqual(parse("workflow:a workflow:b"), [{ name: "workflow", value: "b" }]);
  assert.deepEqual(parse("status:failed status:failed status:timeout").map((one) => one.value), ["failed", "timeout"]);
  for (let i = 0; i < 500; i += 1) {
    const chips = randomChips();
    const keys = chips.map((one) => (MANY.includes(one.name) ? `${one.name}:${one.value}` : one.name));
    assert.equal(new Set(keys).size, keys.length);
  }
});

test("the filter has the names of the API", () => {
  const chips = parse('since:24h status:failed label:team:shop label:"a:b c" request:r-1 hero:order:8841');
  assert.deepEqual(toFilter(chips, NOW), {
    started_after: "2026-03-03T12:19:00.000Z",
    status: ["failed"],
    label: ["team:shop", "a:b c"],
    request_id: "r-1",
    hero: "order:8841",
  });
});

test("the same question has the same words for a while", () => {
  const chips = parse("since:24h");
  assert.deepEqual(toFilter(chips, NOW), toFilter(chips, NOW + 15_000));
});

test("a chosen stretch wins over since", () => {
  const filter = toFilter(parse("since:7d from:2026-03-04T10:00:00.000Z to:2026-03-04T11:00:00.000Z"), NOW);
  assert.deepEqual(filter, { started_after: "2026-03-04T10:00:00.000Z", started_before: "2026-03-04T11:00:00.000Z" });
  assert.deepEqual(withoutTimes({ ...filter, status: ["failed"] }), { status: ["failed"] });
});

test("the window holds now and what was chosen", () => {
  for (let i = 0; i < 2000; i += 1) {
    const from = NOW - Math.random() * 90 * DAY;
    const to = from + Math.random() * (NOW - from);
    const line = `from:${new Date(from).toISOString()} to:${new Date(to).toISOString()}`;
    const shown = windowOf(parse(line), NOW, 104);
    assert.ok(shown.from <= from && shown.to >= to, line);
    assert.ok(shown.buckets <= 104 && shown.buckets > 20 && Number.isInteger(shown.buckets), `${shown.buckets}`);
  }
  for (const since of ["90s", "1h", "24h", "7d", "30d"]) {
    const shown = windowOf(parse(`since:${since}`), NOW, 104);
    assert.ok(shown.from <= NOW && shown.to > NOW);
  }
  assert.deepEqual([1, 20, 50, 200, 2000].map((minutes) => usualWindow(NOW - minutes * 60_000, NOW)), ["5m", "30m", "1h", "6h", "24h"]);
  assert.ok(windowOf([], NOW, 104, "15m").from > NOW - HOUR);
  const usual = windowOf([], NOW, 104);
  assert.ok(usual.to - usual.from >= DAY && usual.to - usual.from < 27 * HOUR);
});

test("chips are said in words", () => {
  const moment = () => "10:05";
  const stretch = parse("status:failed from:2026-03-04T10:05:00Z to:2026-03-04T11:05:00Z");
  assert.deepEqual(together(stretch).map((one) => saidTogether(one, moment)), [
    ["status", "failed"],
    ["started", "10:05 to 10:05"],
  ]);
  assert.deepEqual(said({ name: "since", value: "24h" }, moment), ["started", "in the last 24 h"]);
  assert.deepEqual(said({ name: "from", value: "2026-03-04T10:05:00Z" }, moment), ["from", "10:05"]);
  assert.deepEqual(said({ name: "hero", value: "order:8841" }, moment), ["about", "order:8841"]);
});
