/** What rules want people to know: alerts by state and severity, one of them beside the list, acknowledge and resolve. */
import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowRight, Check, Eye, X } from "lucide-react";
import { memo, useRef } from "react";
import { Link } from "wouter";
import { isMissing } from "../api/client";
import type { Page } from "../api/documents";
import { useLive } from "../api/live";
import { type Alert, type AlertFilter, alertQuery, alertsQuery, type AlertVerb, changeAlert } from "../api/rules";
import { useMay } from "../api/session";
import { useActing } from "../parts/act";
import { Button } from "../parts/button";
import { Chip } from "../parts/chip";
import { SelectField } from "../parts/field";
import { JsonBox } from "../parts/json/box";
import { List, type ListHandle } from "../parts/list/list";
import { Notice } from "../parts/notice";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { useKeys } from "../shell/keys";
import { useNarrow } from "../shell/narrow";
import { usePlace } from "../shell/place";
import { Section } from "./section";
import { rulePlace } from "./words";
import list from "./rules.module.css";
import styles from "./page.module.css";

const STATES: [string, string][] = [
  ["open", "Open"],
  ["acknowledged", "Acknowledged"],
  ["resolved", "Resolved"],
  ["all", "All"],
];
const SEVERITIES: [string, string][] = [
  ["critical", "Critical"],
  ["high", "High"],
  ["medium", "Medium"],
  ["low", "Low"],
];

export default function Alerts() {
  const place = usePlace();
  // Those that wait for a person come first; the URL says so only where it is another choice.
  const status = place.get("status") || "open";
  const filter: AlertFilter = {};
  if (status !== "all") filter.status = status;
  for (const name of ["severity", "rule", "run"] as const) if (place.get(name)) filter[name] = place.get(name);
  const pages = useInfiniteQuery(alertsQuery(filter));
  useNewAlerts();
  const { data, error, refetch } = pages;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const chosen = place.get("alert");
  return (
    <Section tab="alerts">
      <div className={list["tab"]}>
        <div className={`${list["filters"]} ${chosen ? list["covered"] : ""}`}>
          <nav className={styles["states"]} aria-label="State">
            {STATES.map(([name, word]) => (
              <Link key={name} href={place.with({ status: name === "open" ? null : name, alert: null })} aria-current={name === status ? "true" : undefined}>
                {word}
              </Link>
            ))}
          </nav>
          <SelectField bare label="Severity" value={filter.severity ?? ""} onChange={(event) => place.set({ severity: event.currentTarget.value, alert: null })}>
            <option value="">All severities</option>
            {SEVERITIES.map(([name, word]) => (
              <option key={name} value={name}>
                {word}
              </option>
            ))}
          </SelectField>
          {filter.rule && <Chip name="rule" value={filter.rule} onRemove={() => place.set({ rule: null, alert: null })} />}
          {filter.run && <Chip name="run" value={`…${filter.run.slice(-6)}`} onRemove={() => place.set({ run: null, alert: null })} />}
        </div>
        {isLost(error, data) ? (
          <Failure error={error} what="The alerts could not be listed" onRetry={() => void refetch()} />
        ) : !data ? (
          <Waiting what="The alerts are loading" />
        ) : rows.length === 0 && !chosen ? (
          <Nothing isFiltered={Object.keys(filter).length > (filter.status === "open" ? 1 : 0)} all={place.with({ status: "all", severity: null, rule: null, run: null })} />
        ) : (
          <div className={`${styles["panes"]} ${styles["ruled"]} ${chosen ? styles["open"] : ""}`}>
            <Rows rows={rows} chosen={chosen} onEnd={() => pages.hasNextPage && !pages.isFetching && void pages.fetchNextPage()} />
            {chosen && <Detail key={chosen} id={chosen} />}
          </div>
        )}
      </div>
    </Section>
  );
}

/** Shows alerts as they are raised. What a person has just settled stays where it is until there is a new one. */
function useNewAlerts(): void {
  const queries = useQueryClient();
  const newest = useRef<unknown>(undefined);
  useLive("alerts", ({ event, data }) => {
    const isNew = event === "open" || data["newest"] !== newest.current;
    if (event !== "open") newest.current = data["newest"];
    void queries.invalidateQueries({ queryKey: isNew ? ["alerts"] : ["alerts", "open"] });
  });
}

function Nothing({ isFiltered, all }: { isFiltered: boolean; all: string }) {
  return (
    <Empty title={isFiltered ? "No alert matches" : "No open alert"}>
      <p>
        <Link href={all} className={styles["link"] ?? ""}>
          Show all alerts
        </Link>
      </p>
      {!isFiltered && <Snippet label="An action that raises one">{`{"name": "Tell the team", "action_type": "create_alert", "action_config":
  {"alert_type": "late", "severity": "high", "title": "Order {{id}} is late", "message": "Call the customer"}}`}</Snippet>}
    </Empty>
  );
}

/** Do something about an alert, and show it in every list at once. */
function useChanged() {
  const queries = useQueryClient();
  const acting = useActing();
  const change = async (alert: Alert, verb: AlertVerb) => {
    let changed: Alert | undefined;
    const went = await acting.run(async () => {
      changed = await changeAlert(alert.id, verb);
    });
    if (!went || !changed) return;
    const now = changed;
    queries.setQueryData(alertQuery(alert.id).queryKey, now);
    // It stays where it is until the list is opened again: what a person reads does not move.
    queries.setQueriesData<InfiniteData<Page<Alert>>>({ queryKey: ["alerts", "list"] }, (old) =>
      old && { ...old, pages: old.pages.map((page) => ({ ...page, data: page.data.map((one) => (one.id === now.id ? now : one)) })) },
    );
    void queries.invalidateQueries({ queryKey: ["alerts", "open"] });
    toast(verb === "resolve" ? "Resolved" : "Acknowledged");
  };
  return { acting, change };
}

