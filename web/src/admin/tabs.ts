/** The views of the administration, and what a caller needs to see each. */
import { has, type Operation, POLICY } from "../api/policy";

export interface AdminTab {
  name: string;
  word: string;
  /** Without it every caller sees the view. */
  needs?: Operation;
}

export const TABS: readonly AdminTab[] = [
  { name: "keys", word: "Keys", needs: "list_keys" },
  { name: "people", word: "People", needs: "list_users" },
  { name: "sessions", word: "Sessions" },
  { name: "secrets", word: "Secrets", needs: "list_secrets" },
  { name: "credentials", word: "Credentials", needs: "list_credentials" },
  { name: "audit", word: "Audit", needs: "list_audit" },
  { name: "tenants", word: "Tenants", needs: "list_tenants" },
];

/** The views that a caller with these scopes may see. */
export function tabsFor(scopes: readonly string[]): AdminTab[] {
  return TABS.filter(({ needs }) => needs === undefined || has(scopes, POLICY[needs]));
}
