/** A key that no other request has. `crypto.randomUUID` is missing where the page comes over plain HTTP from another host. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (one) => one.toString(16).padStart(2, "0")).join("");
}
