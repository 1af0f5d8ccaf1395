import assert from "node:assert/strict";
import { test } from "node:test";
import { stateOfAction, stateOfConnector, variablesOf } from "./words";

test("a connector names the variables that it reads, as its node does", () => {
  assert.deepEqual(variablesOf({ id: "my-crm", auth_type: "basic", base_url: null, source: "manifest" }), ["CONNECTOR_MY_CRM_URL", "CONNECTOR_MY_CRM_USERNAME", "CONNECTOR_MY_CRM_PASSWORD"]);
  assert.deepEqual(variablesOf({ id: "slack", auth_type: "bearer", base_url: "https://slack.com", source: "manifest" }), ["CONNECTOR_SLACK_TOKEN"]);
  assert.deepEqual(variablesOf({ id: "core", auth_type: null, base_url: null, source: "python" }), []);
});

test("what is disabled says so before anything else", () => {
  assert.equal(stateOfConnector({ enabled: false, missing: ["A"] }), "disabled");
  assert.equal(stateOfConnector({ enabled: true, missing: ["A"] }), "unset");
  assert.equal(stateOfAction({ enabled: false, deprecation_notice: "use b" }), "disabled");
  assert.equal(stateOfAction({ enabled: true, deprecation_notice: "use b" }), "deprecated");
});
