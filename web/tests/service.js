// A service that steps call, on this machine. A test decides what it answers, and when.
import { once } from "node:events";
import { createServer } from "node:http";

/** `answer(path, status, body)` decides an answer; `reply(path, make)` makes one of what was sent; `hold(path)` keeps it back until the returned function is called;
 * `slow(path, ms)` lets each take a while. */
export async function startService() {
  const answers = new Map();
  const replies = new Map();
  const held = new Map();
  const slow = new Map();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const path = new URL(request.url, "http://x").pathname;
    await held.get(path);
    if (slow.has(path)) await new Promise((resolve) => setTimeout(resolve, slow.get(path)));
    const made = replies.get(path)?.(text ? JSON.parse(text) : null);
    const { status, body } = made ? { status: 200, body: made } : (answers.get(path) ?? { status: 200, body: { ok: true } });
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    answer: (path, status, body = {}) => answers.set(path, { status, body }),
    reply: (path, make) => replies.set(path, make),
    slow: (path, ms) => slow.set(path, ms),
    hold: (path) => {
      const { promise, resolve } = Promise.withResolvers?.() ?? withResolvers();
      held.set(path, promise);
      return () => {
        held.delete(path);
        resolve();
      };
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function withResolvers() {
  let resolve;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
