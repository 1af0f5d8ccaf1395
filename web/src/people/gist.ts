/** What a body says in one line: its first plain values. `customer Ada Lovelace · discount 20`. */
const MOST = 3;
const LONGEST = 40;

export function gist(value: unknown): string {
  const body = isObject(value) && isObject(value["body"]) ? value["body"] : value;
  if (!isObject(body)) return plain(body) ?? "";
  const parts: string[] = [];
  for (const [name, one] of Object.entries(body)) {
    const text = plain(one);
    if (text !== null) parts.push(`${name} ${text}`);
    if (parts.length === MOST) break;
  }
  return parts.join(" · ");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function plain(value: unknown): string | null {
  if (value === null || value === undefined || typeof value === "object") return null;
  const text = String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
