/** The actions of all connectors, narrowed by what the URL says. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { memo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { type Action, type ActionFacets, type ActionFilter, actionsQuery, facetsQuery } from "../api/catalog";
import { count } from "../look/numbers";
import { SelectField } from "../parts/field";
import { List, type ListHandle } from "../parts/list/list";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { useKeys } from "../shell/keys";
import { useNarrow } from "../shell/narrow";
import { usePlace } from "../shell/place";
import styles from "./catalog.module.css";
import { actionPlace, effectOf, stateOfAction } from "./words";

/** `only` shows the actions of one connector. */
export function Actions({ only = "" }: { only?: string }) {
  const place = usePlace();
  const filter: ActionFilter = {
    connector: only || place.get("connector"),
    category: place.get("category"),
    tag: place.get("tag"),
    search: place.get("search"),
  };
  const box = useRef<HTMLInputElement>(null);
  useKeys("Actions", [{ key: "/", says: "Find an action", run: () => box.current?.focus() }]);
  const facets = useQuery(facetsQuery());
  const pages = useInfiniteQuery(actionsQuery(filter));
  const { data, error, refetch } = pages;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const isFiltered = filter.category + filter.tag + filter.search + (only ? "" : filter.connector) !== "";
  return (
    <div className={styles["tab"]}>
      <div className={styles["filters"]} role="search">
        <label className={styles["find"]}>
          <Search className="icon" aria-hidden />
          <input
            ref={box}
            type="search"
            placeholder="Find by name, text or tag"
            aria-label="Find an action by name, text or tag"
            defaultValue={filter.search}
            onChange={(event) => place.set({ search: event.currentTarget.value.trim() }, { replace: true })}
          />
          <kbd>/</kbd>
        </label>
        {!only && <Choice name="connector" word="Connector" all="All connectors" values={facets.data?.connectors} />}
        {!only && <Choice name="category" word="Category" all="All categories" values={facets.data?.categories} />}
        {!only && <Choice name="tag" word="Tag" all="All tags" values={facets.data?.tags} />}
      </div>
      {isLost(error, data) ? (
        <Failure error={error} what="The actions could not be listed" onRetry={() => void refetch()} />
      ) : !data ? (
        <Waiting what="The actions are loading" />
      ) : rows.length === 0 ? (
        <Nothing isFiltered={isFiltered} clear={place.with({ connector: null, category: null, tag: null, search: null })} />
      ) : (
        <Rows rows={rows} only={only} onEnd={() => pages.hasNextPage && !pages.isFetching && void pages.fetchNextPage()} />
      )}
    </div>
  );
}

function Choice({ name, word, all, values }: { name: string; word: string; all: string; values: ActionFacets["tags"] | undefined }) {
  const place = usePlace();
  const chosen = place.get(name);
  const isUnknown = chosen !== "" && !values?.some((one) => one.value === chosen);
  if (values?.length === 0 && !isUnknown) return null;
  return (
    <SelectField bare label={word} value={chosen} onChange={(event) => place.set({ [name]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {isUnknown && <option value={chosen}>{chosen}</option>}
      {values?.map((one) => (
        <option key={one.value} value={one.value}>
          {one.value} ({count(one.count)})
        </option>
      ))}
    </SelectField>
  );
}

function Nothing({ isFiltered, clear }: { isFiltered: boolean; clear: string }) {
  if (isFiltered) {
    return (
      <Empty title="No action matches">
        <p>
          <Link href={clear} className={styles["link"] ?? ""}>
            Show all actions
          </Link>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No action yet">
      <p>A node stores the connectors that Detent ships when it starts.</p>
      <Snippet label="Add one from an OpenAPI document">detent connectors add openapi https://crm.example.com/openapi.json --name crm</Snippet>
    </Empty>
  );
}

function Rows({ rows, only, onEnd }: { rows: Action[]; only: string; onEnd: () => void }) {
  const [, go] = useLocation();
  const [at, setAt] = useState(-1);
  const list = useRef<ListHandle>(null);
  const row = useNarrow() ? 62 : 52;
  const move = (step: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at + step));
    setAt(next);
    list.current?.reveal(next);
  };
  useKeys("Actions", [
    { key: "j", says: "Next action", run: () => move(1) },
    { key: "k", says: "Previous action", run: () => move(-1) },
    { key: "Enter", says: "Open the action", run: () => (rows[at] ? go(actionPlace(rows[at].id)) : false) },
  ]);
  return (
    <div className={styles["table"]} role="table" aria-label="Actions">
      <div role="rowgroup" className={styles["heads"]}>
        <div role="row" className={styles["row"]}>
          <span role="columnheader">Action</span>
          <span role="columnheader">State</span>
          <span role="columnheader">{only ? "Tags" : "Category"}</span>
          <span role="columnheader">Repeated attempt</span>
          <span role="columnheader">Version</span>
        </div>
      </div>
      <List
        handle={list}
        role="rowgroup"
        label="Actions"
        count={rows.length}
        row={row}
        onEnd={onEnd}
        render={(i) => {
          const one = rows[i];
          return one && <Row key={one.id} one={one} only={only} isAt={i === at} />;
        }}
      />
    </div>
  );
}

const Row = memo(function Row({ one, only, isAt }: { one: Action; only: string; isAt: boolean }) {
  const effect = effectOf(one);
  return (
    <div role="row" className={[styles["row"], styles["body"], isAt && styles["at"]].filter(Boolean).join(" ")}>
      <span role="cell" className={styles["name"]}>
        <Link href={actionPlace(one.id)}>{one.id}</Link>
        <small title={one.description}>{[one.display_name, one.description].filter(Boolean).join(": ")}</small>
      </span>
      <span role="cell" className={styles["state"]}>
        <Status of={stateOfAction(one)} quiet />
      </span>
      <span role="cell" className={styles["soft"]}>
        {only ? one.tags.join(", ") : one.category}
      </span>
      <span role="cell" className={effect.isSafe ? styles["soft"] : styles["unsafe"]} title={effect.says}>
        {effect.word}
      </span>
      <span role="cell" className={styles["soft"]}>
        {one.version}
      </span>
    </div>
  );
});
