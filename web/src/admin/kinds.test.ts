import assert from "node:assert/strict";
import { test } from "node:test";
import { documentOf, KINDS, kindOf } from "./kinds";

test("a document has the parts of its kind that were written, and no others", () => {
  const values = { token: " s3cret ", username: "left over", hosts: "a.example, b.example" };
  assert.deepEqual(documentOf("token", values), { kind: "token", token: " s3cret ", hosts: ["a.example", "b.example"] });
  const code = { authorization_url: "https://x/a", token_url: " https://x/t ", client_id: "me", scopes: "one two", client_secret: "" };
  assert.deepEqual(documentOf("oauth2_code", code), { kind: "oauth2_code", authorization_url: "https://x/a", token_url: "https://x/t", client_id: "me", scopes: ["one", "two"] });
});

test("what is public of a credential is shown, and nothing sealed", () => {
  for (const kind of KINDS) {
    const config = Object.fromEntries(kind.parts.map((one) => [one.name, one.list ? ["a", "b"] : "a"]));
    const shown = kindOf(kind.name).shown(config);
    for (const part of kind.parts) assert.equal(shown[part.name], part.sealed ? undefined : part.list ? "a b" : "a");
  }
});

test("a kind that is not known has its name and no parts", () => {
  assert.equal(kindOf("kerberos").word, "kerberos");
  assert.deepEqual(documentOf("kerberos", { hosts: "" }), { kind: "kerberos" });
});
