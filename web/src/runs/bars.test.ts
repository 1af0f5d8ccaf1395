import assert from "node:assert/strict";
import { test } from "node:test";
import { BANDS, type Counts, type Histogram } from "../api/documents";
import { HOUR } from "../look/time";
import { bars, snapped, ticks } from "./bars";

const FROM = Date.parse("2026-03-03T12:00:00.000Z");

function histogram(rows: Partial<Counts>[]): Histogram {
  const zero = { completed: 0, running: 0, waiting: 0, attention: 0, failed: 0, cancelled: 0, scheduled: 0 };
  const buckets = rows.map((row, i) => ({ ...zero, ...row, at: new Date(FROM + i * HOUR).toISOString() }));
  return { from: new Date(FROM).toISOString(), to: new Date(FROM + rows.length * HOUR).toISOString(), bucket_ms: HOUR, buckets, totals: zero };
}

function random(): Partial<Counts> {
  const row: Partial<Counts> = { scheduled: Math.random() < 0.1 ? 3 : 0 };
  for (const band of BANDS) row[band] = Math.random() < 0.5 ? 0 : Math.floor(Math.random() ** 4 * 100_000);
  return row;
}

test("pieces are stacked without gap or overlap, and no bar leaves the frame", () => {
  for (let i = 0; i < 500; i += 1) {
    const found = bars(histogram(Array.from({ length: 24 }, random)), new Set());
    for (const bar of found.bars) {
      let at = 0;
      for (const piece of bar.pieces) {
        assert.equal(piece.from, at);
        assert.ok(piece.to > piece.from && piece.to <= 1 + 1e-9, JSON.stringify(piece));
        at = piece.to;
      }
    }
  }
});

test("one failure among thousands is seen, nearest to the axis", () => {
  const [bar] = bars(histogram([{ completed: 10_000, failed: 1 }]), new Set()).bars;
  const first = bar?.pieces[0];
  assert.equal(first?.band, "failed");
  assert.ok((first?.to ?? 0) >= 0.02);
});

test("a band that is hidden does not count", () => {
  const found = bars(histogram([{ completed: 100 }, { failed: 5 }]), new Set(["completed"]));
  assert.equal(found.peak, 5);
  assert.deepEqual(found.bars[0]?.pieces, []);
});

test("nothing has no bars", () => {
  assert.equal(bars(histogram([{}, {}]), new Set()).peak, 0);
});

test("ticks are round, in order and few", () => {
  for (let i = 0; i < 1000; i += 1) {
    const length = 60_000 * 10 ** (Math.random() * 4);
    const found = ticks(FROM, FROM + length, 8, "utc");
    assert.ok(found.length <= 9, `${length}: ${found.length}`);
    assert.ok(found.every((one, n) => one.at >= FROM && one.at < FROM + length && (n === 0 || one.at > (found[n - 1]?.at ?? 0))));
  }
  assert.deepEqual(
    ticks(FROM, FROM + 25 * HOUR, 9, "utc").map((one) => one.text).slice(0, 5),
    ["12:00", "15:00", "18:00", "21:00", "4 Mar"],
  );
});

test("a brush takes whole buckets", () => {
  assert.deepEqual(snapped(FROM + 90 * 60_000, FROM + 10, FROM, HOUR, 24), [FROM, FROM + 2 * HOUR]);
  assert.deepEqual(snapped(FROM - HOUR, FROM + 99 * HOUR, FROM, HOUR, 24), [FROM, FROM + 24 * HOUR]);
  assert.deepEqual(snapped(FROM + 5, FROM + 5, FROM, HOUR, 24), [FROM, FROM + HOUR]);
});
