/** Work that takes a while: its progress is told as it goes, and its answer comes at the end. */
import { Parser, refusalOf } from "detent-client";
import { address, asked, HEADERS, type Query } from "./client";

/** Ask for work, hear its progress, and return its answer. Leaving it by `signal` stops it. */
export async function workStream<T, P>(path: string, query: Query, told: (progress: P) => void, signal: AbortSignal): Promise<T> {
  const response = await asked(async () => {
    const answer = await fetch(address(path, query), { method: "POST", headers: { ...HEADERS, accept: "text/event-stream" }, signal });
    if (!answer.ok) throw await refusalOf(answer);
    return answer;
  });
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return (await response.json()) as T;
  const parser = new Parser();
  const decoder = new TextDecoder();
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("The server went away before it was done. Try again.");
    for (const { event, data } of parser.feed(decoder.decode(value, { stream: true }))) {
      const said: unknown = JSON.parse(data);
      if (event === "progress") told(said as P);
      if (event === "result") return said as T;
      if (event === "error") throw await refusalOf(new Response(data, { status: (said as { status?: number }).status ?? 500 }));
    }
  }
}
