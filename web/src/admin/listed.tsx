/** A list of the administration as a table: loading, empty, failed, and longer than one page. */
import { type InfiniteData, type UseInfiniteQueryResult, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Page } from "../api/documents";
import { Button } from "../parts/button";
import { Failure, isLost, Waiting } from "../parts/states";
import table from "../parts/table.module.css";
import styles from "./admin.module.css";

interface Props<T> {
  pages: UseInfiniteQueryResult<InfiniteData<Page<T>>>;
  /** `keys`, as in a sentence. */
  what: string;
  /** The words above the columns. On a phone there are the first two and the last, which has no word. */
  heads: string[];
  idOf: (one: T) => string;
  /** The cells of a row but the last. */
  cells: (one: T) => ReactNode[];
  /** What can be done to it. */
  verbs: (one: T) => ReactNode;
  empty: ReactNode;
  /** Those that are no longer in use are pale. */
  isPale?: (one: T) => boolean;
}

export function Listed<T>({ pages, what, heads, idOf, cells, verbs, empty, isPale }: Props<T>) {
  const { data, error, refetch } = pages;
  if (isLost(error, data)) return <Failure error={error} what={`The ${what} could not be listed`} onRetry={() => void refetch()} />;
  if (!data) return <Waiting what={`The ${what} are loading`} />;
  const rows = data.pages.flatMap((page) => page.data);
  if (rows.length === 0) return empty;
  return (
    <>
      <table className={`${table["table"]} ${styles["table"]}`} aria-label={what}>
        <thead>
          <tr>
            {heads.map((word) => (
              <th key={word}>{word}</th>
            ))}
            <th>
              <span className="unseen">What can be done</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <tr key={idOf(one)} className={isPale?.(one) ? styles["pale"] : undefined}>
              {cells(one).map((cell, i) => (
                <td key={heads[i]} className={i > 0 ? table["soft"] : undefined}>
                  {cell}
                </td>
              ))}
              <td>
                <div className={styles["verbs"]}>{verbs(one)}</div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {pages.hasNextPage && (
        <p className={styles["more"]}>
          <Button disabled={pages.isFetching} onClick={() => void pages.fetchNextPage()}>
            Show more
          </Button>
        </p>
      )}
    </>
  );
}

/** A name, and what it is in a second line. */
export function Named({ name, children }: { name: ReactNode; children?: ReactNode }) {
  return (
    <span className={styles["name"]}>
      <b>{name}</b>
      {children && <small>{children}</small>}
    </span>
  );
}

/** Ask for all lists of the administration again. */
export function useChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ["admin"] });
}

/** The words of a field that lists things: parted by commas, spaces or lines. */
export function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
