import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { type Item, itemsQuery, type RunStep } from "../../api/run";
import { count } from "../../look/numbers";
import { List } from "../../parts/list/list";
import { Failure, isLost } from "../../parts/states";
import { Status } from "../../parts/status";
import { urlOf } from "../place";
import { firstLine } from "../nodes";
import styles from "./panel.module.css";

const ROW = 36;

/** The items of a map: only what is seen is mounted, and pages are asked for as they come near. */
export function Items({ id, step }: { id: string; step: RunStep }) {
  const counts = step.items;
  const [status, setStatus] = useState(counts && counts.failed > 0 ? "failed" : "");
  const found = useInfiniteQuery(itemsQuery(id, step.name, status));
  const { hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = found;
  const items = found.data?.pages.flatMap((page) => page.data) ?? [];
  // A map that goes on: what is shown is asked for again when its counts change.
  const ended = (counts?.succeeded ?? 0) + (counts?.failed ?? 0);
  const seen = useRef(ended);
  useEffect(() => {
    if (seen.current === ended) return;
    seen.current = ended;
    void refetch();
  }, [ended, refetch]);
  if (isLost(found.error, found.data)) return <Failure error={found.error} what="The items could not be shown" onRetry={() => void refetch()} />;
  const more = () => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  };
  const all = counts?.count ?? items.length;
  return (
    <div className={styles["items"]}>
      <div className={styles["switch"]} role="group" aria-label="Which items">
        <button type="button" aria-pressed={status === ""} onClick={() => setStatus("")}>
          All {count(all)}
        </button>
        <button type="button" aria-pressed={status === "failed"} onClick={() => setStatus("failed")}>
          Failed {count(counts?.failed ?? 0)}
        </button>
        <button type="button" aria-pressed={status === "running"} onClick={() => setStatus("running")}>
          Running
        </button>
      </div>
      {items.length === 0 && !found.isFetching ? (
        <p className={styles["empty"]}>{status === "failed" ? "No item has failed." : "There are no such items."}</p>
      ) : (
        <List
          count={items.length}
          row={ROW}
          label="Items"
          onEnd={more}
          render={(i) => {
            const item = items[i];
            return item && <ItemRow key={item.index} item={item} />;
          }}
          after={
            hasNextPage && (
              <p className={styles["note"]}>
                {count(items.length)} of {count(status === "failed" ? (counts?.failed ?? 0) : all)} are loaded.
              </p>
            )
          }
        />
      )}
    </div>
  );
}

function ItemRow({ item }: { item: Item }) {
  const run = item.child_run_id;
  const words = item.error ? firstLine(item.error.message) : shortly(item.result);
  return (
    <div className={styles["item"]} role="listitem">
      <span className={styles["index"]}>{count(item.index)}</span>
      <Status of={item.status} quiet bare />
      <span className={item.error ? styles["wrong"] : styles["result"]} title={words}>
        {words}
      </span>
      {run && (
        <Link href={urlOf(run, {})} className={styles["link"] ?? ""}>
          Run
        </Link>
      )}
    </div>
  );
}

function shortly(result: unknown): string {
  if (result === null || result === undefined) return "";
  const fields = typeof result === "object" ? (result as { output?: unknown; body?: unknown }) : {};
  const inner = fields.output ?? fields.body ?? result;
  const text = JSON.stringify(inner) ?? "";
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
