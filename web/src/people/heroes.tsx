/** What runs are about: orders, users, by type and the beginning of the id. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { base } from "../api/client";
import { heroesQuery } from "../api/heroes";
import { several } from "../look/numbers";
import { stateOf } from "../look/status";
import { Button } from "../parts/button";
import { TextField } from "../parts/field";
import { PageFrame } from "../parts/page";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import table from "../parts/table.module.css";
import { Time } from "../parts/time";
import { usePlace } from "../shell/place";
import styles from "./heroes.module.css";

export default function Heroes() {
  const place = usePlace();
  const type = place.get("type");
  const prefix = place.get("prefix");
  const heroes = useInfiniteQuery(heroesQuery({ ...(type && { type }), ...(prefix && { prefix }) }));
  const { data, error, refetch } = heroes;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <PageFrame
      title="About"
      actions={
        <div className={styles["find"]}>
          <TextField bare label="Type" placeholder="Type, as order" defaultValue={type} onChange={(event) => place.set({ type: event.currentTarget.value.trim() }, { replace: true })} />
          <TextField bare label="Id begins with" placeholder="Id begins with" defaultValue={prefix} onChange={(event) => place.set({ prefix: event.currentTarget.value.trim() }, { replace: true })} />
        </div>
      }
    >
      {isLost(error, data) ? (
        <Failure error={error} what="What runs are about could not be listed" onRetry={() => void refetch()} />
      ) : !data ? (
        <Waiting what="The list is loading" />
      ) : rows.length === 0 ? (
        <Empty title={type || prefix ? "Nothing matches" : "No run is about anything yet"}>
          <Snippet label="Start one that is">{`curl -X POST '${base}api/v1/workflows/hello/trigger?hero=order:8841' -d '{}'`}</Snippet>
        </Empty>
      ) : (
        <>
          <table className={table["table"]}>
            <thead>
              <tr>
                <th>About</th>
                <th>Runs</th>
                <th>Last run</th>
                <th>When</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((one) => (
                <tr key={`${one.type}:${one.id}`}>
                  <td>
                    <Link href={`/heroes/${encodeURIComponent(one.type)}/${encodeURIComponent(one.id)}`}>
                      {one.type} {one.id}
                    </Link>
                  </td>
                  <td className={table["soft"]}>{several(one.runs, "run")}</td>
                  <td>
                    <Status of={stateOf(one.last_run)} quiet /> <span className={table["soft"]}>{one.last_run.workflow}</span>
                  </td>
                  <td className={table["soft"]}>
                    <Time at={one.last_run.started_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {heroes.hasNextPage && (
            <p className={styles["more"]}>
              <Button disabled={heroes.isFetching} onClick={() => void heroes.fetchNextPage()}>
                Show more
              </Button>
            </p>
          )}
        </>
      )}
    </PageFrame>
  );
}
