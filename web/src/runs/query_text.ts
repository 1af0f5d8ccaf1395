/** Filters as one line of text. It is loaded when a person comes near the field: a list is mostly looked at. */
import { type Chip, nameOf, withChip, without } from "./query";

export { suggestions } from "./suggestions";

/** Words of a line: `a`, `name:value`, `"two words"`, `name:"two words"`. */
const WORD = /([A-Za-z_]+):"((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\.)*)"|(\S+)/g;
const unescaped = (text: string) => text.replace(/\\(.)/g, "$1");

/** The chips of a line. What is no filter is text to search for. */
export function parse(line: string): Chip[] {
  let chips: Chip[] = [];
  const words: string[] = [];
  for (const [, quotedName, quotedValue, quoted, plain] of line.matchAll(WORD)) {
    const [head, ...rest] = (plain ?? "").split(":");
    const name = nameOf(quotedName ?? (rest.length > 0 ? (head ?? "") : ""));
    const value = quotedValue !== undefined ? unescaped(quotedValue) : rest.join(":");
    if (name === "text" && value) words.push(value);
    else if (name && value) chips = withChip(chips, { name, value });
    else if (quoted !== undefined) words.push(unescaped(quoted));
    else if (quotedName !== undefined) words.push(`${quotedName}:${unescaped(quotedValue ?? "")}`);
    else if (plain) words.push(plain);
  }
  const text = words.join(" ").trim();
  return text ? [...without(chips, "text"), { name: "text", value: text }] : without(chips, "text");
}

function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** One line that `parse` reads as the same chips. */
export function write(chips: readonly Chip[]): string {
  return chips
    .map(({ name, value }) => {
      if (name === "text") return parse(value).length === 1 && parse(value)[0]?.value === value ? value : quoted(value);
      return `${name}:${/^[^\s"\\]+$/.test(value) ? value : quoted(value)}`;
    })
    .join(" ");
}

/** Whether a text is a filter, or the beginning of one such as `status:`, and not words to search for. */
export function isFilter(text: string): boolean {
  return parse(`${text}x`).some((one) => one.name !== "text");
}
