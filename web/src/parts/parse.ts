/** The value of a JSON text, or what is wrong with it. */
export type Parsed = { value: unknown; problem: null } | { value: undefined; problem: string };

export function parsed(text: string): Parsed {
  if (text.trim() === "") return { value: null, problem: null };
  try {
    return { value: JSON.parse(text) as unknown, problem: null };
  } catch (error) {
    return { value: undefined, problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Headers as they are written: a name, a colon, a value, one in each line. */
export function headersOf(text: string): { headers: Record<string, string>; problem: string | null } {
  const headers: Record<string, string> = {};
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const found = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*:\s*(.*?)\s*$/.exec(line);
    if (!found?.[1]) return { headers: {}, problem: `Line ${i + 1} is no header: write Name: value` };
    headers[found[1]] = found[2] ?? "";
  }
  return { headers, problem: null };
}
