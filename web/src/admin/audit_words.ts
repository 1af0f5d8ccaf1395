/** Operations of the audit in words, and where their objects are. */

/** `cancel_run` as `Cancel run`. */
export function doneWords(action: string): string {
  const words = action.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const PLACES: Readonly<Record<string, (object: string) => string>> = {
  run: (id) => `/runs/${id}`,
  workflow: (name) => `/workflows/${name}`,
  rule: (name) => `/rules/${name}`,
  entity: (name) => `/entities/${name}`,
  connector: (name) => `/connectors/${name}`,
  action: (name) => `/actions/${name}`,
  key: () => "/admin/keys",
  user: () => "/admin/people",
  secret: () => "/admin/secrets",
  credential: () => "/admin/credentials",
};

/** The page of an object; null if it has none. */
export function placeOf(kind: string, object: string | null): string | null {
  return object ? (PLACES[kind]?.(encodeURIComponent(object)) ?? null) : null;
}
