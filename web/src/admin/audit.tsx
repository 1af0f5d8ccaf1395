/** Who did what: filters, the list, one row with its details, and all of it as a file. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Download, X } from "lucide-react";
import { memo, useRef, useState } from "react";
import { Link } from "wouter";
import { type AuditEntry, type AuditFilter, auditExport, auditQuery } from "../api/admin";
import { Button } from "../parts/button";
import { CopyButton } from "../parts/copy";
import { SelectField, TextField } from "../parts/field";
import { JsonBox } from "../parts/json/box";
import { List, type ListHandle } from "../parts/list/list";
import { Empty, Failure, isLost, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { useKeys } from "../shell/keys";
import { useNarrow } from "../shell/narrow";
import { usePlace } from "../shell/place";
import styles from "./audit.module.css";
import { doneWords, placeOf } from "./audit_words";

const FIELDS = ["actor", "action", "kind", "object", "outcome"] as const;

export default function Audit() {
  const place = usePlace();
  const filter: AuditFilter = {};
  for (const name of FIELDS) if (place.get(name)) filter[name] = place.get(name);
  const pages = useInfiniteQuery(auditQuery(filter));
  const { data, error, refetch } = pages;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const chosen = rows.find((one) => one.id === place.get("row"));
  return (
    <div className={styles["tab"]}>
      <div className={styles["filters"]}>
        <SelectField bare label="Outcome" value={filter.outcome ?? ""} onChange={(event) => place.set({ outcome: event.currentTarget.value || null, row: null })}>
          <option value="">All outcomes</option>
          <option value="done">Done</option>
          <option value="refused">Refused</option>
          <option value="failed">Failed</option>
        </SelectField>
        <WordField key={`actor ${filter.actor ?? ""}`} name="actor" label="Who" example="Who, as key ci" />
        <WordField key={`action ${filter.action ?? ""}`} name="action" label="Operation" example="Operation" />
        <WordField key={`object ${filter.object ?? ""}`} name="object" label="Object" example="Object" />
        <a className={styles["export"]} href={auditExport(filter)} download="audit.jsonl">
          <Download className="icon" aria-hidden />
          Export
        </a>
      </div>
      {isLost(error, data) ? (
        <Failure error={error} what="The audit could not be read" onRetry={() => void refetch()} />
      ) : !data ? (
        <Waiting what="The audit is loading" />
      ) : rows.length === 0 ? (
        <Empty title={Object.keys(filter).length > 0 ? "Nothing in the audit matches" : "Nothing was changed yet"}>
          <p>Saves, steering of runs, keys, people, secrets and what was refused are here. Starts are not: each run says who asked for it.</p>
        </Empty>
      ) : (
        <div className={`${styles["panes"]} ${chosen ? styles["open"] : ""}`}>
          <Rows rows={rows} chosen={chosen?.id ?? ""} onEnd={() => pages.hasNextPage && !pages.isFetching && void pages.fetchNextPage()} />
          {chosen && <Detail key={chosen.id} entry={chosen} />}
        </div>
      )}
    </div>
  );
}

function WordField({ name, label, example }: { name: (typeof FIELDS)[number]; label: string; example: string }) {
  const place = usePlace();
  const [text, setText] = useState(place.get(name));
  const search = () => text.trim() !== place.get(name) && place.set({ [name]: text.trim() || null, row: null });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        search();
      }}
    >
      <TextField bare label={label} placeholder={example} spellCheck={false} value={text} onBlur={search} onChange={(event) => setText(event.currentTarget.value)} />
    </form>
  );
}

function Rows({ rows, chosen, onEnd }: { rows: AuditEntry[]; chosen: string; onEnd: () => void }) {
  const place = usePlace();
  const list = useRef<ListHandle>(null);
  const row = useNarrow() ? 58 : 36;
  const at = rows.findIndex((one) => one.id === chosen);
  const move = (step: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (!next) return;
    place.set({ row: next.id }, { replace: chosen !== "" });
    list.current?.reveal(rows.indexOf(next));
  };
  useKeys("Audit", [
    { key: "j", says: "Next row", run: () => move(1) },
    { key: "k", says: "Previous row", run: () => move(-1) },
    { key: "Escape", says: "Close the row", run: () => (chosen ? place.set({ row: null }, { replace: true }) : false) },
  ]);
  return (
    <div className={styles["left"]}>
      <div className={`${styles["row"]} ${styles["heads"]}`} aria-hidden>
        <span>When</span>
        <span>Who</span>
        <span>Did what</span>
        <span>Object</span>
        <span>Outcome</span>
      </div>
      <List
        handle={list}
        label="Audit"
        count={rows.length}
        row={row}
        onEnd={onEnd}
        render={(i) => {
          const one = rows[i];
          return one && <Row key={one.id} entry={one} to={place.with({ row: one.id })} isAt={one.id === chosen} />;
        }}
      />
    </div>
  );
}

const Row = memo(function Row({ entry, to, isAt }: { entry: AuditEntry; to: string; isAt: boolean }) {
  return (
    <Link href={to} role="listitem" className={`${styles["row"]} ${isAt ? styles["at"] : ""}`} aria-current={isAt ? "true" : undefined}>
      <Time at={entry.at} />
      <b>{entry.actor}</b>
      <span>{doneWords(entry.action)}</span>
      <span className={styles["object"]}>{entry.object}</span>
      <Status of={entry.outcome} quiet />
    </Link>
  );
});

function Detail({ entry }: { entry: AuditEntry }) {
  const place = usePlace();
  const object = placeOf(entry.kind, entry.object);
  const only = (name: (typeof FIELDS)[number], value: string) => <Link href={place.with({ [name]: value, row: null })}>{value}</Link>;
  return (
    <aside className={styles["detail"]} aria-label="Row of the audit">
      <header>
        <Status of={entry.outcome} pill />
        <h2>{doneWords(entry.action)}</h2>
        <Button kind="ghost" square aria-label="Close the row" onClick={() => place.set({ row: null }, { replace: true })}>
          <X className="icon" aria-hidden />
        </Button>
      </header>
      {entry.reason && <p className={styles["why"]}>{entry.reason}</p>}
      <dl>
        <dt>When</dt>
        <dd>
          <Time at={entry.at} />
        </dd>
        <dt>Who</dt>
        <dd>
          {only("actor", entry.actor)} <span className={styles["soft"]}>by {entry.via}</span>
        </dd>
        <dt>Operation</dt>
        <dd>
          <code>{only("action", entry.action)}</code>
        </dd>
        {entry.object && (
          <>
            <dt>Object</dt>
            <dd>
              <span className={styles["soft"]}>{entry.kind}</span> {object ? <Link href={object}>{entry.object}</Link> : entry.object}
              <CopyButton text={entry.object} what="the object" />
            </dd>
          </>
        )}
        {entry.address && (
          <>
            <dt>From</dt>
            <dd>{entry.address}</dd>
          </>
        )}
        {entry.correlation_id && (
          <>
            <dt>Correlation</dt>
            <dd>{entry.correlation_id}</dd>
          </>
        )}
        <dt>Tenant</dt>
        <dd>{entry.tenant}</dd>
      </dl>
      {entry.detail && <JsonBox value={entry.detail} label="Details" />}
    </aside>
  );
}
