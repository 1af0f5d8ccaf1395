/** What can be done to a trigger: pause with a note, resume, fire, fill slots of the past. `?do=` and `?trigger=` say
 * which dialog is open. */
import { useQueryClient } from "@tanstack/react-query";
import { CirclePause, CirclePlay, History, Zap } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Trigger } from "../api/documents";
import type { Operation } from "../api/policy";
import { now } from "../api/session";
import { type Backfill, backfill, fireTrigger, pauseTrigger, resumeTrigger } from "../api/triggers";
import { several } from "../look/numbers";
import { lookOf } from "../look/status";
import { DAY, moment } from "../look/time";
import { ActDialog, useActing } from "../parts/act";
import { Allowed } from "../parts/allowed";
import { Button } from "../parts/button";
import { CodeField, TextField } from "../parts/field";
import { parsed } from "../parts/parse";
import { toast } from "../parts/toast";
import { usePlace } from "../shell/place";
import { fromField, toField } from "./clock_field";
import styles from "./dialogs.module.css";

/** What a trigger is called. */
export function nameOf(trigger: Pick<Trigger, "name" | "type" | "workflow">): string {
  return trigger.name ?? `the ${trigger.type === "cron" ? "schedule" : trigger.type} of ${trigger.workflow}`;
}

export function TriggerVerbs({ trigger }: { trigger: Trigger }) {
  const place = usePlace();
  const open = (verb: string) => () => place.set({ do: verb, trigger: trigger.id });
  return (
    <>
      {trigger.type === "cron" && (
        <Button kind="ghost" needs="backfill_trigger" onClick={open("backfill")}>
          <History className="icon" aria-hidden />
          Fill the past…
        </Button>
      )}
      {trigger.type !== "event" && (
        <Button needs="fire_trigger" onClick={open("fire")}>
          <Zap className="icon" aria-hidden />
          Fire now…
        </Button>
      )}
      {trigger.enabled ? (
        <Button needs="pause_trigger" onClick={open("pause")}>
          <CirclePause className="icon" aria-hidden />
          Pause…
        </Button>
      ) : (
        <Button needs="resume_trigger" onClick={open("resume")}>
          <CirclePlay className="icon" aria-hidden />
          Resume…
        </Button>
      )}
    </>
  );
}

interface DialogProps {
  trigger: Trigger;
  onClose: () => void;
}

const DIALOGS: Readonly<Record<string, [Operation, (props: DialogProps) => ReactNode]>> = {
  pause: ["pause_trigger", Pause],
  resume: ["resume_trigger", Resume],
  fire: ["fire_trigger", Fire],
  backfill: ["backfill_trigger", Fill],
};

/** The dialog that the URL asks for, if its trigger is one of these. */
export function TriggerDialog({ triggers }: { triggers: readonly Trigger[] }) {
  const place = usePlace();
  const [needs, Verb] = DIALOGS[place.get("do")] ?? [];
  const trigger = triggers.find((one) => one.id === place.get("trigger"));
  if (!Verb || !trigger) return null;
  const close = () => place.set({ do: null, trigger: null }, { replace: true });
  return (
    <Allowed needs={needs} onClose={close}>
      <Verb trigger={trigger} onClose={close} />
    </Allowed>
  );
}

function useChanged(): () => void {
  const queries = useQueryClient();
  return () => {
    void queries.invalidateQueries({ queryKey: ["triggers"] });
    void queries.invalidateQueries({ queryKey: ["firings"] });
    void queries.invalidateQueries({ queryKey: ["workflows", "stats"] });
  };
}

function Pause({ trigger, onClose }: DialogProps) {
  const acting = useActing();
  const changed = useChanged();
  const [note, setNote] = useState("");
  const pause = async () => {
    if (!(await acting.run(() => pauseTrigger(trigger.id, note.trim())))) return;
    changed();
    toast(`Paused: ${nameOf(trigger)}`);
    onClose();
  };
  return (
    <ActDialog title={`Pause ${nameOf(trigger)}`} word="Pause it" acting={acting} onClose={onClose} onDo={() => void pause()}>
      <p>
        {trigger.type === "cron"
          ? "Slots that pass while it is paused do not fire. Fill the past fires them later, if you want them."
          : "Requests are refused with 409 while it is paused, and listed."}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void pause();
        }}
      >
        <TextField label="Why, for other people" placeholder="The shop is closed until Monday" value={note} maxLength={500} autoFocus onChange={(event) => setNote(event.currentTarget.value)} />
      </form>
    </ActDialog>
  );
}

