/** The list without a row: nothing yet, or nothing that matches. */
import { useQuery } from "@tanstack/react-query";
import { base } from "../api/client";
import { workflowsQuery } from "../api/workflows";
import { Button } from "../parts/button";
import { Empty, Snippet } from "../parts/states";

export function NoRuns({ onStart }: { onStart: () => void }) {
  const { data: workflows } = useQuery(workflowsQuery({ limit: 200 }));
  const name = workflows?.[0]?.name;
  const address = base.replace(/\/$/, "");
  if (workflows && !name) {
    return (
      <Empty title="No workflow yet, so no run">
        <p>Save the first one; its runs are listed here.</p>
        <Snippet label="In a shell">{"detent init\ndetent apply hello.yaml\ndetent trigger hello"}</Snippet>
      </Empty>
    );
  }
  const shown = name ?? "hello";
  return (
    <Empty title="No run yet">
      <p>A run appears here as soon as it is accepted.</p>
      <Snippet label="In a shell">{`curl ${address}/api/v1/workflows/${shown}/trigger -d '{"order_id": 7}'`}</Snippet>
      <Snippet label="In Python">{`from detent.client import Client\n\nClient("${address}").start("${shown}", {"order_id": 7})`}</Snippet>
      <Button kind="primary" needs="trigger_workflow" onClick={onStart}>
        Start a run here
      </Button>
    </Empty>
  );
}

export function NoMatch({ onClear, searched, more, isLoading, onMore }: { onClear: () => void; searched: string | undefined; more: boolean; isLoading: boolean; onMore: () => void }) {
  return (
    <Empty title={more ? "Nothing found so far" : "No run matches"}>
      <p>{searched ? `Searched back to ${searched}.` : "Every run was looked at."}</p>
      {more && (
        <Button kind="primary" onClick={onMore} disabled={isLoading}>
          {isLoading ? "Searching…" : "Search further back"}
        </Button>
      )}
      <Button onClick={onClear}>Remove all filters</Button>
    </Empty>
  );
}
