/** Where a step is in a definition as it was written, whatever its form. */

export function stepIn(definition: unknown, name: string): unknown {
  if (typeof definition !== "object" || definition === null) return undefined;
  for (const key of ["tasks", "nodes", "steps"]) {
    const all = (definition as Record<string, unknown>)[key];
    if (Array.isArray(all)) {
      const found: unknown = all.find((one) => isNamed(one, name));
      if (found !== undefined) return found;
    } else if (typeof all === "object" && all !== null && Object.hasOwn(all, name)) {
      return (all as Record<string, unknown>)[name];
    }
  }
  return undefined;
}

function isNamed(step: unknown, name: string): boolean {
  if (typeof step !== "object" || step === null) return false;
  const { id, name: own } = step as { id?: unknown; name?: unknown };
  return id === name || own === name;
}
