/** The versions of a rule, and what each changed. The version that is shown is in the path. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { historyQuery, type RuleVersion } from "../api/rules";
import { Button } from "../parts/button";
import { Failure, isLost, Waiting } from "../parts/states";
import { Time } from "../parts/time";
import { usePlace } from "../shell/place";
import { DiffView } from "../workflows/diff";
import styles from "../workflows/versions_tab.module.css";
import type { TabProps } from "./page";
import { asDiff, rulePlace } from "./words";

export default function VersionsTab({ tagged: { rule }, what }: TabProps) {
  const place = usePlace();
  const pages = useInfiniteQuery(historyQuery(rule.key));
  const { data, error, refetch } = pages;
  if (isLost(error, data)) return <Failure error={error} what="The versions could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The versions are loading" />;
  const versions = data.pages.flatMap((page) => page.data);
  const shown = versions.find((one) => String(one.version) === what) ?? versions[0];
  const names = new Map(rule.actions.map((one) => [one.id, one.name]));
  return (
    <div className={styles["tab"]}>
      <ol className={styles["list"]} aria-label="Versions">
        {versions.map((one) => (
          <li key={one.version} className={one === shown ? styles["shown"] : undefined}>
            <Link href={rulePlace(rule.key, "versions", `/${one.version}`)} aria-current={one === shown ? "true" : undefined}>
              <b>Version {one.version}</b>
              {one.current && <em className={styles["current"]}>current</em>}
              <small>
                {one.author && `${one.author}, `}
                <Time at={one.created_date} />
              </small>
            </Link>
          </li>
        ))}
        {pages.hasNextPage && (
          <li className={styles["older"]}>
            <Button disabled={pages.isFetching} onClick={() => void pages.fetchNextPage()}>
              Show older ones
            </Button>
          </li>
        )}
      </ol>
      {shown && (
        <section className={styles["detail"]} aria-label={`Version ${shown.version}`}>
          <div className={styles["bar"]}>
            <h2>{shown.version > 1 ? `What version ${shown.version} changed` : "The first version"}</h2>
            <span className={styles["verbs"]}>
              {!shown.current && <Button needs="restore_rule" onClick={() => place.set({ do: "restore", target: String(shown.version) })}>Restore version {shown.version}…</Button>}
            </span>
          </div>
          <Changed version={shown} names={names} />
        </section>
      )}
    </div>
  );
}

function Changed({ version, names }: { version: RuleVersion; names: ReadonlyMap<string, string> }) {
  if (!version.difference) return <p className={styles["soft"]}>Nothing was before it.</p>;
  return <DiffView diff={asDiff(version.difference, names, version.version - 1, version.version)} step="action" />;
}
