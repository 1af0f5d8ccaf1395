/** Numbers as text. */

const grouped = new Intl.NumberFormat("en");

/** `48,213`. */
export function count(n: number): string {
  return grouped.format(n);
}

/** `10,000+` where the server stopped counting. */
export function capped(n: number, cap: number): string {
  return n >= cap ? `${count(cap)}+` : count(n);
}

/** `1 run`, `3 runs`. */
export function several(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** `512 B`, `1.4 kB`, `20 MB`. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = n / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** `98.4 %`. */
export function percent(part: number): string {
  const value = part * 100;
  return `${value === 100 || value === 0 ? value : value.toFixed(1)} %`;
}
