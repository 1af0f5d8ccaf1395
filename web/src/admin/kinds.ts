/** The kinds of credentials, and the parts that each has. */

export interface Part {
  name: string;
  word: string;
  sealed?: boolean;
  optional?: boolean;
  /** Several words, which the API takes as a list. */
  list?: boolean;
  example?: string;
}
interface Kind {
  name: string;
  word: string;
  says: string;
  parts: readonly Part[];
}

const SCOPES: Part = { name: "scopes", word: "Scopes", optional: true, list: true, example: "notes.read notes.write" };
const TOKEN_URL: Part = { name: "token_url", word: "Address for tokens", example: "https://id.example.com/token" };
const CLIENT: Part = { name: "client_id", word: "Client id" };

export const KINDS: readonly Kind[] = [
  { name: "token", word: "Token", says: "Sent as Authorization: Bearer.", parts: [{ name: "token", word: "Token", sealed: true }] },
  {
    name: "basic",
    word: "Name and password",
    says: "Sent as Authorization: Basic.",
    parts: [
      { name: "username", word: "Name" },
      { name: "password", word: "Password", sealed: true },
    ],
  },
  {
    name: "header",
    word: "Header",
    says: "Sent as a header of your choice.",
    parts: [
      { name: "header", word: "Header", example: "X-Api-Key" },
      { name: "value", word: "Value", sealed: true },
    ],
  },
  {
    name: "api_key",
    word: "API key",
    says: "Sent in the query, or as a header.",
    parts: [
      { name: "name", word: "Name of the parameter", example: "api_key" },
      { name: "in", word: "Where: query or header", optional: true, example: "query" },
      { name: "key", word: "Key", sealed: true },
    ],
  },
  {
    name: "oauth2_client",
    word: "OAuth 2, as a client",
    says: "Detent asks for tokens in its own name, and renews them.",
    parts: [TOKEN_URL, CLIENT, { name: "client_secret", word: "Client secret", sealed: true }, SCOPES, { name: "audience", word: "Audience", optional: true }],
  },
  {
    name: "oauth2_code",
    word: "OAuth 2, for an account",
    says: "A person agrees once that Detent may use an account.",
    parts: [
      { name: "authorization_url", word: "Address where a person agrees", example: "https://id.example.com/authorize" },
      TOKEN_URL,
      CLIENT,
      { name: "client_secret", word: "Client secret", sealed: true, optional: true },
      SCOPES,
    ],
  },
  {
    name: "aws4",
    word: "AWS signature",
    says: "Requests are signed with AWS Signature Version 4.",
    parts: [
      { name: "access_key_id", word: "Access key id" },
      { name: "secret_access_key", word: "Secret access key", sealed: true },
      { name: "service", word: "Service", example: "s3" },
      { name: "region", word: "Region", example: "eu-central-1" },
      { name: "session_token", word: "Session token", sealed: true, optional: true },
    ],
  },
];

/** A kind by its name. One that this page does not know has no parts. */
export function kindOf(name: string): Kind & { shown: (config: Record<string, unknown>) => Record<string, string> } {
  const kind = KINDS.find((one) => one.name === name) ?? { name, word: name, says: "", parts: [] };
  const text = (value: unknown) => (Array.isArray(value) ? value.join(" ") : typeof value === "string" ? value : "");
  return { ...kind, shown: (config) => Object.fromEntries(kind.parts.filter((one) => !one.sealed).map((one) => [one.name, text(config[one.name])])) };
}

/** What the API takes: the parts of the kind that a person wrote, and the hosts. */
export function documentOf(name: string, values: Readonly<Record<string, string>>): Record<string, unknown> {
  const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);
  const document: Record<string, unknown> = { kind: name };
  for (const part of kindOf(name).parts) {
    const text = values[part.name] ?? "";
    const value = part.sealed ? text : text.trim();
    if (value !== "") document[part.name] = part.list ? words(value) : value;
  }
  const hosts = words(values["hosts"] ?? "");
  if (hosts.length > 0) document["hosts"] = hosts;
  return document;
}
