/** The value of an `<input type="datetime-local">`: an instant on the clock of this machine, without its zone. */

/** `2026-03-04T10:05` for an instant. */
export function toField(ms: number): string {
  const at = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The instant of a field as the API reads it; null if it is none. */
export function fromField(text: string): string | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
