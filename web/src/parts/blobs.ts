/** Large payloads in a value: the journal has `{"$blob", size, type, sha256}` in their place. */

export interface BlobValue {
  $blob: string;
  size: number;
  type: string;
}

/** So many parts of a value are looked at, and so many blobs of it are shown. */
const MOST_PARTS = 10_000;
const MOST_BLOBS = 20;

export function isBlob(value: unknown): value is BlobValue {
  if (typeof value !== "object" || value === null || !("$blob" in value) || !("size" in value) || !("type" in value)) return false;
  return typeof value.$blob === "string" && /^blob_[0-9a-z]{26}$/.test(value.$blob) && typeof value.size === "number" && typeof value.type === "string";
}

/** The blobs that a value names, each once, in their order. */
export function blobsIn(value: unknown): BlobValue[] {
  const found = new Map<string, BlobValue>();
  const left: unknown[] = [value];
  for (let seen = 0; left.length > 0 && seen < MOST_PARTS && found.size < MOST_BLOBS; seen += 1) {
    const one = left.pop();
    if (isBlob(one)) found.set(one.$blob, one);
    else if (typeof one === "object" && one !== null) left.push(...Object.values(one).slice(0, MOST_PARTS).reverse());
  }
  return [...found.values()];
}
