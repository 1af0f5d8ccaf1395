/** Which of the last events of its entity a rule matches, and which part of which condition was false. */
import { useQuery } from "@tanstack/react-query";
import { FlaskConical, X } from "lucide-react";
import { memo, useRef } from "react";
import { Link } from "wouter";
import { base } from "../api/client";
import { type RecentEvent, recentMatchesQuery } from "../api/rules";
import { several } from "../look/numbers";
import { Button } from "../parts/button";
import { CopyButton } from "../parts/copy";
import { List, type ListHandle } from "../parts/list/list";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { useKeys } from "../shell/keys";
import { useNarrow } from "../shell/narrow";
import { usePlace } from "../shell/place";
import type { TabProps } from "./page";
import { Conditions } from "./parts";
import { entityPlace, happenedOf } from "./words";
import styles from "./page.module.css";

export default function EventsTab({ tagged: { rule } }: TabProps) {
  const place = usePlace();
  const { data, error, refetch } = useQuery(recentMatchesQuery(rule.key));
  if (isLost(error, data)) return <Failure error={error} what="The events could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The events are loading" />;
  if (data.length === 0) {
    return (
      <Empty title={`No event of ${rule.entity ?? "it"} yet`}>
        <p>The last fifty events of an entity are kept, so that you see what a rule does before it is active.</p>
        <TryButton />
        <Snippet label="Send one">{`curl -X POST ${base}api/v1/events/entity \\
  -d '{"entity": "${rule.entity}", "operation": "update", "id": "17", "before": {"status": "packed"}, "after": {"status": "shipped"}}'`}</Snippet>
      </Empty>
    );
  }
  const chosen = data.find((one) => one.id === place.get("event"));
  const matching = data.filter((one) => one.matches).length;
  return (
    <div className={styles["tab"]}>
      <div className={styles["bar"]}>
        <p>
          <b>{matching === 0 ? "None" : matching}</b> of the last {several(data.length, "event")} of{" "}
          <Link href={entityPlace(rule.entity ?? "", "events")} className={styles["link"] ?? ""}>
            {rule.entity}
          </Link>{" "}
          {matching === 1 ? "matches" : "match"}
          {rule.is_active ? "." : ": so often it would have run if it were active."}
        </p>
        <Strip events={data} />
        <TryButton />
      </div>
      <div className={`${styles["panes"]} ${chosen ? styles["open"] : ""}`}>
        <Rows rows={data} chosen={chosen} />
        {chosen && <Detail event={chosen} onClose={() => place.set({ event: null }, { replace: true })} />}
      </div>
    </div>
  );
}

function TryButton() {
  const place = usePlace();
  return (
    <Button onClick={() => place.set({ do: "try" })}>
      <FlaskConical className="icon" aria-hidden />
      Try an event…
    </Button>
  );
}

const TICK = 4;
const GAP = 2;
const ROOM = 50;
const HEIGHT = 16;

/** One tick for each event, the newest at the right: high ones match. */
function Strip({ events }: { events: readonly RecentEvent[] }) {
  const matching = events.filter((one) => one.matches).length;
  return (
    <svg className={styles["strip"]} width={ROOM * (TICK + GAP) - GAP} height={HEIGHT} role="img" aria-label={`${matching} of ${events.length} match`}>
      {events.map((one, i) => {
        const height = one.matches ? HEIGHT : 5;
        return <rect key={one.id} className={one.matches ? styles["yes"] : undefined} x={(ROOM - 1 - i) * (TICK + GAP)} y={HEIGHT - height} width={TICK} height={height} rx={1} />;
      })}
    </svg>
  );
}

function Rows({ rows, chosen }: { rows: RecentEvent[]; chosen: RecentEvent | undefined }) {
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

const Row = memo(function Row({ event, to, isAt }: { event: RecentEvent; to: string; isAt: boolean }) {
  return (
    <Link href={to} role="listitem" className={`${styles["row"]} ${isAt ? styles["at"] : ""}`} aria-current={isAt ? "true" : undefined}>
      <Status of={event.matches ? "matched" : "unmatched"} quiet />
      <b>{happenedOf(event)}</b>
      <small title={event.reason ?? ""}>{event.reason ?? event.conditions.map((one) => one.words).join(" and ")}</small>
      <Time at={event.received_at} />
    </Link>
  );
});

function Detail({ event, onClose }: { event: RecentEvent; onClose: () => void }) {
  return (
    <aside className={styles["detail"]} aria-label="Event">
      <header>
        <Status of={event.matches ? "matched" : "unmatched"} pill />
        <h2>{happenedOf(event)}</h2>
        <Button kind="ghost" square aria-label="Close the event" onClick={onClose}>
          <X className="icon" aria-hidden />
        </Button>
      </header>
      {event.reason && <p className={styles["says"]}>{capital(event.reason)}.</p>}
      {event.conditions.length > 0 ? <Conditions parts={event.conditions} /> : event.matches && <p className={styles["soft"]}>The rule has no conditions: every such event matches.</p>}
      <dl>
        <dt>Received</dt>
        <dd>
          <Time at={event.received_at} />
        </dd>
        <dt>Record</dt>
        <dd>
          <Link href={`${entityPlace(event.entity, "events")}?event=${encodeURIComponent(event.id)}`}>Its fields before and after</Link>
        </dd>
        <dt>Event</dt>
        <dd>
          <code>{event.id}</code>
          <CopyButton text={event.id} what="the id of the event" />
        </dd>
      </dl>
    </aside>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
