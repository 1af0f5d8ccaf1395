/** The connectors: what each is, and whether this node is set up for it. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { connectorsQuery, facetsQuery } from "../api/catalog";
import { count } from "../look/numbers";
import { Button } from "../parts/button";
import { TextField } from "../parts/field";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import table from "../parts/table.module.css";
import { usePlace } from "../shell/place";
import styles from "./catalog.module.css";
import { authOf, connectorPlace, sourceOf, stateOfConnector } from "./words";

export function Connectors() {
  const place = usePlace();
  const wanted = place.get("search").toLowerCase();
  const pages = useInfiniteQuery(connectorsQuery());
  const facets = useQuery(facetsQuery());
  const { data, error, refetch } = pages;
  const actions = new Map(facets.data?.connectors.map((one) => [one.value, one.count]));
  const all = data?.pages.flatMap((page) => page.data) ?? [];
  const rows = all.filter((one) => `${one.id} ${one.display_name} ${one.description}`.toLowerCase().includes(wanted));
  if (isLost(error, data)) return <Failure error={error} what="The connectors could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The connectors are loading" />;
  if (all.length === 0) {
    return (
      <Empty title="No connector yet">
        <Snippet label="Add one from its manifest">detent connectors add crm.yaml</Snippet>
      </Empty>
    );
  }
  return (
    <div className={styles["scroll"]}>
      <div className={styles["filters"]}>
        <TextField bare label="Find a connector" placeholder="Find a connector" type="search" defaultValue={place.get("search")} onChange={(event) => place.set({ search: event.currentTarget.value.trim() }, { replace: true })} />
      </div>
      {rows.length === 0 && <Empty title="No connector matches" />}
      {rows.length > 0 && (
        <table className={`${table["table"]} ${styles["connectors"]}`}>
          <thead>
            <tr>
              <th>Connector</th>
              <th>State</th>
              <th>Actions</th>
              <th>Needs</th>
              <th>From</th>
              <th>Version</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((one) => (
              <tr key={one.id}>
                <td className={styles["name"]}>
                  <Link href={connectorPlace(one.id)}>{one.display_name || one.id}</Link>
                  {one.display_name && one.display_name !== one.id && <code>{one.id}</code>}
                  <small>{one.description}</small>
                </td>
                <td>
                  <Status of={stateOfConnector(one)} quiet />
                </td>
                <td className={table["soft"]}>{count(actions.get(one.id) ?? 0)}</td>
                <td className={table["soft"]}>
                  {one.missing.length > 0 ? <code className={styles["missing"]}>{one.missing.join(" ")}</code> : authOf(one)}
                </td>
                <td className={table["soft"]}>{sourceOf(one.source)}</td>
                <td className={table["soft"]}>{one.version}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {pages.hasNextPage && (
        <p className={styles["more"]}>
          <Button disabled={pages.isFetching} onClick={() => void pages.fetchNextPage()}>
            Show more
          </Button>
        </p>
      )}
    </div>
  );
}
