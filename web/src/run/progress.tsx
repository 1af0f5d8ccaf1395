/** How far steps in flight are, as their code reports it. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "detent-client";
import { path, read } from "../api/client";
import { shownName } from "./nodes";
import type { StepProgress } from "./use_log";
import styles from "./log.module.css";
import tabs from "./tabs.module.css";

/** Milliseconds between two looks at a step that runs. */
const LOOK = 1500;

export function Progress({ all }: { all: readonly StepProgress[] }) {
  return (
    <div className={styles["progress"]}>
      {all.map((one) => (
        <div key={`${one.step}/${one.attempt}`}>
          <b>{shownName(one.step)}</b>
          <progress value={one.fraction} max={1} aria-label={`Progress of ${one.step}`} />
          <span className={tabs["soft"]}>
            {Math.round(one.fraction * 100)} % {one.text}
          </span>
        </div>
      ))}
    </div>
  );
}

/** The progress of one step while it runs; nothing if its code reports none. */
export function ProgressOf({ run, step }: { run: string; step: string }) {
  const { data } = useQuery({
    queryKey: ["runs", run, "progress", step],
    queryFn: async ({ signal }) => {
      const page = await read<components["schemas"]["LogAnswer"]>(path`/api/v1/runs/${run}/logs`, { step, limit: 1 }, signal);
      return (page.progress ?? []).filter((one) => one.step === step);
    },
    refetchInterval: LOOK,
  });
  return data && data.length > 0 ? <Progress all={data} /> : null;
}
