/** The arithmetic of the histogram. */
import { BANDS, type Band, type Histogram } from "../api/documents";
import { type Clock, DAY, dayMonth, HOUR, hourMinute, MINUTE, SECOND } from "../look/time";

export interface Piece {
  band: Band | "scheduled";
  /** Parts of the height, from the axis. */
  from: number;
  to: number;
}
export interface Bar {
  at: number;
  total: number;
  pieces: Piece[];
}

/** A share of the height that a single run has at least, so that one failure among thousands is seen. */
const LEAST = 0.03;

/** The highest bar and all bars, stacked with trouble nearest to the axis. Bands in `hidden` are left out. */
export function bars(histogram: Histogram, hidden: ReadonlySet<string>): { peak: number; bars: Bar[] } {
  const shown = BANDS.filter((band) => !hidden.has(band));
  const total = (bucket: Histogram["buckets"][number]) => shown.reduce((sum, band) => sum + bucket[band], 0);
  const planned = (bucket: Histogram["buckets"][number]) => (hidden.has("scheduled") ? 0 : bucket.scheduled);
  const peak = histogram.buckets.reduce((most, one) => Math.max(most, total(one) + planned(one)), 0);
  return {
    peak,
    bars: histogram.buckets.map((bucket) => {
      const sum = total(bucket);
      return { at: Date.parse(bucket.at), total: sum, pieces: stacked(bucket, shown, sum, planned(bucket), peak) };
    }),
  };
}

function stacked(bucket: Histogram["buckets"][number], shown: readonly Band[], sum: number, planned: number, peak: number): Piece[] {
  if (peak === 0) return [];
  const there = shown.filter((band) => bucket[band] > 0);
  const wanted = there.map((band) => Math.max(LEAST, bucket[band] / peak));
  const whole = wanted.reduce((all, one) => all + one, 0);
  // What small pieces take too much, all give back: a bar never is higher than the highest.
  const height = Math.min(1, Math.max(sum / peak, LEAST * there.length));
  let at = 0;
  const pieces: Piece[] = there.map((band, i) => {
    const from = at;
    at += ((wanted[i] ?? 0) / whole) * height;
    return { band, from, to: at };
  });
  if (planned > 0) pieces.push({ band: "scheduled", from: at, to: Math.min(1, at + Math.max(LEAST, planned / peak)) });
  return pieces;
}

const STEPS = [
  SECOND, 5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR,
  2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 365 * DAY,
];

export interface Tick {
  at: number;
  text: string;
}

/** Round instants of the axis, at most `most`, on the clock that is shown. */
export function ticks(from: number, to: number, most: number, clock: Clock): Tick[] {
  const step = STEPS.find((one) => (to - from) / one <= most) ?? 365 * DAY;
  // Days begin at midnight of the clock that is shown.
  const shift = clock === "utc" ? 0 : new Date(from).getTimezoneOffset() * MINUTE;
  const found: Tick[] = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at < to; at += step) {
    const isDay = step >= DAY || (step >= HOUR && hourMinute(at, clock) === "00:00");
    const text = isDay ? dayMonth(at, clock) : hourMinute(at, clock) + (step < MINUTE ? `:${String(new Date(at).getSeconds()).padStart(2, "0")}` : "");
    found.push({ at, text });
  }
  return found;
}

/** A brushed stretch on whole buckets, in order. */
export function snapped(one: number, other: number, from: number, bucket: number, count: number): [number, number] {
  const place = (at: number) => Math.min(count - 1, Math.max(0, Math.floor((at - from) / bucket)));
  const [first, last] = [place(Math.min(one, other)), place(Math.max(one, other))];
  return [from + first * bucket, from + (last + 1) * bucket];
}
