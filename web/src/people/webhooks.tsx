/** What was received over all triggers, refused ones too. The chosen firing is in the URL, with its request and a replay. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowRight, ArrowUp, RotateCw, X } from "lucide-react";
import { memo, useRef } from "react";
import { Link } from "wouter";
import { base } from "../api/client";
import type { Trigger } from "../api/documents";
import { firingQuery, type Received, replayFiring } from "../api/triggers";
import { triggersQuery } from "../api/workflows";
import { count } from "../look/numbers";
import { lookOf, triggerOf } from "../look/status";
import { useActing } from "../parts/act";
import { Button } from "../parts/button";
import { Chip } from "../parts/chip";
import { SelectField } from "../parts/field";
import { JsonBox } from "../parts/json/box";
import { List, type ListHandle } from "../parts/list/list";
import { Notice } from "../parts/notice";
import { Said } from "../parts/said";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { useKeys } from "../shell/keys";
import { useNarrow } from "../shell/narrow";
import { usePlace } from "../shell/place";
import { useReceived } from "./use_received";
import styles from "./webhooks.module.css";

const TYPES = ["webhook", "cron", "event", "manual"];
const STATUSES = ["started", "ignored", "refused", "skipped", "errored", "missed", "queued", "due"];

export default function Webhooks() {
  const place = usePlace();
  const [trigger, type, status] = [place.get("trigger"), place.get("type"), place.get("status")];
  const received = useReceived({ trigger, type, status }, place.get("firing") !== "");
  const triggers = useQuery(triggersQuery());
  const { query: firings } = received;
  const { data, error, refetch } = firings;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const names = new Map((triggers.data ?? []).map((one) => [one.id, one]));
  const chosen = rows.find((one) => one.id === place.get("firing"));
  return (
    <div className={styles["tab"]}>
      <div className={styles["filters"]}>
        {trigger ? (
          <Chip name="trigger" value={names.get(trigger)?.name ?? names.get(trigger)?.workflow ?? trigger} onRemove={() => place.set({ trigger: null, firing: null })} />
        ) : (
          <SelectField bare label="Type" value={type} onChange={(event) => place.set({ type: event.currentTarget.value, firing: null })}>
            <option value="">All types</option>
            {TYPES.map((one) => (
              <option key={one} value={one}>
                {triggerOf(one).word}
              </option>
            ))}
          </SelectField>
        )}
        <SelectField bare label="Result" value={status} onChange={(event) => place.set({ status: event.currentTarget.value, firing: null })}>
          <option value="">All results</option>
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {lookOf(one).word}
            </option>
          ))}
        </SelectField>
      </div>
      {isLost(error, data) ? (
        <Failure error={error} what="What was received could not be listed" onRetry={() => void refetch()} />
      ) : !data ? (
        <Waiting what="What was received is loading" />
      ) : rows.length === 0 ? (
        <Nothing isFiltered={trigger + type + status !== ""} triggers={triggers.data ?? []} />
      ) : (
        <div className={`${styles["panes"]} ${chosen ? styles["open"] : ""}`}>
          <Rows
            rows={rows}
            names={names}
            chosen={chosen?.id ?? ""}
            waiting={received.waiting}
            onShowNew={received.showNew}
            onTop={received.onTop}
            onEnd={() => firings.hasNextPage && !firings.isFetching && void firings.fetchNextPage()}
          />
          {chosen && <Detail key={chosen.id} firing={chosen} trigger={names.get(chosen.trigger_id)} />}
        </div>
      )}
    </div>
  );
}

function Nothing({ isFiltered, triggers }: { isFiltered: boolean; triggers: readonly Trigger[] }) {
  const url = triggers.find((one) => one.url)?.url ?? `${base}webhook/workflow/trigger/hello`;
  return (
    <Empty title={isFiltered ? "Nothing matches" : "Nothing was received yet"}>
      {!isFiltered && <Snippet label="Send a request">{`curl -X POST ${url} -H 'Content-Type: application/json' -d '{"order_id": 8841}'`}</Snippet>}
    </Empty>
  );
}

interface RowsProps {
  rows: Received[];
  names: Map<string, Trigger>;
  chosen: string;
  /** So many wait above. */
  waiting: number;
  onShowNew: () => void;
  onTop: (atTop: boolean) => void;
  onEnd: () => void;
}

