/** Who may ask, and what runs may use: keys, people, sessions, secrets and credentials. No value of a secret comes back. */
import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import type { components } from "detent-client";
import { address, isMissing, path, type Query, read, write } from "./client";
import type { One, Page } from "./documents";

type Schemas = components["schemas"];

export type Key = Schemas["KeyDocument"];
/** A key with its text, which is shown once. */
export type MadeKey = Schemas["CreatedKeyDocument"];
export type Person = Schemas["PersonDocument"];
export type Session = Schemas["SessionDocument"];
export type Secret = Schemas["SecretDocument"];
export type Credential = Schemas["CredentialDocument"];

/** One row of the audit. */
export type AuditEntry = Schemas["AuditDocument"];
/** What a tenant may do. Nothing said means: as the installation does it. */
export interface TenantLimits {
  actions: string[] | null;
  egress: string[] | null;
  retention_days: number | null;
}
export type Tenant = Schemas["TenantDocument"] & TenantLimits;
/** Which rows of the audit, by the fields of the list. */
export type AuditFilter = Partial<Record<"actor" | "action" | "kind" | "object" | "outcome" | "from" | "to", string>>;

export const ROLES = ["viewer", "operator", "editor", "admin", "instance-admin"] as const;

/** A list of the administration, page by page. All of them are below one key, so that a change asks for them again. */
export function adminQuery<T>(route: string, query: Query = {}) {
  return infiniteQueryOptions({
    queryKey: ["admin", route, query],
    queryFn: ({ pageParam, signal }) => read<Page<T>>(route, { ...query, limit: 100, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // No stream tells what changes here, and another person may have changed it.
    staleTime: 0,
  });
}

export const keysQuery = () => adminQuery<Key>("/api/v1/keys");
export const peopleQuery = () => adminQuery<Person>("/api/v1/users");
export const sessionsQuery = (all: boolean) => adminQuery<Session>("/api/v1/sessions", all ? { all: true } : {});
export const secretsQuery = () => adminQuery<Secret>("/api/v1/secrets");
export const credentialsQuery = () => adminQuery<Credential>("/api/v1/credentials");

export const tenantsQuery = () => adminQuery<Tenant>("/api/v1/tenants");
export const auditQuery = (filter: AuditFilter) => adminQuery<AuditEntry>("/api/v1/audit", filter);

/** Where all rows of a filter are saved from, as JSON lines. */
export const auditExport = (filter: AuditFilter) => address("/api/v1/audit/export", filter);

export interface NewKey {
  name: string;
  role?: string;
  scopes?: string[];
  workflows?: string[];
  expires_at?: string;
  /** Another tenant than that of the caller. */
  tenant?: string;
}

export async function createKey(key: NewKey): Promise<MadeKey> {
  return (await write<One<MadeKey>>("post", "/api/v1/keys", key)).data;
}

/** Make another key in place of this one, which works for a day more. */
export async function rotateKey(key: string): Promise<MadeKey> {
  return (await write<One<MadeKey>>("post", path`/api/v1/keys/${key}/rotate`, {})).data;
}

export async function revokeKey(key: string): Promise<void> {
  await write("delete", path`/api/v1/keys/${key}`);
}

export interface PersonFields {
  name?: string;
  role?: string;
  display_name?: string;
  email?: string;
  password?: string;
  disabled?: boolean;
}

export async function createPerson(fields: PersonFields): Promise<Person> {
  return (await write<One<Person>>("post", "/api/v1/users", fields)).data;
}

export async function changePerson(person: string, fields: PersonFields): Promise<Person> {
  return (await write<One<Person>>("patch", path`/api/v1/users/${person}`, fields)).data;
}

/** Change the own password; every session of the person ends. */
export async function changeOwnPassword(old: string, next: string): Promise<void> {
  await write("post", "/api/v1/me/password", { old_password: old, new_password: next });
}

export async function endSession(session: string): Promise<void> {
  await write("delete", path`/api/v1/sessions/${session}`);
}

/** End the caller's sessions in all other browsers. */
export async function endOtherSessions(): Promise<void> {
  for (;;) {
    const { data, next_cursor } = await read<Page<Session>>("/api/v1/sessions", { limit: 200 });
    const others = data.filter((one) => !one.current);
    for (const one of others) {
      await endSession(one.id).catch((error: unknown) => {
        // It ended by itself.
        if (!isMissing(error)) throw error;
      });
    }
    if (!next_cursor || others.length === 0) return;
  }
}

export async function setSecret(name: string, value: string, hosts: string[] | null): Promise<Secret> {
  return (await write<One<Secret>>("put", path`/api/v1/secrets/${name}`, { value, ...(hosts === null ? {} : { hosts }) })).data;
}

export async function deleteSecret(name: string): Promise<void> {
  await write("delete", path`/api/v1/secrets/${name}`);
}

export async function setCredential(name: string, document: Record<string, unknown>): Promise<Credential> {
  return (await write<One<Credential>>("put", path`/api/v1/credentials/${name}`, document)).data;
}

export async function deleteCredential(name: string): Promise<void> {
  await write("delete", path`/api/v1/credentials/${name}`);
}

/** Where a person agrees that Detent may use an account. */
export async function connectCredential(name: string): Promise<Schemas["ConnectionDocument"]> {
  return (await write<One<Schemas["ConnectionDocument"]>>("post", path`/api/v1/credentials/${name}/connect`)).data;
}

export async function createTenant(name: string): Promise<Tenant> {
  return (await write<One<Tenant>>("post", "/api/v1/tenants", { name })).data;
}

export async function changeTenant(name: string, verb: "suspend" | "resume"): Promise<Tenant> {
  return (await write<One<Tenant>>("post", `${path`/api/v1/tenants/${name}`}/${verb}`)).data;
}

/** Change what a tenant may do; what is left out stays. */
export async function limitTenant(name: string, limits: Partial<TenantLimits>): Promise<Tenant> {
  return (await write<One<Tenant>>("patch", path`/api/v1/tenants/${name}`, limits)).data;
}

/** Delete a suspended tenant and everything it has; `confirm` is its name again. Its runs are cancelled first, which takes a
 * while. */
export async function deleteTenant(name: string, confirm: string): Promise<Schemas["DeletedTenant"]> {
  return (await write<One<Schemas["DeletedTenant"]>>("delete", path`/api/v1/tenants/${name}`, undefined, { query: { confirm }, patience: 30 })).data;
}

/** Where everything that a tenant has is saved from, as JSON lines. */
export const tenantExport = (name: string) => address(path`/api/v1/tenants/${name}/export`);
