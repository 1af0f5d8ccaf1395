/** One schedule: its next ten slots, what it did lately, and what was done about slots that it missed. */
import { useQuery } from "@tanstack/react-query";
import { CalendarClock, History } from "lucide-react";
import { Link } from "wouter";
import type { Trigger } from "../api/documents";
import { useNow } from "../api/session";
import { type Firing, latelyQuery, missedQuery, slotsQuery } from "../api/triggers";
import { DAY, distance, instant, MINUTE, minute, moment, roughSpan } from "../look/time";
import { Button } from "../parts/button";
import { Notice } from "../parts/notice";
import { Said } from "../parts/said";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { usePlace } from "../shell/place";
import { useClock } from "../shell/preferences";
import { placeOf } from "./state";
import { nameOf, TriggerVerbs } from "./trigger_verbs";
import styles from "./triggers.module.css";

export function Schedule({ trigger, withWorkflow }: { trigger: Trigger; withWorkflow?: boolean }) {
  const slots = useQuery(slotsQuery(trigger.id));
  const lately = useQuery(latelyQuery(trigger.id));
  const now = useNow();
  const [clock] = useClock();
  const { config } = trigger;
  const zone = typeof config["timezone"] === "string" ? config["timezone"] : "UTC";
  const shown = clock === "utc" ? "utc" : "local";
  const cron = String(config["cron_expression"] ?? "");
  // Only a schedule of six fields, or of an interval, has slots within a minute.
  const isExact = cron.trim().split(/\s+/).length > 5 || cron.startsWith("@every");
  return (
    <article className={styles["trigger"]} aria-label={nameOf(trigger)}>
      <header>
        <CalendarClock className="icon" aria-hidden />
        <h2>{trigger.name ?? (withWorkflow ? trigger.workflow : "Schedule")}</h2>
        {withWorkflow && trigger.name && <Link href={placeOf(trigger.workflow, "schedules")}>{trigger.workflow}</Link>}
        <span className={styles["cron"]}>{cron}</span>
        <span className={styles["soft"]}>{zone}</span>
        {!trigger.enabled && <Status of="paused" pill />}
        <span className={styles["verbs"]}>
          <TriggerVerbs trigger={trigger} />
        </span>
      </header>
      {!trigger.enabled && <Notice tone="hold">{trigger.note ? `Paused: ${trigger.note}` : "Paused, without a note. Its slots pass without a run."}</Notice>}
      <Missed trigger={trigger} now={now} />
      <div className={styles["slots"]}>
        <div>
          <h3>{trigger.enabled ? "Next" : "Next, if it is resumed"}</h3>
          <ol className={styles["ten"]}>
            {slots.data?.map((slot) => {
              const at = Date.parse(slot);
              return (
                <li key={slot}>
                  <b>{(isExact ? moment : minute)(at, shown, now)}</b>
                  <span>{distance(at, now)}</span>
                </li>
              );
            })}
          </ol>
          {slots.data?.length === 0 && <p className={styles["soft"]}>It has no slot any more.</p>}
        </div>
        <div className={styles["lately"]}>
          <h3>Lately</h3>
          {lately.data?.length === 0 && <p className={styles["soft"]}>It has not fired yet.</p>}
          <ul>
            {lately.data?.map((one) => (
              <li key={one.id}>
                <Status of={one.status} quiet />
                <span title={one.message ?? ""}>
                  <Slot firing={one} />
                </span>
                {one.run_id && <Link href={`/runs/${one.run_id}`}>its run</Link>}
                <Time at={one.received_at} />
              </li>
            ))}
          </ul>
          <Link href={`/triggers/received?trigger=${trigger.id}`}>Every firing</Link>
        </div>
        <dl className={styles["facts"]}>
          <dt>Overlap</dt>
          <dd>{OVERLAPS[String(config["overlap"] ?? "allow")] ?? String(config["overlap"])}</dd>
          <dt>If missed</dt>
          <dd>{MISSED[String(config["missed"] ?? "last")] ?? String(config["missed"])}</dd>
          <dt>From</dt>
          <dd>{trigger.owned_by === "definition" ? "the workflow, its definition or code; it is changed there" : "the API"}</dd>
          <dt>Last fired</dt>
          <dd>{trigger.last_fired_at ? <Time at={trigger.last_fired_at} /> : "never"}</dd>
        </dl>
      </div>
    </article>
  );
}

/** Slots that were missed so lately that a person may want to know, and what was done about them. */
function Missed({ trigger, now }: { trigger: Trigger; now: number }) {
  const place = usePlace();
  const { data } = useQuery(missedQuery(trigger.id));
  if (!data || now - instant(data.received_at) > RECENT) return null;
  const fill = (
    <Button needs="backfill_trigger" onClick={() => place.set({ do: "backfill", trigger: trigger.id })}>
      <History className="icon" aria-hidden />
      Start them now…
    </Button>
  );
  return (
    <Notice tone="hold" actions={fill}>
      <b>Slots were missed.</b> {data.message && <Said text={data.message} />}
    </Notice>
  );
}

const RECENT = 2 * DAY;
/** A slot that fired so much after its time was late. */
const LATE = MINUTE;

/** What a firing is about: its slot, and how late that was. */
function Slot({ firing }: { firing: Firing }) {
  const [clock] = useClock();
  if (!firing.scheduled_at) return firing.message && <Said text={firing.message} />;
  const [slot, fired] = [instant(firing.scheduled_at), instant(firing.received_at)];
  return (
    <>
      slot of {minute(slot, clock === "utc" ? "utc" : "local", fired)}
      {fired - slot > LATE && <em className={styles["late"]}>, {roughSpan(fired - slot)} late</em>}
      {firing.message && `, ${firing.message}`}
    </>
  );
}

const OVERLAPS: Readonly<Record<string, string>> = {
  allow: "starts another run",
  skip: "skips the slot",
  queue: "waits for the run before",
  cancel_previous: "cancels the run before",
};
const MISSED: Readonly<Record<string, string>> = {
  none: "starts nothing",
  last: "starts the newest slot",
  all: "starts every slot",
};
