/** What can be done to many runs: the bar at the lower edge, and the question before it is done. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Ellipsis, X } from "lucide-react";
import { useState } from "react";
import { saying } from "../api/client";
import type { Bulk } from "../api/documents";
import { bulk, type Filter } from "../api/runs";
import { useMay } from "../api/session";
import { count, several } from "../look/numbers";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Menu, MenuItem } from "../parts/menu";
import { toast } from "../parts/toast";
import styles from "./bulk.module.css";

interface Action {
  name: string;
  /** `Retry`, as on a button. */
  verb: string;
  /** `retried`, as in what was done. */
  done: string;
  says: string;
  /** What stands behind the number on the button: `Retry 3 runs on the current version`. */
  rest?: string;
  version?: "current";
}

const ACTIONS: Action[] = [
  { name: "retry", verb: "Retry", done: "retried", says: "A new run of each keeps what went well and does the rest again." },
  { name: "pause", verb: "Pause", done: "paused", says: "They begin nothing new until they are resumed." },
  { name: "cancel", verb: "Cancel", done: "cancelled", says: "They end now. Steps that are under way are stopped, and nothing is undone." },
];
const MORE: Action[] = [
  { name: "resume", verb: "Resume", done: "resumed", says: "Paused runs go on where they stood." },
  { name: "retry", verb: "Retry on the current version", done: "retried", says: "As retry, with the workflow as it is now.", rest: "on the current version", version: "current" },
  { name: "rerun", verb: "Run again from the beginning", done: "run again", says: "A new run of each with the same input.", rest: "again from the beginning" },
];
const STATUSES = ["pending", "running", "paused", "completed", "failed", "cancelled", "timeout"];
/** The API takes so many ids at once. */
const IDS = 200;

interface Props {
  chosen: ReadonlySet<string>;
  /** Everything that matches this, and not only what is chosen. */
  filter: Filter;
  all: boolean;
  onAll: (all: boolean) => void;
  onClear: () => void;
}

export function BulkBar({ chosen, filter, all, onAll, onClear }: Props) {
  const [action, setAction] = useState<Action | undefined>();
  const matching = useQuery({
    queryKey: ["runs", "matching", filter],
    // An action without a status means the runs that allow it; here all are meant.
    queryFn: () => bulk("cancel", { ...filter, status: filter["status"] ?? STATUSES }, true),
    staleTime: 15_000,
    retry: false,
    enabled: useMay()("change_many_runs"),
  });
  const matched = matching.data ? `${count(matching.data.matched)}${matching.data.more ? "+" : ""}` : undefined;
  return (
    <div className={styles["bar"]} role="region" aria-label="Selected runs">
      <b>{all ? `All${matched ? ` ${matched}` : ""} that match` : `${count(chosen.size)} selected`}</b>
      {all ? (
        <Button kind="ghost" onClick={() => onAll(false)}>
          Only the {count(chosen.size)} selected
        </Button>
      ) : (
        <Button kind="ghost" onClick={() => onAll(true)}>
          Select all{matched ? ` ${matched}` : ""} that match
        </Button>
      )}
      <span className={styles["gap"]} />
      {ACTIONS.map((one) => (
        <Button key={one.verb} needs="change_many_runs" onClick={() => setAction(one)}>
          {one.verb}
        </Button>
      ))}
      <Menu
        align="end"
        button={
          <Button square aria-label="More actions">
            <Ellipsis className="icon" aria-hidden />
          </Button>
        }
      >
        {MORE.map((one) => (
          <MenuItem key={one.verb} needs="change_many_runs" hint={one.says} onSelect={() => setAction(one)}>
            {one.verb}
          </MenuItem>
        ))}
      </Menu>
      <Button kind="ghost" square aria-label="Select nothing" onClick={onClear}>
        <X className="icon" aria-hidden />
      </Button>
      {action && (
        <Question
          action={action}
          parts={all ? [filter] : partsOf([...chosen])}
          onClose={() => setAction(undefined)}
          onDone={() => {
            setAction(undefined);
            onClear();
          }}
        />
      )}
    </div>
  );
}

/** `Cancel 3 runs`. */
function wordsOf(action: Action, runs: string): string {
  return [action.verb.split(" ")[0], runs, action.rest].filter(Boolean).join(" ");
}

function partsOf(ids: readonly string[]): Filter[] {
  const parts: Filter[] = [];
  for (let i = 0; i < ids.length; i += IDS) parts.push({ ids: ids.slice(i, i + IDS).join(",") });
  return parts;
}

async function every(action: Action, parts: readonly Filter[], dry: boolean): Promise<Bulk> {
  const found: Bulk[] = [];
  for (const one of parts) found.push(await bulk(action.name, one, dry, action.version));
  return {
    action: action.name,
    dry_run: dry,
    matched: found.reduce((sum, one) => sum + one.matched, 0),
    done: found.reduce((sum, one) => sum + one.done, 0),
    refused: found.flatMap((one) => one.refused),
    more: found.some((one) => one.more),
  };
}

function Question({ action, parts, onClose, onDone }: { action: Action; parts: Filter[]; onClose: () => void; onDone: () => void }) {
  const queries = useQueryClient();
  const dry = useQuery({ queryKey: ["runs", "dry", action, parts], queryFn: () => every(action, parts, true), gcTime: 0, staleTime: 0, retry: false });
  const doing = useMutation({
    mutationFn: () => every(action, parts, false),
    onSuccess: ({ done, refused, more }) => {
      const words = [`${several(done, "run")} ${action.done}.`];
      if (refused.length > 0) words.push(`${several(refused.length, "run")} refused: ${refused[0]?.message}.`);
      if (more) words.push("More match: do it again for the next.");
      toast(words.join(" "), refused.length > 0 ? { tone: "fail" } : {});
      void queries.invalidateQueries({ queryKey: ["runs"] });
      onDone();
    },
    onError: (error) => toast(saying(error), { tone: "fail" }),
  });
  const number = dry.data?.matched ?? 0;
  const runs = several(number, "run");
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${action.verb.split(" ")[0]} runs${action.rest ? ` ${action.rest}` : ""}?`}
      actions={
        <>
          <Button onClick={onClose}>Do nothing</Button>
          <Button
            kind={action.name === "cancel" ? "danger" : "primary"}
            disabled={number === 0 || doing.isPending}
            onClick={() => doing.mutate()}
          >
            {doing.isPending ? "Doing it…" : number > 0 ? wordsOf(action, runs) : action.verb}
          </Button>
        </>
      }
    >
      {dry.error ? (
        <p role="alert">{saying(dry.error)}</p>
      ) : dry.data ? (
        <>
          <p>
            <b>{number === 0 ? "No run that is meant allows this now." : `${runs} will be ${action.done}.`}</b> {number > 0 && action.says}
          </p>
          {dry.data.refused.length > 0 && (
            <ul className={styles["refused"]}>
              {dry.data.refused.slice(0, 5).map((one) => (
                <li key={one.run_id}>
                  <code>{one.run_id}</code> {one.message}
                </li>
              ))}
            </ul>
          )}
        </>
      ) : (
        <p role="status">Counting what would be {action.done}…</p>
      )}
    </Dialog>
  );
}
