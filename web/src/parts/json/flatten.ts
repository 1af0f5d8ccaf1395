/** A JSON value as the rows of a tree. */

export interface JsonRow {
  /** Where it is: `body.rules[0]`, empty at the root. */
  path: string;
  depth: number;
  /** The key or index; undefined at the root. */
  name: string | undefined;
  value: unknown;
  /** How many entries; undefined if it is no list and no object. */
  size: number | undefined;
  open: boolean;
}

/** Deeper or larger branches begin folded. */
const OPEN_DEPTH = 3;
const OPEN_SIZE = 24;

/** Whether a branch begins unfolded. */
export function beginsOpen(depth: number, size: number): boolean {
  return depth < OPEN_DEPTH && size <= OPEN_SIZE;
}

/** Whether a value has entries. */
export function isBranch(value: unknown): value is Record<string, unknown> | unknown[] {
  return typeof value === "object" && value !== null;
}

/** The path of an entry. */
export function inside(path: string, name: string | number): string {
  if (typeof name === "number") return `${path}[${name}]`;
  if (/^[A-Za-z_][\w-]*$/.test(name)) return path ? `${path}.${name}` : name;
  return `${path}[${JSON.stringify(name)}]`;
}

/** The rows that are seen, where `isOpen` says which branches are unfolded. The root itself has no row. */
export function flatten(value: unknown, isOpen: (path: string, depth: number, size: number) => boolean): JsonRow[] {
  const rows: JsonRow[] = [];
  const walk = (one: unknown, path: string, depth: number, name: string | undefined) => {
    if (!isBranch(one)) {
      rows.push({ path, depth, name, value: one, size: undefined, open: false });
      return;
    }
    const size = Array.isArray(one) ? one.length : Object.keys(one).length;
    const isRoot = name === undefined;
    const open = isRoot || (size > 0 && isOpen(path, depth, size));
    if (!isRoot) rows.push({ path, depth, name, value: one, size, open });
    if (!open) return;
    const next = isRoot ? depth : depth + 1;
    if (Array.isArray(one)) one.forEach((entry, i) => walk(entry, inside(path, i), next, String(i)));
    else for (const [key, entry] of Object.entries(one)) walk(entry, inside(path, key), next, key);
  };
  walk(value, "", 0, undefined);
  return rows;
}

/** The paths of branches that hold a match of a text, in a key or in a value; and how many match. */
export function matching(value: unknown, text: string): { open: Set<string>; hits: Set<string> } {
  const wanted = text.toLowerCase();
  const open = new Set<string>();
  const hits = new Set<string>();
  const walk = (one: unknown, path: string, name: string): boolean => {
    let found = name.toLowerCase().includes(wanted);
    if (found) hits.add(path);
    if (!isBranch(one)) {
      if (String(one).toLowerCase().includes(wanted)) {
        hits.add(path);
        found = true;
      }
      return found;
    }
    let below = false;
    if (Array.isArray(one)) one.forEach((entry, i) => (below = walk(entry, inside(path, i), "") || below));
    else for (const [key, entry] of Object.entries(one)) below = walk(entry, inside(path, key), key) || below;
    if (below) open.add(path);
    return found || below;
  };
  if (wanted) walk(value, "", "");
  return { open, hits };
}
