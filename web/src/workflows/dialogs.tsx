/** The dialogs of what can be done to a workflow. Which one is open is in the URL (`?do=`). */
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Workflow } from "../api/documents";
import type { Operation } from "../api/policy";
import { activate, changeWorkflow, discardDraft, type WorkflowStats, type WorkflowVerb } from "../api/workflows";
import { several } from "../look/numbers";
import { ActDialog, useActing } from "../parts/act";
import { Allowed } from "../parts/allowed";
import { toast } from "../parts/toast";
import { usePlace } from "../shell/place";
import { MoveDialog } from "./move";
import { PublishDialog } from "./publish";
import { StartDialog } from "./start";
import { inFlight } from "./state";

interface VerbProps {
  workflow: Workflow;
  stats: WorkflowStats | undefined;
}

export function VerbDialog(props: VerbProps) {
  const place = usePlace();
  const verb = place.get("do");
  const close = () => place.set({ do: null, target: null }, { replace: true });
  const [needs, Verb] = DIALOGS[verb] ?? [];
  if (!Verb) return null;
  return (
    <Allowed needs={needs} onClose={close}>
      <Verb {...props} onClose={close} version={place.get(verb === "start" ? "version" : "target")} />
    </Allowed>
  );
}

interface DialogProps extends VerbProps {
  onClose: () => void;
  /** The version that is meant, if one is. */
  version: string;
}

const DIALOGS: Readonly<Record<string, [Operation, (props: DialogProps) => ReactNode]>> = {
  start: ["trigger_workflow", ({ workflow, version, onClose }) => <StartDialog workflow={workflow.name} version={version} onClose={onClose} />],
  publish: ["publish_workflow", PublishDialog],
  move: ["move_many_runs", MoveDialog],
  activate: ["activate_workflow_version", Activate],
  discard: ["discard_workflow_draft", Discard],
  archive: ["archive_workflow", (props) => <Change {...props} verb="archive" />],
  reactivate: ["reactivate_workflow", (props) => <Change {...props} verb="reactivate" />],
  enable: ["enable_workflow", (props) => <Change {...props} verb="enable" />],
  disable: ["disable_workflow", (props) => <Change {...props} verb="disable" />],
};

const CHANGES: Record<WorkflowVerb, { title: string; word: string; done: string; says: (open: number) => string }> = {
  archive: {
    title: "Archive this workflow",
    word: "Archive it",
    done: "Archived",
    says: (open) => `Nothing starts it any more, and its triggers do not fire. ${goOn(open)} Runs that have not begun are cancelled when their time comes. Reactivate brings it back.`,
  },
  reactivate: {
    title: "Reactivate this workflow",
    word: "Reactivate it",
    done: "Reactivated",
    says: () => "It can be started again. Its schedules go on with their next slot; what passed meanwhile is not fired.",
  },
  enable: {
    title: "Enable this workflow",
    word: "Enable it",
    done: "Enabled",
    says: () => "It can be started again, and its triggers fire.",
  },
  disable: {
    title: "Disable this workflow",
    word: "Disable it",
    done: "Disabled",
    says: (open) => `Starts are refused, and the slots of its schedules pass without a run. ${goOn(open)}`,
  },
};

function goOn(open: number): string {
  return open === 0 ? "No run is in flight." : open === 1 ? "The run in flight goes on." : `The ${several(open, "run")} in flight go on.`;
}

function Change({ workflow, stats, verb, onClose }: DialogProps & { verb: WorkflowVerb }) {
  const acting = useActing();
  const queries = useQueryClient();
  const { title, word, done, says } = CHANGES[verb];
  const change = async () => {
    const went = await acting.run(() => changeWorkflow(workflow.name, verb));
    if (!went) return;
    void queries.invalidateQueries({ queryKey: ["workflows"] });
    toast(`${done}: ${workflow.name}`);
    onClose();
  };
  return (
    <ActDialog title={title} word={word} acting={acting} onClose={onClose} onDo={() => void change()}>
      <p>{says(stats ? inFlight(stats.in_flight) : 0)}</p>
    </ActDialog>
  );
}

function Activate({ workflow, stats, version, onClose }: DialogProps) {
  const acting = useActing();
  const queries = useQueryClient();
  const number = Number(version);
  const act = async () => {
    const went = await acting.run(() => activate(workflow.name, number));
    if (!went) return;
    void queries.invalidateQueries({ queryKey: ["workflows"] });
    void queries.invalidateQueries({ queryKey: ["triggers"] });
    toast(`Version ${number} is current`);
    onClose();
  };
  const open = stats ? inFlight(stats.in_flight) : 0;
  return (
    <ActDialog title={`Make version ${version} current`} word={`Make version ${version} current`} acting={acting} onClose={onClose} onDo={() => void act()}>
      <p>
        New runs start on version {version} instead of {workflow.current_version}. Its trigger, labels, queue and schema come with it.{" "}
        {open > 0 && `${several(open, "run")} in flight ${open === 1 ? "stays" : "stay"} on ${open === 1 ? "its" : "their"} version.`}
      </p>
    </ActDialog>
  );
}

function Discard({ workflow, onClose }: DialogProps) {
  const acting = useActing();
  const queries = useQueryClient();
  const discard = async () => {
    const went = await acting.run(() => discardDraft(workflow.name));
    if (!went) return;
    void queries.invalidateQueries({ queryKey: ["workflows"] });
    toast("The draft is gone");
    onClose();
  };
  return (
    <ActDialog title="Discard the draft" word="Discard it" danger acting={acting} onClose={onClose} onDo={() => void discard()}>
      <p>
        Revision {workflow.draft?.revision} of the draft is deleted and cannot be brought back.{" "}
        {workflow.current_version > 0 ? `Version ${workflow.current_version} goes on as it is.` : "The workflow has no version yet."}
      </p>
    </ActDialog>
  );
}
