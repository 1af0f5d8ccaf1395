/** The latest runs of a workflow. The list of all runs has filters and more. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { ArrowRight } from "lucide-react";
import { Link } from "wouter";
import { base } from "../api/client";
import { runsQuery } from "../api/runs";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { RunRows } from "./run_rows";
import styles from "./runs_tab.module.css";

export default function RunsTab({ workflow }: { workflow: { name: string } }) {
  const { name } = workflow;
  const runs = useInfiniteQuery(runsQuery({ workflow: name }));
  const { data, error, refetch } = runs;
  if (isLost(error, data)) return <Failure error={error} what="The runs could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The runs are loading" />;
  const rows = data.pages.flatMap((page) => page.data);
  if (rows.length === 0) {
    return (
      <Empty title="No run yet">
        <Snippet label="Start one">{`curl -X POST ${base}api/v1/workflows/${name}/trigger -d '{}'`}</Snippet>
      </Empty>
    );
  }
  return (
    <div className={styles["tab"]}>
      <Link href={`/runs?workflow=${encodeURIComponent(name)}`} className={styles["all"] ?? ""}>
        Filter them in Runs
        <ArrowRight className="icon small" aria-hidden />
      </Link>
      <RunRows runs={rows} label={`Runs of ${name}`} about="workflow" onEnd={() => runs.hasNextPage && !runs.isFetching && void runs.fetchNextPage()} />
    </div>
  );
}