function Resume({ trigger, onClose }: DialogProps) {
  const acting = useActing();
  const changed = useChanged();
  const resume = async () => {
    if (!(await acting.run(() => resumeTrigger(trigger.id)))) return;
    changed();
    toast(`Resumed: ${nameOf(trigger)}`);
    onClose();
  };
  return (
    <ActDialog title={`Resume ${nameOf(trigger)}`} word="Resume it" acting={acting} onClose={onClose} onDo={() => void resume()}>
      <p>It fires from now on. {trigger.type === "cron" && "Slots that passed during the pause do not fire."}</p>
      {trigger.note && <p className={styles["soft"]}>It was paused because: {trigger.note}</p>}
    </ActDialog>
  );
}

function Fire({ trigger, onClose }: DialogProps) {
  const acting = useActing();
  const changed = useChanged();
  const [text, setText] = useState("{}");
  const { value, problem } = parsed(text);
  const fire = async () => {
    if (problem) return;
    let said = "";
    const went = await acting.run(async () => {
      const fired = await fireTrigger(trigger.id, value);
      said = `${lookOf(fired.status).word}${fired.message ? `: ${fired.message}` : ""}`;
    });
    if (!went) return;
    changed();
    toast(said);
    onClose();
  };
  return (
    <ActDialog title={`Fire ${nameOf(trigger)} now`} word="Fire it" acting={acting} disabled={problem !== null} onClose={onClose} onDo={() => void fire()}>
      <p>A real run starts, also if the trigger is paused. Its condition, the schema of the workflow and its overlap policy apply.</p>
      <CodeField label="Body, as JSON" value={text} problem={problem} rows={5} onText={setText} onSend={() => void fire()} />
    </ActDialog>
  );
}

function Fill({ trigger, onClose }: DialogProps) {
  const acting = useActing();
  const changed = useChanged();
  const [from, setFrom] = useState(() => toField(now() - DAY));
  const [to, setTo] = useState(() => toField(now()));
  const [found, setFound] = useState<Backfill | null>(null);
  const change = (set: (text: string) => void) => (event: React.ChangeEvent<HTMLInputElement>) => {
    set(event.currentTarget.value);
    setFound(null);
    acting.forget();
  };
  const isReady = fromField(from) !== null && fromField(to) !== null;
  const look = () => acting.run(async () => setFound(await backfill(trigger.id, fromField(from) ?? "", fromField(to) ?? "", true)));
  const fill = async () => {
    let sent = 0;
    const went = await acting.run(async () => {
      sent = (await backfill(trigger.id, fromField(from) ?? "", fromField(to) ?? "", false)).firings.length;
    });
    if (!went) return;
    changed();
    toast(`${several(sent, "slot")} fired`);
    onClose();
  };
  const clock = now();
  return (
    <ActDialog
      title={`Fill the past of ${nameOf(trigger)}`}
      word={found ? (found.matched > 0 ? `Fire ${several(found.matched, "slot")}` : "Fire nothing") : "Count the slots"}
      acting={acting}
      disabled={!isReady || found?.matched === 0}
      onClose={onClose}
      onDo={() => void (found ? fill() : look())}
    >
      <p>Slots of this time that have no firing are fired now, oldest first, at most 1,000. Each starts a real run.</p>
      <div className={styles["form"]}>
        <TextField label="From, on your clock" type="datetime-local" value={from} onChange={change(setFrom)} />
        <TextField label="To" type="datetime-local" value={to} onChange={change(setTo)} />
      </div>
      {found && (
        <div role="status">
          <p>{found.matched === 0 ? "Every slot of this time has fired already, or there is none." : `${several(found.matched, "slot")} would fire:`}</p>
          {found.slots.length > 0 && (
            <ol className={styles["slots"]} tabIndex={0} aria-label="Slots that would fire">
              {found.slots.slice(0, 200).map((slot) => (
                <li key={slot}>{moment(Date.parse(slot), "local", clock)}</li>
              ))}
            </ol>
          )}
        </div>
      )}
    </ActDialog>
  );
}
