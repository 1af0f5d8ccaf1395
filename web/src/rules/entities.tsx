/** The entities: kinds of records of other applications that rules watch. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { lazy, Suspense } from "react";
import { Link } from "wouter";
import { base } from "../api/client";
import { entitiesQuery, type Entity } from "../api/rules";
import { several } from "../look/numbers";
import { Allowed } from "../parts/allowed";
import { Button } from "../parts/button";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { schemaRows } from "../parts/schema/rows";
import table from "../parts/table.module.css";
import { Time } from "../parts/time";
import { useKeys } from "../shell/keys";
import { usePlace } from "../shell/place";
import { Section } from "./section";
import { entityPlace } from "./words";
import styles from "./entities.module.css";

const EntityDialog = lazy(() => import("./entity_dialog"));

export default function Entities() {
  const place = usePlace();
  const pages = useInfiniteQuery(entitiesQuery());
  const { data, error, refetch } = pages;
  useKeys("Entities", [{ key: "n", says: "Add an entity", run: () => place.set({ do: "new" }) }]);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const close = () => place.set({ do: null }, { replace: true });
  return (
    <Section
      tab="entities"
      actions={
        <Button needs="create_entity" onClick={() => place.set({ do: "new" })}>
          <Plus className="icon" aria-hidden />
          Add an entity…
        </Button>
      }
    >
      {isLost(error, data) ? (
        <Failure error={error} what="The entities could not be listed" onRetry={() => void refetch()} />
      ) : !data ? (
        <Waiting what="The entities are loading" />
      ) : rows.length === 0 ? (
        <Empty title="No entity yet">
          <p>An entity is a kind of records of your own application: orders, customers, tickets. Rules watch what happens to them.</p>
          <Snippet label="Register one">{`curl -X POST ${base}api/v1/entities \\
  -d '{"name": "order", "fields": {"type": "object", "properties": {"status": {"type": "string"}}}}'`}</Snippet>
        </Empty>
      ) : (
        <div className={styles["scroll"]} tabIndex={0}>
          <table className={`${table["table"]} ${styles["entities"]}`} aria-label="Entities">
            <thead>
              <tr>
                <th scope="col">Entity</th>
                <th scope="col">Fields</th>
                <th scope="col">Changed</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((one) => (
                <Row key={one.id} one={one} />
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
        </div>
      )}
      {place.get("do") === "new" && (
        <Allowed needs="create_entity" onClose={close}>
          <Suspense fallback={null}>
            <EntityDialog entity={null} onClose={close} />
          </Suspense>
        </Allowed>
      )}
    </Section>
  );
}

function Row({ one }: { one: Entity }) {
  const fields = schemaRows(one.fields).filter((row) => row.depth === 0);
  return (
    <tr>
      <td>
        <Link href={entityPlace(one.name)}>{one.name}</Link>
        {one.title !== one.name && <small>{one.title}</small>}
      </td>
      <td className={table["soft"]}>
        {one.fields === null ? (
          "not known: any field may be used"
        ) : (
          <span title={fields.map((row) => row.path).join(", ")}>
            {several(fields.length, "field")}
            <code>{fields.slice(0, 6).map((row) => row.path).join(", ") + (fields.length > 6 ? ", …" : "")}</code>
          </span>
        )}
      </td>
      <td className={table["soft"]}>
        <Time at={one.updated_date} />
      </td>
    </tr>
  );
}
