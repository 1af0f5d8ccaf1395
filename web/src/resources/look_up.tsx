/** Looks resources of other systems up: which run made this item, this message, this page? */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { type FormEvent, useState } from "react";
import { resourcesQuery, type ResourceFilter } from "../api/resources";
import { Button } from "../parts/button";
import { TextField } from "../parts/field";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { usePlace } from "../shell/place";
import { ResourceRows } from "./rows";
import styles from "./resources.module.css";

const PARTS = ["system", "type", "id"] as const;

export default function LookUp() {
  const place = usePlace();
  const filter: ResourceFilter = {};
  for (const name of PARTS) {
    const value = place.get(name);
    if (!value) break; // a type needs its system, and an id both
    filter[name] = value;
  }
  const pages = useInfiniteQuery(resourcesQuery(filter));
  const { data, error, refetch } = pages;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <div className={styles["tab"]}>
      <Form key={PARTS.map((name) => filter[name] ?? "").join("\n")} filter={filter} onFind={(found) => place.set({ system: found.system ?? null, type: found.type ?? null, id: found.id ?? null })} />
      {isLost(error, data) ? (
        <Failure error={error} what="The resources could not be listed" onRetry={() => void refetch()} />
      ) : !data ? (
        <Waiting what="The resources are loading" />
      ) : rows.length === 0 ? (
        <Empty title={filter.system ? "No run has it" : "No run has linked anything yet"}>
          <p>{filter.system ? "A run that made it may have been deleted when its time was over: links are deleted with their run." : "An action that creates something in another system says so, and it is found here."}</p>
          {!filter.system && <Snippet label="In an action">{`return Linked(item, [Link("monday", "item", item["id"])])`}</Snippet>}
        </Empty>
      ) : (
        <ResourceRows rows={rows} withRun />
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

function Form({ filter, onFind }: { filter: ResourceFilter; onFind: (filter: ResourceFilter) => void }) {
  const [text, setText] = useState<Record<string, string>>({ system: filter.system ?? "", type: filter.type ?? "", id: filter.id ?? "" });
  const send = (event: FormEvent) => {
    event.preventDefault();
    const found: ResourceFilter = {};
    for (const name of PARTS) {
      const value = text[name]?.trim();
      if (!value) break;
      found[name] = value;
    }
    onFind(found);
  };
  const field = (name: (typeof PARTS)[number], label: string, placeholder: string, disabled: boolean) => (
    <TextField label={label} placeholder={placeholder} value={text[name] ?? ""} disabled={disabled} onChange={(event) => setText({ ...text, [name]: event.currentTarget.value })} />
  );
  return (
    <form className={styles["filters"]} onSubmit={send} role="search">
      {field("system", "System", "monday", false)}
      {field("type", "Type", "item", text["system"]?.trim() === "")}
      {field("id", "Id", "17", text["type"]?.trim() === "" || text["system"]?.trim() === "")}
      <Button type="submit">
        <Search className="icon" aria-hidden />
        Find the run
      </Button>
    </form>
  );
}
