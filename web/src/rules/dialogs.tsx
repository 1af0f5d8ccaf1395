/** The dialogs of what can be done to a rule. Which one is open is in the URL (`?do=`). */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { Operation } from "../api/policy";
import { changeRule, deleteRule, recentMatchesQuery, restoreRule, type TaggedRule } from "../api/rules";
import { statsQuery } from "../api/workflows";
import { several } from "../look/numbers";
import { ActDialog, useActing } from "../parts/act";
import { Allowed } from "../parts/allowed";
import { toast } from "../parts/toast";
import { usePlace } from "../shell/place";
import { StartDialog } from "../workflows/start";
import { inFlight } from "../workflows/state";
import EditDialog from "./edit";
import TryDialog from "./try_event";
import { isByEvents } from "./words";

interface DialogProps {
  tagged: TaggedRule;
  onClose: () => void;
}

const NEEDS: Readonly<Record<string, Operation>> = {
  edit: "save_rule",
  activate: "activate_rule",
  deactivate: "deactivate_rule",
  delete: "delete_rule",
  restore: "restore_rule",
  start: "trigger_workflow",
};

export default function VerbDialog({ tagged }: { tagged: TaggedRule }) {
  const place = usePlace();
  const verb = place.get("do");
  const onClose = () => place.set({ do: null, target: null }, { replace: true });
  return (
    <Allowed needs={NEEDS[verb]} onClose={onClose}>
      <Verb tagged={tagged} verb={verb} onClose={onClose} />
    </Allowed>
  );
}

function Verb({ tagged, verb, onClose }: DialogProps & { verb: string }) {
  const place = usePlace();
  if (verb === "edit") return <EditDialog tagged={tagged} onClose={onClose} />;
  if (verb === "activate" || verb === "deactivate") return <Switch tagged={tagged} onClose={onClose} verb={verb} />;
  if (verb === "delete") return <Delete tagged={tagged} onClose={onClose} />;
  if (verb === "restore") return <Restore tagged={tagged} onClose={onClose} version={Number(place.get("target"))} />;
  if (verb === "try") return <TryDialog tagged={tagged} onClose={onClose} />;
  if (verb === "start") return <StartDialog workflow={tagged.rule.key} version="" onClose={onClose} />;
  return null;
}

/** Asks again for everything about rules. */
function useRenewed(): () => void {
  const queries = useQueryClient();
  return () => {
    for (const name of ["rules", "workflows", "entities"]) void queries.invalidateQueries({ queryKey: [name] });
  };
}

function Switch({ tagged: { rule }, onClose, verb }: DialogProps & { verb: "activate" | "deactivate" }) {
  const acting = useActing();
  const renew = useRenewed();
  const hasEvents = isByEvents(rule);
  const recent = useQuery({ ...recentMatchesQuery(rule.key), enabled: hasEvents && verb === "activate" }).data;
  const stats = useQuery(statsQuery(rule.key)).data;
  const open = stats ? inFlight(stats.in_flight) : 0;
  const matching = recent?.filter((one) => one.matches).length ?? 0;
  const change = async () => {
    if (!(await acting.run(() => changeRule(rule.key, verb)))) return;
    renew();
    toast(`${verb === "activate" ? "Active" : "Inactive"}: ${rule.name}`);
    onClose();
  };
  return verb === "activate" ? (
    <ActDialog title="Activate this rule" word="Activate it" acting={acting} onClose={onClose} onDo={() => void change()}>
      <p>{hasEvents ? "From the next event on, each event that matches starts one run. Events of the past start nothing." : "It can be started again. Slots of its schedule that passed are not fired."}</p>
      {recent && recent.length > 0 && (
        <p>
          Of the last {several(recent.length, "event")} of {rule.entity}, <b>{matching === 0 ? "none" : matching}</b> {matching === 1 ? "matches" : "match"} it.
        </p>
      )}
    </ActDialog>
  ) : (
    <ActDialog title="Deactivate this rule" word="Deactivate it" acting={acting} onClose={onClose} onDo={() => void change()}>
      <p>
        Nothing starts it until it is active again; events that match meanwhile are not made up for.{" "}
        {open === 0 ? "No run is in flight." : open === 1 ? "The run in flight goes on." : `The ${several(open, "run")} in flight go on.`}
      </p>
    </ActDialog>
  );
}

function Delete({ tagged: { rule, etag }, onClose }: DialogProps) {
  const acting = useActing();
  const renew = useRenewed();
  const [, go] = useLocation();
  const remove = async () => {
    if (!(await acting.run(() => deleteRule(rule.key, etag)))) return;
    toast(`Deleted: ${rule.name}`);
    go("/rules", { replace: true });
    renew();
  };
  return (
    <ActDialog danger title="Delete this rule?" word="Delete it" acting={acting} onClose={onClose} onDo={() => void remove()}>
      <p>
        <b>{rule.name}</b> and its {several(rule.version, "version")} are deleted, and nothing starts it any more. Runs in flight go on to their end. Runs and alerts stay readable.
      </p>
    </ActDialog>
  );
}

function Restore({ tagged: { rule, etag }, onClose, version }: DialogProps & { version: number }) {
  const acting = useActing();
  const renew = useRenewed();
  const restore = async () => {
    if (!(await acting.run(() => restoreRule(rule.key, version, etag)))) return;
    renew();
    toast(`Version ${version} is current`);
    onClose();
  };
  return (
    <ActDialog title={`Restore version ${version}`} word={`Restore version ${version}`} acting={acting} onClose={onClose} onDo={() => void restore()}>
      <p>
        New runs start on version {version} instead of {rule.version}. Actions and edges have the ids that they had. The rule stays {rule.is_active ? "active" : "inactive"}; runs in flight stay on their version.
      </p>
    </ActDialog>
  );
}
