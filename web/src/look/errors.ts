/** Errors in fewer words. The whole text is in the panel of the step. */

/** An error without ids of runs: a person reads that the run of a step failed, and why. What is missing in a template
 * comes before the template. */
export function saidError(text: string): string {
  return text
    .replace(/\brun_[0-9a-z]{26} ended as (\w+)/g, (_, how: string) => `its run ${ENDED[how] ?? `ended as ${how}`}`)
    .replace(/Failed to resolve (\{\{[^{}]*\}\}): ([^;\n]+)/g, "$2 ($1)")
    .replace(/\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) https?:\/\/\S+ (answered \d{3})/g, "$1");
}

const ENDED: Readonly<Record<string, string>> = { failed: "failed", timeout: "timed out", cancelled: "was cancelled" };
