import assert from "node:assert/strict";
import { test } from "node:test";
import { type Pace, pauseOf } from "./pace";

/** The times at which a run is asked for when entries come at these times. */
function asked(entries: readonly number[], steps: number): number[] {
  const pace: Pace = { asked: -Infinity, wished: null };
  const found: number[] = [];
  let due = Infinity;
  const until = (time: number) => {
    if (due > time) return;
    found.push(due);
    pace.asked = due;
    pace.wished = null;
    due = Infinity;
  };
  for (const time of entries) {
    until(time);
    pace.wished ??= time;
    due = time + pauseOf(pace, time, steps);
  }
  until(Infinity);
  return found;
}
const every = (ms: number, count: number) => Array.from({ length: count }, (_, i) => i * ms);

test("entries that never pause do not keep a run from being asked for", () => {
  for (const steps of [1, 100, 1000]) {
    const found = asked(every(50, 1200), steps);
    const pauses = found.slice(1).map((time, i) => time - (found[i] ?? 0));
    assert.ok(found.length > 10, `${steps} steps: asked ${found.length} times in a minute`);
    for (const pause of pauses) assert.ok(pause >= 1500 + 3 * steps - 1 && pause <= 2600 + 3 * steps, `${steps} steps: ${pause}`);
  }
});

test("a pause in the entries asks soon, and once", () => {
  assert.deepEqual(asked([0, 20, 40], 3), [290]);
  assert.deepEqual(asked([0, 5000], 3), [250, 5250]);
});
