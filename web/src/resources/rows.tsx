/** Resources of other systems as a table: where each is, and the run and step that linked it. */
import { ArrowUpRight } from "lucide-react";
import { Link } from "wouter";
import type { Resource } from "../api/resources";
import { CopyButton } from "../parts/copy";
import table from "../parts/table.module.css";
import { Time } from "../parts/time";
import styles from "./resources.module.css";

export function ResourceRows({ rows, withRun }: { rows: Resource[]; withRun?: boolean }) {
  return (
    <table className={`${table["table"]} ${styles["resources"]}`}>
      <thead>
        <tr>
          <th>System</th>
          <th>Type</th>
          <th>Id</th>
          {withRun && <th>Run</th>}
          <th>Linked by step</th>
          <th>When</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((one) => (
          <tr key={`${one.system} ${one.type} ${one.id}`}>
            <td>
              <Link href={`/system/resources?${new URLSearchParams({ system: one.system })}`}>{one.system}</Link>
            </td>
            <td className={table["soft"]}>{one.type}</td>
            <td className={styles["id"]}>
              {one.url?.startsWith("http") ? (
                <a href={one.url} target="_blank" rel="noreferrer noopener" title={one.url}>
                  {one.id}
                  <ArrowUpRight className="icon small" aria-hidden />
                  <span className="unseen">, opens in {one.system}</span>
                </a>
              ) : (
                <span>{one.id}</span>
              )}
              <CopyButton text={one.id} what="the id" />
            </td>
            {withRun && (
              <td>
                <Link href={`/runs/${one.run_id}`}>
                  <code>…{one.run_id.slice(-6)}</code>
                </Link>
              </td>
            )}
            <td>
              <Link href={`/runs/${one.run_id}?step=${encodeURIComponent(one.step)}`}>{one.step}</Link>
            </td>
            <td className={table["soft"]}>
              <Time at={one.linked_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
