/** One trigger: what starts it, where it is called, what it did lately, and a console to try it. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { Link } from "wouter";
import type { Trigger } from "../api/documents";
import { firingsQuery } from "../api/triggers";
import { triggerOf } from "../look/status";
import { CopyButton } from "../parts/copy";
import { JsonBox } from "../parts/json/box";
import { Notice } from "../parts/notice";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { usePlace } from "../shell/place";
import { EventConsole, WebhookConsole } from "./console";
import { placeOf } from "./state";
import { nameOf, TriggerVerbs } from "./trigger_verbs";
import styles from "./triggers.module.css";

export function TriggerCard({ trigger, withWorkflow }: { trigger: Trigger; withWorkflow?: boolean }) {
  const place = usePlace();
  const look = triggerOf(trigger.type);
  const Icon = look.icon;
  const isTried = place.get("try") === trigger.id;
  const canTry = trigger.type === "webhook" || trigger.type === "event";
  return (
    <article className={styles["trigger"]} aria-label={nameOf(trigger)}>
      <header>
        <Icon className="icon" aria-hidden />
        <h2>{trigger.name ?? (withWorkflow ? <Link href={placeOf(trigger.workflow, "triggers")}>{trigger.workflow}</Link> : look.word)}</h2>
        {withWorkflow && trigger.name && <Link href={placeOf(trigger.workflow, "triggers")}>{trigger.workflow}</Link>}
        {withWorkflow && <span className={styles["soft"]}>{look.word}</span>}
        {!trigger.enabled && <Status of="paused" pill />}
        <span className={styles["verbs"]}>
          <TriggerVerbs trigger={trigger} />
        </span>
      </header>
      {!trigger.enabled && trigger.note && <Notice tone="hold">Paused: {trigger.note}</Notice>}
      <div className={styles["columns"]}>
        <dl className={styles["facts"]}>
        {trigger.url && (
          <>
            <dt>URL</dt>
            <dd>
              <code>POST {trigger.url}</code>
              <CopyButton text={trigger.url} what="the URL" />
            </dd>
          </>
        )}
        {typeof trigger.config["event"] === "string" && (
          <>
            <dt>Event</dt>
            <dd>
              <code>{trigger.config["event"]}</code>
            </dd>
          </>
        )}
        {trigger.condition && (
          <>
            <dt>Only if</dt>
            <dd>
              <code>{trigger.condition}</code>
            </dd>
          </>
        )}
        <dt>From</dt>
        <dd>{trigger.owned_by === "definition" ? "the workflow, its definition or code; it is changed there" : "the API"}</dd>
        <dt>Last fired</dt>
        <dd>{trigger.last_fired_at ? <Time at={trigger.last_fired_at} /> : "never"}</dd>
        </dl>
        <Lately trigger={trigger} />
      </div>
      {Object.keys(trigger.config).length > 0 && (
        <details className={styles["more"]}>
          <summary>
            <ChevronRight className="icon small" aria-hidden />
            Settings
          </summary>
          <JsonBox value={trigger.config} label="Settings" />
        </details>
      )}
      {canTry && (
        <details className={styles["more"]} open={isTried} onToggle={(event) => event.currentTarget.open !== isTried && place.set({ try: event.currentTarget.open ? trigger.id : null }, { replace: true })}>
          <summary>
            <ChevronRight className="icon small" aria-hidden />
            Try it
          </summary>
          {isTried && (trigger.type === "webhook" ? <WebhookConsole trigger={trigger} /> : <EventConsole trigger={trigger} />)}
        </details>
      )}
    </article>
  );
}

/** The last things that it received, and the way to all of them. */
function Lately({ trigger }: { trigger: Trigger }) {
  const { data } = useInfiniteQuery(firingsQuery({ trigger: trigger.id }));
  const rows = data?.pages[0]?.data.slice(0, 5) ?? [];
  if (rows.length === 0) return null;
  return (
    <div className={styles["lately"]}>
      <h3>Lately</h3>
      <ul>
        {rows.map((one) => (
          <li key={one.id}>
            <Status of={one.status} quiet />
            <span>{one.message}</span>
            {one.run_id && <Link href={`/runs/${one.run_id}`}>its run</Link>}
            <Time at={one.received_at} />
          </li>
        ))}
      </ul>
      <Link href={`/triggers/received?trigger=${trigger.id}`}>Everything it received</Link>
    </div>
  );
}
