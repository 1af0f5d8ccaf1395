/** What the stream tells, put into the pages of the list of runs. */
import type { Page, RunSummary } from "../api/documents";
import { arrivedPages, patchedPages } from "../api/pages";

/** The stream may leave out how far a run came. */
function merged(next: RunSummary, old: RunSummary): RunSummary {
  return { ...next, progress: next.progress ?? old.progress ?? null };
}

/** The pages with changed rows replaced and gone ones left out. */
export function patched(pages: readonly Page<RunSummary>[], changed: readonly RunSummary[], gone: ReadonlySet<string>): Page<RunSummary>[] {
  return patchedPages(pages, changed, gone, merged);
}

/** The pages with the newest runs above. */
export function arrived(pages: readonly Page<RunSummary>[], newest: Page<RunSummary>): { pages: Page<RunSummary>[]; added: string[] | undefined } {
  return arrivedPages(pages, newest, merged);
}
