/** Dead letters in words: what each is about, and what a requeue does. */
import type { Letter, LetterFilter } from "../api/letters";

export const KINDS = ["step", "run", "firing", "event"] as const;

const WORDS: Readonly<Record<string, { word: string; requeue: string }>> = {
  step: { word: "Step", requeue: "Retry the run: what succeeded is kept, the step runs again" },
  run: { word: "Run", requeue: "Resume the run" },
  firing: { word: "Firing", requeue: "Fire again with the same request" },
  event: { word: "Event", requeue: "Fire again with the same event" },
};

export function kindOf(kind: string): { word: string; requeue: string } {
  return WORDS[kind] ?? { word: kind, requeue: "Try it again" };
}

/** Where the run or the firing that a requeue made is. */
export function resultPlace(result: string | null): string | null {
  if (result?.startsWith("run_")) return `/runs/${result}`;
  return result ? `/triggers/received?firing=${result}` : null;
}

/** What a filter means, for a question before many are changed. */
export function saidFilter(filter: LetterFilter): string {
  const said = [
    filter.state === "open" ? "given up and not requeued" : filter.state,
    filter.kind && `about a ${kindOf(filter.kind).word.toLowerCase()}`,
    filter.reason && `with the reason ${filter.reason}`,
    filter.workflow && `of ${filter.workflow}`,
    filter.run && `of ${filter.run}`,
  ].filter(Boolean);
  return said.length > 0 ? said.join(", ") : "all of them";
}

/** Whether an error says nothing that the message does not. */
export function isSame(error: string, message: string): boolean {
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, " ").trim();
  return bare(message).includes(bare(error)) || bare(error) === bare(message);
}

/** What a letter is about, in a few words. */
export function about({ kind, step, workflow }: Pick<Letter, "kind" | "step" | "workflow">): string {
  return kind === "step" && step ? `${workflow} ${step}` : workflow;
}
