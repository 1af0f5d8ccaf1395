/** A text that nobody else has. Node 18 has no `crypto` everywhere; what is wanted here is different, not secret. */
export function newId(): string {
  const { crypto } = globalThis as { crypto?: Partial<Crypto> };
  if (crypto?.randomUUID !== undefined) return crypto.randomUUID();
  const part = () => Math.random().toString(36).slice(2).padEnd(11, "0");
  return `${Date.now().toString(36)}-${part()}${part()}`;
}