function Rows({ rows, chosen, onEnd }: { rows: Alert[]; chosen: string; onEnd: () => void }) {
  const place = usePlace();
  const handle = useRef<ListHandle>(null);
  const row = useNarrow() ? 66 : 44;
  const at = rows.findIndex((one) => one.id === chosen);
  const move = (step: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (!next) return;
    place.set({ alert: next.id }, { replace: chosen !== "" });
    handle.current?.reveal(rows.indexOf(next));
  };
  useKeys("Alerts", [
    { key: "j", says: "Next alert", run: () => move(1) },
    { key: "k", says: "Previous alert", run: () => move(-1) },
    { key: "Escape", says: "Close the alert", run: () => (chosen ? place.set({ alert: null }, { replace: true }) : false) },
  ]);
  return (
    <div className={styles["left"]}>
      <List
        handle={handle}
        label="Alerts"
        count={rows.length}
        row={row}
        onEnd={onEnd}
        render={(i) => {
          const one = rows[i];
          return one && <Row key={one.id} alert={one} to={place.with({ alert: one.id })} isAt={one.id === chosen} />;
        }}
      />
    </div>
  );
}

const Row = memo(function Row({ alert, to, isAt }: { alert: Alert; to: string; isAt: boolean }) {
  const isOver = alert.status === "resolved";
  return (
    <Link href={to} role="listitem" className={[styles["row"], styles["alert"], isAt && styles["at"], isOver && styles["over"]].filter(Boolean).join(" ")} aria-current={isAt ? "true" : undefined}>
      <Status of={alert.severity} />
      <span className={styles["title"]}>
        <b>{alert.title || alert.alert_type}</b>
        <i>{alert.rule_name ?? alert.rule}</i>
      </span>
      <Status of={stateOfAlert(alert)} quiet />
      <Time at={alert.created_date} />
    </Link>
  );
});

/** The state of an alert, as `look/status` knows it. */
function stateOfAlert({ status }: Alert): string {
  return status === "open" ? "raised" : status;
}

function Detail({ id }: { id: string }) {
  const place = usePlace();
  const { acting, change } = useChanged();
  const { data: alert, error } = useQuery(alertQuery(id));
  const may = useMay()("resolve_alert");
  useKeys("Alert", [
    { key: "a", says: "Acknowledge the alert", run: () => (may && alert?.status === "open" ? void change(alert, "acknowledge") : false) },
    { key: "r", says: "Resolve the alert", run: () => (may && alert && alert.status !== "resolved" ? void change(alert, "resolve") : false) },
  ]);
  return (
    <aside className={styles["detail"]} aria-label="Alert">
      <header>
        {alert && <Status of={alert.severity} pill />}
        <h2>{alert ? alert.title || alert.alert_type : ""}</h2>
        <Button kind="ghost" square aria-label="Close the alert" onClick={() => place.set({ alert: null }, { replace: true })}>
          <X className="icon" aria-hidden />
        </Button>
      </header>
      {error && <Notice tone="fail">{isMissing(error) ? "There is no such alert any more." : "The alert could not be read."}</Notice>}
      {!alert && !error && <Waiting what="The alert is loading" />}
      {alert && (
        <>
          {alert.message && <p className={styles["says"]}>{alert.message}</p>}
          {alert.status !== "resolved" && (
            <div className={styles["buttons"]}>
              {alert.status === "open" && (
                <Button needs="acknowledge_alert" disabled={acting.busy} onClick={() => void change(alert, "acknowledge")}>
                  <Eye className="icon" aria-hidden />
                  Acknowledge it
                </Button>
              )}
              <Button kind="primary" needs="resolve_alert" disabled={acting.busy} onClick={() => void change(alert, "resolve")}>
                <Check className="icon" aria-hidden />
                Resolve it
              </Button>
            </div>
          )}
          {acting.error && <Notice tone="fail">{acting.error}</Notice>}
          <AlertFacts alert={alert} />
          {alert.context && Object.keys(alert.context).length > 0 && (
            <>
              <h3>Context</h3>
              <JsonBox value={alert.context} label="Context" />
            </>
          )}
        </>
      )}
    </aside>
  );
}

function AlertFacts({ alert }: { alert: Alert }) {
  return (
    <dl>
      <dt>State</dt>
      <dd>
        <Status of={stateOfAlert(alert)} quiet />
      </dd>
      <dt>Rule</dt>
      <dd>
        <Link href={rulePlace(alert.rule)}>
          {alert.rule_name ?? alert.rule}
          <ArrowRight className="icon small" aria-hidden />
        </Link>
      </dd>
      <dt>Run</dt>
      <dd>
        <Link href={`/runs/${alert.run_id}?step=${encodeURIComponent(alert.step)}`}>
          <code>…{alert.run_id.slice(-6)}</code> {alert.step}
          <ArrowRight className="icon small" aria-hidden />
        </Link>
      </dd>
      <dt>Type</dt>
      <dd>
        <code>{alert.alert_type}</code>
      </dd>
      <dt>Raised</dt>
      <dd>
        <Time at={alert.created_date} />
      </dd>
      {alert.acknowledged_date && (
        <>
          <dt>Seen</dt>
          <dd>
            <Time at={alert.acknowledged_date} />
            {alert.acknowledged_by && ` by ${alert.acknowledged_by}`}
          </dd>
        </>
      )}
      {alert.resolved_date && (
        <>
          <dt>Resolved</dt>
          <dd>
            <Time at={alert.resolved_date} />
            {alert.resolved_by && ` by ${alert.resolved_by}`}
          </dd>
        </>
      )}
    </dl>
  );
}
