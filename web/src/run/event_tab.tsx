/** The event that started a run of a rule: what happened to which record, and its fields before and after. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { wholeQuery } from "../api/run";
import { CopyButton } from "../parts/copy";
import { Empty, Failure, isLost, Waiting } from "../parts/states";
import { Time } from "../parts/time";
import { Changes } from "../rules/parts";
import { entityPlace, happenedOf, rulePlace, valueText } from "../rules/words";
import rules from "../rules/page.module.css";
import styles from "./tabs.module.css";

interface EventBody {
  id?: string;
  entity?: string;
  operation?: string;
  record_id?: string | null;
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
  actor?: unknown;
  at?: string;
}

export function EventTab({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(wholeQuery(id));
  if (isLost(error, data)) return <Failure error={error} what="The event could not be shown" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The event is loading" />;
  const event = bodyOf(data.input);
  if (!event) return <Empty title="No event started it" />;
  const fields = event.before || event.after;
  return (
    <div className={styles["event"]}>
      <h2>{event.entity ? happenedOf({ entity: event.entity, operation: event.operation ?? "", record_id: event.record_id ?? null }) : "Started by a caller"}</h2>
      <dl>
        <dt>Rule</dt>
        <dd>
          <Link href={rulePlace(data.workflow)}>{data.workflow}</Link>
        </dd>
        {event.entity && (
          <>
            <dt>Entity</dt>
            <dd>
              <Link href={entityPlace(event.entity, "events")}>{event.entity}</Link>
            </dd>
          </>
        )}
        {event.at && (
          <>
            <dt>Changed</dt>
            <dd>
              <Time at={event.at} />
              {event.actor != null && ` by ${typeof event.actor === "string" ? event.actor : valueText(event.actor)}`}
            </dd>
          </>
        )}
        {event.id && (
          <>
            <dt>Event</dt>
            <dd>
              <code>{event.id}</code>
              <CopyButton text={event.id} what="the id of the event" />
            </dd>
          </>
        )}
      </dl>
      {fields ? <Changes before={event.before} after={event.after} /> : <p className={rules["soft"]}>It has no record.</p>}
    </div>
  );
}

/** The event of a run's input. A record that was sent without more is what is after. */
function bodyOf(input: unknown): EventBody | null {
  const body = typeof input === "object" && input !== null && "body" in input ? input.body : null;
  if (typeof body !== "object" || body === null || Array.isArray(body)) return null;
  return "after" in body || "before" in body ? (body as EventBody) : { after: body as Record<string, unknown> };
}
