import assert from "node:assert/strict";
import { test } from "node:test";
import { browserOf } from "./agent";

test("a browser is called by its name and its system", () => {
  assert.equal(browserOf("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"), "Firefox on Linux");
  assert.equal(browserOf("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Safari/537.36 Edg/150.0"), "Edge on Windows");
  assert.equal(browserOf("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Mobile Safari/604.1"), "Safari on iOS");
  assert.equal(browserOf("curl/8.5"), "curl");
});

test("what is not known is shown as it is", () => {
  assert.equal(browserOf("my-script 1"), "my-script 1");
  assert.equal(browserOf(null), "Unknown browser");
});
