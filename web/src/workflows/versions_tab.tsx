/** The versions of a workflow and what differs between two of them. Both are in the URL: the path has the newer one,
 * `?compare=` the other. */
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { diffQuery, draftQuery, versionsQuery } from "../api/workflows";
import { count, several } from "../look/numbers";
import { Button, LinkButton } from "../parts/button";
import { SelectField } from "../parts/field";
import { Notice } from "../parts/notice";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Time } from "../parts/time";
import { usePlace } from "../shell/place";
import { DiffView } from "./diff";
import type { TabProps } from "./page";
import { placeOf } from "./state";
import styles from "./versions_tab.module.css";

/** The server lists no more at once. */
const MOST = 200;

export default function VersionsTab({ workflow, stats, what }: TabProps) {
  const { name } = workflow;
  const place = usePlace();
  const [, go] = useLocation();
  const { data, error, refetch } = useQuery(versionsQuery(name));
  const draft = useQuery(draftQuery(name, workflow.draft != null));
  if (isLost(error, data)) return <Failure error={error} what="The versions could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The versions are loading" />;
  const numbers = data.map((one) => String(one.version));
  const all = [...(workflow.draft ? ["draft"] : []), ...numbers];
  const shown = all.includes(what) ? what : (all[0] ?? "");
  const other = place.get("compare") || usualOther(shown, all, String(workflow.current_version));
  const open = (version: string, compare: string) => placeOf(name, "versions", `/${version}${compare ? `?compare=${compare}` : ""}`);
  if (all.length === 0) {
    return (
      <Empty title="No version yet">
        <Snippet label="Save one">{`detent apply ${name}.yaml`}</Snippet>
      </Empty>
    );
  }
  return (
    <div className={styles["tab"]}>
      <ol className={styles["list"]} aria-label="Versions">
        {workflow.draft && (
          <li className={shown === "draft" ? styles["shown"] : undefined}>
            <Link href={open("draft", "")} aria-current={shown === "draft" ? "true" : undefined}>
              <b>Draft {workflow.draft.revision}</b>
              <em>{draft.data?.problems.length ? several(draft.data.problems.length, "problem") : "not published"}</em>
              <small>
                {draft.data ? (
                  <>
                    saved by {draft.data.saved_by}, <Time at={draft.data.updated_at} />
                  </>
                ) : (
                  "differs from what runs"
                )}
              </small>
            </Link>
          </li>
        )}
        {data.map((one) => {
          const flying = stats?.in_flight[String(one.version)] ?? 0;
          return (
            <li key={one.version} className={shown === String(one.version) ? styles["shown"] : undefined}>
              <Link href={open(String(one.version), "")} aria-current={shown === String(one.version) ? "true" : undefined}>
                <b>Version {one.version}</b>
                {one.current && <em className={styles["current"]}>current</em>}
                <small>
                  <Time at={one.inserted_at} />
                  {flying > 0 && <span> · {several(flying, "run")} in flight</span>}
                </small>
              </Link>
            </li>
          );
        })}
        {data.length === MOST && <li className={styles["older"]}>Older versions are not listed.</li>}
      </ol>
      <section className={styles["detail"]} aria-label={`Version ${shown}`}>
        <div className={styles["bar"]}>
          <SelectField label="From" value={other} onChange={(event) => go(open(shown, event.currentTarget.value))}>
            <option value="">nothing</option>
            {all.filter((one) => one !== shown).map(option)}
          </SelectField>
          <SelectField label="To" value={shown} onChange={(event) => go(open(event.currentTarget.value, other))}>
            {all.map(option)}
          </SelectField>
          <span className={styles["verbs"]}>
            <LinkButton to={placeOf(name, "", shown === String(workflow.current_version) ? "" : `?version=${shown}`)}>Show its graph</LinkButton>
            {shown === "draft" ? (
              <Button kind="primary" needs="publish_workflow" onClick={() => place.set({ do: "publish" })}>
                Publish…
              </Button>
            ) : (
              shown !== String(workflow.current_version) && <Button needs="activate_workflow_version" onClick={() => place.set({ do: "activate", target: shown })}>Make it current…</Button>
            )}
            {shown !== "draft" && (
              <Button needs="move_many_runs" onClick={() => place.set({ do: "move", target: shown })}>Move runs to it…</Button>
            )}
          </span>
        </div>
        {shown === "draft" && draft.data && draft.data.problems.length > 0 && (
          <Notice tone="fail">
            The draft cannot be published:
            <ul className={styles["problems"]}>
              {draft.data.problems.map((one) => (
                <li key={`${one.field} ${one.message}`}>
                  {one.field && <code>{one.field}</code>} {one.message}
                </li>
              ))}
            </ul>
          </Notice>
        )}
        {other && <Comparison name={name} from={other} to={shown} />}
        {shown !== "draft" && !other && <p className={styles["soft"]}>This is the only version{count(all.length) === "1" ? "" : " shown"}. Choose another to compare it with.</p>}
      </section>
    </div>
  );
}

/** What a version is compared with unless a person says so: a draft with what runs, another with the one before it. */
export function usualOther(shown: string, all: readonly string[], current: string): string {
  if (shown === "draft") return all.includes(current) ? current : "";
  return all[all.indexOf(shown) + 1] ?? "";
}

function option(version: string) {
  return (
    <option key={version} value={version}>
      {version === "draft" ? "draft" : `version ${version}`}
    </option>
  );
}

function Comparison({ name, from, to }: { name: string; from: string; to: string }) {
  const { data, error, refetch } = useQuery(diffQuery(name, from, to));
  if (isLost(error, data)) return <Failure error={error} what="The versions could not be compared" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The versions are compared" />;
  return <DiffView diff={data} />;
}
