import assert from "node:assert/strict";
import { test } from "node:test";
import { headersOf, parsed } from "./parse";

test("JSON is read, nothing is null, and a mistake is told", () => {
  assert.deepEqual(parsed('{"a": [1]}'), { value: { a: [1] }, problem: null });
  assert.deepEqual(parsed("  \n"), { value: null, problem: null });
  assert.match(parsed("{a: 1}").problem ?? "", /^This is not JSON: /);
});

test("headers are read line by line", () => {
  assert.deepEqual(headersOf("X-One: 1\n\n content-type :  text/plain \nX-Empty:").headers, {
    "X-One": "1",
    "content-type": "text/plain",
    "X-Empty": "",
  });
  assert.equal(headersOf("X-One: 1\nno header here").problem, "Line 2 is no header: write Name: value");
});
