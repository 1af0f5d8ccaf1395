/** One entity: the fields of its records, what happened to them lately, and the rules that watch them. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Pencil, Trash2, X } from "lucide-react";
import { lazy, memo, Suspense, useRef } from "react";
import { Link, useLocation } from "wouter";
import { base, isMissing } from "../api/client";
import { deleteEntity, type Entity, type EntityEvent, entityEventsQuery, entityQuery } from "../api/rules";
import { useTitle } from "../api/session";
import { ActDialog, useActing } from "../parts/act";
import { Allowed } from "../parts/allowed";
import { Button } from "../parts/button";
import { CopyButton } from "../parts/copy";
import { Crumbs } from "../parts/crumbs";
import { List, type ListHandle } from "../parts/list/list";
import { SchemaTable } from "../parts/schema/table";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { TabLinks } from "../parts/tabs";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { useKeys } from "../shell/keys";
import { useNarrow } from "../shell/narrow";
import { usePlace } from "../shell/place";
import page from "../workflows/page.module.css";
import { RuleTable } from "./list";
import { Changes } from "./parts";
import { changeWords, entityPlace, happenedOf, valueText } from "./words";
import entities from "./entities.module.css";
import styles from "./page.module.css";

const EntityDialog = lazy(() => import("./entity_dialog"));

export default function EntityPage({ params }: { params: Record<string, string | undefined> }) {
  const name = params["entity"] ?? "";
  useTitle(name);
  const { data, error, refetch } = useQuery(entityQuery(name));
  if (error && isMissing(error)) {
    return (
      <Empty title="There is no such entity">
        <p>
          No entity has the name <code>{name}</code>.{" "}
          <Link href="/entities" className={styles["link"] ?? ""}>
            Show all entities
          </Link>
        </p>
      </Empty>
    );
  }
  if (isLost(error, data)) return <Failure error={error} what="The entity could not be shown" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The entity is loading" />;
  return <Found key={data.id} entity={data} tab={params["tab"] ?? "fields"} />;
}

function Found({ entity, tab }: { entity: Entity; tab: string }) {
  const place = usePlace();
  const close = () => place.set({ do: null }, { replace: true });
  const tabOf = (name: string, word: string) => ({ name, word, to: entityPlace(entity.name, name === "fields" ? "" : name) });
  return (
    <div className={page["page"]}>
      <header className={page["header"]}>
        <Crumbs way={[["Rules", "/rules"], ["Entities", "/entities"]]}>
          <code>{entity.name}</code>
        </Crumbs>
        <div className={page["line"]}>
          <h1>{entity.title}</h1>
          <div className={styles["verbs"]} role="group" aria-label="What can be done">
            <Button needs="change_entity" onClick={() => place.set({ do: "edit" })}>
              <Pencil className="icon" aria-hidden />
              Edit…
            </Button>
            <Button square needs="delete_entity" aria-label="Delete the entity…" onClick={() => place.set({ do: "delete" })}>
              <Trash2 className="icon" aria-hidden />
            </Button>
          </div>
        </div>
        <div className={page["below"]}>
          <TabLinks tabs={[tabOf("fields", "Fields"), tabOf("events", "Events"), tabOf("rules", "Rules")]} current={tab} label="Views of this entity" />
        </div>
      </header>
      {tab === "events" ? (
        <Events entity={entity.name} />
      ) : tab === "rules" ? (
        <RuleTable filter={{ entity: entity.name }} clear={null} />
      ) : (
        <div className={entities["fields"]} tabIndex={0}>
          <SchemaTable title="Fields of a record" schema={entity.fields} empty={entity.fields === null ? "They are not known: rules may use any field. With a JSON Schema, a rule that reads another field is refused." : "The schema names none."} />
        </div>
      )}
      {place.get("do") === "edit" && (
        <Allowed needs="change_entity" onClose={close}>
          <Suspense fallback={null}>
            <EntityDialog entity={entity} onClose={close} />
          </Suspense>
        </Allowed>
      )}
      {place.get("do") === "delete" && (
        <Allowed needs="delete_entity" onClose={close}>
          <Delete entity={entity.name} onClose={close} />
        </Allowed>
      )}
    </div>
  );
}

function Delete({ entity, onClose }: { entity: string; onClose: () => void }) {
  const acting = useActing();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const remove = async () => {
    if (!(await acting.run(() => deleteEntity(entity)))) return;
    toast(`Deleted: ${entity}`);
    go("/entities", { replace: true });
    void queries.invalidateQueries({ queryKey: ["entities"] });
  };
  return (
    <ActDialog danger title="Delete this entity?" word="Delete it" acting={acting} onClose={onClose} onDo={() => void remove()}>
      <p>Events of {entity} are refused from then on. An entity that has rules cannot be deleted.</p>
    </ActDialog>
  );
}

function Events({ entity }: { entity: string }) {
  const place = usePlace();
  const { data, error, refetch } = useQuery(entityEventsQuery(entity));
  if (isLost(error, data)) return <Failure error={error} what="The events could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The events are loading" />;
  if (data.length === 0) {
    return (
      <Empty title={`No event of ${entity} yet`}>
        <Snippet label="Send one">{`curl -X POST ${base}api/v1/events/entity \\
  -d '{"entity": "${entity}", "operation": "create", "id": "17", "after": {"status": "new"}}'`}</Snippet>
      </Empty>
    );
  }
  const chosen = data.find((one) => one.id === place.get("event"));
  return (
    <div className={`${styles["panes"]} ${styles["sheet"]} ${chosen ? styles["open"] : ""}`}>
      <Rows rows={data} chosen={chosen} />
      {chosen && <Detail event={chosen} onClose={() => place.set({ event: null }, { replace: true })} />}
    </div>
  );
}

function Rows({ rows, chosen }: { rows: EntityEvent[]; chosen: EntityEvent | undefined }) {
  const place = usePlace();
  const list = useRef<ListHandle>(null);
  const row = useNarrow() ? 58 : 40;
  const at = chosen ? rows.indexOf(chosen) : -1;
  const move = (step: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (!next) return;
    place.set({ event: next.id }, { replace: chosen !== undefined });
    list.current?.reveal(rows.indexOf(next));
  };
  useKeys("Events", [
    { key: "j", says: "Next event", run: () => move(1) },
    { key: "k", says: "Previous event", run: () => move(-1) },
    { key: "Escape", says: "Close the event", run: () => (chosen ? place.set({ event: null }, { replace: true }) : false) },
  ]);
  return (
    <div className={styles["left"]}>
      <List
        handle={list}
        label="Last events"
        count={rows.length}
        row={row}
        render={(i) => {
          const one = rows[i];
          return one && <Row key={one.id} event={one} to={place.with({ event: one.id })} isAt={one === chosen} />;
        }}
      />
    </div>
  );
}

const Row = memo(function Row({ event, to, isAt }: { event: EntityEvent; to: string; isAt: boolean }) {
  return (
    <Link href={to} role="listitem" className={`${styles["row"]} ${styles["plain"]} ${isAt ? styles["at"] : ""}`} aria-current={isAt ? "true" : undefined}>
      <b>{happenedOf(event)}</b>
      <small>{changeWords(event.before, event.after)}</small>
      <Time at={event.received_at} />
    </Link>
  );
});

function Detail({ event, onClose }: { event: EntityEvent; onClose: () => void }) {
  return (
    <aside className={styles["detail"]} aria-label="Event">
      <header>
        <h2>{happenedOf(event)}</h2>
        <Button kind="ghost" square aria-label="Close the event" onClick={onClose}>
          <X className="icon" aria-hidden />
        </Button>
      </header>
      <dl>
        <dt>Received</dt>
        <dd>
          <Time at={event.received_at} />
        </dd>
        {event.actor != null && (
          <>
            <dt>By</dt>
            <dd>{typeof event.actor === "string" ? event.actor : valueText(event.actor)}</dd>
          </>
        )}
        <dt>Event</dt>
        <dd>
          <code>{event.id}</code>
          <CopyButton text={event.id} what="the id of the event" />
        </dd>
      </dl>
      <Changes before={event.before} after={event.after} />
    </aside>
  );
}
