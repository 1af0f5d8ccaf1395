/** Instants and spans as text. Nothing else in the page formats a time. */

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** How instants are shown: as a distance from now, on the clock of this machine, or in UTC. */
export type Clock = "relative" | "local" | "utc";

/** A span in at most two units: `346 ms`, `3.4 s`, `1 m 44 s`, `2 h 14 m`, `30 d 0 h`. */
export function span(ms: number): string {
  if (!Number.isFinite(ms)) return "";
  const positive = Math.max(0, ms);
  if (positive < 999.5) return `${Math.round(positive)} ms`;
  if (positive < 59.95 * SECOND) return `${(positive / SECOND).toFixed(1)} s`;
  return longer(positive);
}

/** A span without parts of a second: for what is counted down or up while a person looks. */
export function roughSpan(ms: number): string {
  const positive = Math.max(0, ms);
  return positive < MINUTE ? `${Math.floor(positive / SECOND)} s` : longer(positive);
}

function longer(ms: number): string {
  const seconds = Math.round(ms / SECOND);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A distance from the beginning on an axis, as short as it is exact: `500 ms`, `2 s`, `2 h 13 m 30 s`. */
export function offset(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${Number((ms / SECOND).toFixed(3))} s`;
  const parts: [number, string][] = [
    [Math.floor(ms / DAY), "d"],
    [Math.floor(ms / HOUR) % 24, "h"],
    [Math.floor(ms / MINUTE) % 60, "m"],
    [Number(((ms % MINUTE) / SECOND).toFixed(3)), "s"],
  ];
  return parts.flatMap(([n, unit]) => (n ? [`${n} ${unit}`] : [])).join(" ");
}

/** A distance: `3 s ago`, `now`, `in 2 h 5 m`. What is to come is said more exactly: people wait for it. */
export function distance(at: number, now: number): string {
  const ms = now - at;
  const size = Math.abs(ms);
  if (size < SECOND) return "now";
  return ms < 0 ? `in ${roughSpan(size)}` : `${oneUnit(size)} ago`;
}

function oneUnit(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (n: number) => String(n).padStart(2, "0");

interface Parts {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  ms: number;
}

function fieldsOf(at: number, clock: Clock): Parts {
  const date = new Date(at);
  return clock === "utc"
    ? {
        year: date.getUTCFullYear(),
        month: date.getUTCMonth(),
        day: date.getUTCDate(),
        hour: date.getUTCHours(),
        minute: date.getUTCMinutes(),
        second: date.getUTCSeconds(),
        ms: date.getUTCMilliseconds(),
      }
    : {
        year: date.getFullYear(),
        month: date.getMonth(),
        day: date.getDate(),
        hour: date.getHours(),
        minute: date.getMinutes(),
        second: date.getSeconds(),
        ms: date.getMilliseconds(),
      };
}

/** `10:05`, on the clock. */
export function hourMinute(at: number, clock: Clock): string {
  const { hour, minute } = fieldsOf(at, clock);
  return `${two(hour)}:${two(minute)}`;
}

/** `3 Mar`, with the year if it is another than now's. */
export function dayMonth(at: number, clock: Clock, now = at): string {
  const { year, month, day } = fieldsOf(at, clock);
  return `${day} ${MONTHS[month]}${year === fieldsOf(now, clock).year ? "" : ` ${year}`}`;
}

/** `10:05:00` if it is today, else `3 Mar 10:05`. */
export function moment(at: number, clock: Clock, now: number): string {
  const { year, month, day, hour, minute, second } = fieldsOf(at, clock);
  const today = fieldsOf(now, clock);
  if (year === today.year && month === today.month && day === today.day) {
    return `${two(hour)}:${two(minute)}:${two(second)}`;
  }
  return `${dayMonth(at, clock, now)} ${two(hour)}:${two(minute)}`;
}

/** `10:05` if it is today, else `3 Mar 10:05`. */
export function minute(at: number, clock: Clock, now: number): string {
  const day = dayMonth(at, clock, now);
  return day === dayMonth(now, clock, now) ? hourMinute(at, clock) : `${day} ${hourMinute(at, clock)}`;
}

/** Everything about an instant, for a tooltip: `2026-03-04 10:05:00.240 UTC`. */
export function exact(at: number, clock: Clock): string {
  const { year, month, day, hour, minute, second, ms } = fieldsOf(at, clock);
  const time = `${two(hour)}:${two(minute)}:${two(second)}.${String(ms).padStart(3, "0")}`;
  return `${year}-${two(month + 1)}-${two(day)} ${time}${clock === "utc" ? " UTC" : ""}`;
}

/** An instant as the chosen clock shows it. */
export function shown(at: number, clock: Clock, now: number): string {
  return clock === "relative" ? distance(at, now) : moment(at, clock, now);
}

/** The milliseconds of an instant of the API; NaN if there is none. */
export function instant(text: string | null | undefined): number {
  return text ? Date.parse(text) : Number.NaN;
}

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)/g;

/** A text and the instants in it, in their order. */
export function partsOf(text: string): (string | { at: number })[] {
  const parts: (string | { at: number })[] = [];
  let end = 0;
  for (const found of text.matchAll(INSTANT)) {
    const at = Date.parse(found[0]);
    if (Number.isNaN(at)) continue;
    if (found.index > end) parts.push(text.slice(end, found.index));
    parts.push({ at });
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

const UNITS: Record<string, number> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY };

/** The length of `90s`, `15m`, `24h`, `7d`, `2w`; undefined if it is none. */
export function lengthOf(text: string): number | undefined {
  const found = /^(\d{1,6})\s*([smhdw])$/.exec(text.trim());
  const unit = UNITS[found?.[2] ?? ""];
  return found && unit ? Number(found[1]) * unit : undefined;
}

/** `24 h` for `24h`: a length as it is said. */
export function saidLength(text: string): string {
  return text.replace(/^(\d+)\s*([smhdw])$/, "$1 $2");
}