function Rows({ rows, names, chosen, waiting, onShowNew, onTop, onEnd }: RowsProps) {
  const place = usePlace();
  const list = useRef<ListHandle>(null);
  const row = useNarrow() ? 54 : 36;
  const at = rows.findIndex((one) => one.id === chosen);
  const move = (step: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (!next) return;
    place.set({ firing: next.id }, { replace: chosen !== "" });
    list.current?.reveal(rows.indexOf(next));
  };
  const showNew = () => {
    list.current?.toTop();
    if (waiting > 0) onShowNew();
  };
  useKeys("Received", [
    { key: "j", says: "Next one", run: () => move(1) },
    { key: "k", says: "Previous one", run: () => move(-1) },
    { key: ".", says: "Show what is new", run: showNew },
    { key: "Escape", says: "Close the request", run: () => (chosen ? place.set({ firing: null }, { replace: true }) : false) },
  ]);
  return (
    <div className={styles["left"]}>
      {waiting > 0 && (
        <Button kind="primary" className={styles["new"] ?? ""} onClick={showNew}>
          <ArrowUp className="icon small" aria-hidden />
          {count(waiting)} new
        </Button>
      )}
      <div className={`${styles["row"]} ${styles["heads"]}`} aria-hidden>
        <span>Result</span>
        <span>Workflow</span>
        <span>Trigger</span>
        <span>What became of it</span>
        <span>Received</span>
      </div>
      <List
        handle={list}
        label="Received"
        className={styles["list"] ?? ""}
        count={rows.length}
        row={row}
        onEnd={onEnd}
        onTop={onTop}
        render={(i) => {
          const one = rows[i];
          return one && <Row key={one.id} firing={one} trigger={names.get(one.trigger_id)} to={place.with({ firing: one.id })} isAt={one.id === chosen} />;
        }}
      />
    </div>
  );
}

const Row = memo(function Row({ firing, trigger, to, isAt }: { firing: Received; trigger: Trigger | undefined; to: string; isAt: boolean }) {
  const look = triggerOf(firing.type);
  const Icon = look.icon;
  return (
    <Link href={to} role="listitem" className={`${styles["row"]} ${isAt ? styles["at"] : ""}`} aria-current={isAt ? "true" : undefined}>
      <Status of={firing.status} quiet />
      <b>{firing.workflow ?? trigger?.workflow ?? firing.trigger_id}</b>
      <span>
        <Icon className="icon small" aria-hidden /> {firing.trigger_name ?? trigger?.name ?? look.word}
        {firing.replay_of && ", replayed"}
      </span>
      <small>
        {firing.message ? (
          <Said text={firing.message} />
        ) : (
          firing.run_id && (
            <>
              run <code>…{firing.run_id.slice(-6)}</code>
            </>
          )
        )}
      </small>
      <Time at={firing.received_at} />
    </Link>
  );
});

/** Statuses that a firing does not leave any more; only such a one can be replayed. */
const OVER: ReadonlySet<string> = new Set(["started", "ignored", "refused", "skipped", "errored"]);

function Detail({ firing, trigger }: { firing: Received; trigger: Trigger | undefined }) {
  const place = usePlace();
  const queries = useQueryClient();
  const acting = useActing();
  const { data, error } = useQuery(firingQuery(firing.trigger_id, firing.id));
  const replay = async () => {
    let next = "";
    const went = await acting.run(async () => {
      const fired = await replayFiring(firing.trigger_id, firing.id);
      next = fired.id;
      toast(`Replayed: ${lookOf(fired.status).word.toLowerCase()}`);
    });
    if (!went) return;
    await queries.invalidateQueries({ queryKey: ["firings"] });
    place.set({ firing: next }, { replace: true });
  };
  const request = data?.request;
  return (
    <aside className={styles["detail"]} aria-label="What was received">
      <header>
        <Status of={firing.status} pill />
        <h2>{firing.workflow ?? trigger?.workflow ?? firing.type}</h2>
        <Button kind="ghost" square aria-label="Close the request" onClick={() => place.set({ firing: null }, { replace: true })}>
          <X className="icon" aria-hidden />
        </Button>
      </header>
      {firing.message && (
        <p>
          <Said text={firing.message} />
        </p>
      )}
      <dl>
        <dt>Received</dt>
        <dd>
          <Time at={firing.received_at} />
        </dd>
        {firing.scheduled_at && (
          <>
            <dt>Slot</dt>
            <dd>
              <Time at={firing.scheduled_at} />
            </dd>
          </>
        )}
        {firing.replay_of && (
          <>
            <dt>Replay of</dt>
            <dd>
              <Link href={place.with({ firing: firing.replay_of })}>
                <code>…{firing.replay_of.slice(-6)}</code>
              </Link>
            </dd>
          </>
        )}
        {firing.run_id && (
          <>
            <dt>Run</dt>
            <dd>
              <Link href={`/runs/${firing.run_id}`}>
                <code>…{firing.run_id.slice(-6)}</code>
                <ArrowRight className="icon small" aria-hidden />
              </Link>
            </dd>
          </>
        )}
      </dl>
      {OVER.has(firing.status) && (
        <div>
          <Button needs="replay_firing" disabled={acting.busy} onClick={() => void replay()}>
            <RotateCw className="icon" aria-hidden />
            Replay it as a new run
          </Button>
        </div>
      )}
      {acting.error && <Notice tone="fail">{acting.error}</Notice>}
      {error && <Notice tone="fail">The request could not be read.</Notice>}
      {request && (
        <>
          <h3>
            {request.method ?? "Body"}
            {Object.keys(request.query).length > 0 && <code>?{new URLSearchParams(request.query).toString()}</code>}
          </h3>
          <JsonBox value={request.body} label="Body" />
          {Object.keys(request.headers).length > 0 && (
            <>
              <h3>Headers</h3>
              <dl className={styles["headers"]}>
                {Object.entries(request.headers).map(([name, value]) => (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>{value}</dd>
                  </div>
                ))}
              </dl>
            </>
          )}
        </>
      )}
    </aside>
  );
}
