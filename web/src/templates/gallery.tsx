/** The gallery of workflow templates: a card each, by category. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { type Template, templatesQuery } from "../api/templates";
import { base } from "../api/client";
import { Button } from "../parts/button";
import { SelectField, TextField } from "../parts/field";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { usePlace } from "../shell/place";
import styles from "./templates.module.css";

export function Gallery() {
  const place = usePlace();
  const search = place.get("search");
  const category = place.get("category");
  const pages = useInfiniteQuery(templatesQuery(search));
  const { data, error, refetch } = pages;
  const all = data?.pages.flatMap((page) => page.data) ?? [];
  const categories = [...new Set(all.map((one) => one.category))].sort();
  const rows = all.filter((one) => category === "" || one.category === category);
  return (
    <div className={styles["scroll"]}>
      <div className={styles["filters"]}>
        <TextField bare label="Find a template" placeholder="Find a template" type="search" defaultValue={search} onChange={(event) => place.set({ search: event.currentTarget.value.trim() }, { replace: true })} />
        <SelectField bare label="Category" value={category} onChange={(event) => place.set({ category: event.currentTarget.value })}>
          <option value="">All categories</option>
          {[...new Set([...categories, ...(category ? [category] : [])])].map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </SelectField>
      </div>
      {isLost(error, data) ? (
        <Failure error={error} what="The templates could not be listed" onRetry={() => void refetch()} />
      ) : !data ? (
        <Waiting what="The templates are loading" />
      ) : rows.length === 0 ? (
        <Nothing isFiltered={search + category !== ""} />
      ) : (
        <ul className={styles["cards"]}>
          {rows.map((one) => (
            <Card key={one.id} template={one} />
          ))}
        </ul>
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

function Card({ template }: { template: Template }) {
  return (
    <li>
      <Link href={`/templates/${encodeURIComponent(template.id)}`} className={styles["card"] ?? ""}>
        <b>{template.title}</b>
        <span>{template.description}</span>
        <small>
          <i>{template.category}</i>
          {template.tags.map((tag) => (
            <i key={tag}>{tag}</i>
          ))}
          {!template.is_official && <em>your own</em>}
        </small>
      </Link>
    </li>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No template matches" />;
  return (
    <Empty title="No template yet">
      <Snippet label="Make one of your own">{`curl -X POST ${base}api/v1/templates/workflows -d '{"id": "greet", "title": "Greet a team", "config_schema": {"type": "object", "properties": {"team": {"type": "string"}}}, "definition": {"tasks": {"greet": {"action": "core.echo", "with": {"text": "Hello, \${config.team}"}}}}}'`}</Snippet>
    </Empty>
  );
}
