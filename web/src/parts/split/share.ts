/** A share within its bounds. */
export function clamped(share: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, share));
}
