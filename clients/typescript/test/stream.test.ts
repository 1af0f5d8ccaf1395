import assert from "node:assert/strict";
import { test } from "node:test";
import { Parser } from "../dist/stream.js";

const TEXT = 'retry: 1000\n\nid: 1\nevent: entry\ndata: {"a":\ndata: 1}\n\n: still here\n\nevent: end\r\ndata: x\r\n\r\n';
const FRAMES = [
  { event: "entry", id: "1", data: '{"a":\n1}' },
  { event: "end", id: "1", data: "x" },
];

test("frames are the same in whatever pieces they arrive", () => {
  for (let size = 1; size <= TEXT.length; size += 1) {
    const parser = new Parser();
    const found = [];
    for (let at = 0; at < TEXT.length; at += size) found.push(...parser.feed(TEXT.slice(at, at + size)));
    assert.deepEqual(found, FRAMES, `in pieces of ${size}`);
  }
});
