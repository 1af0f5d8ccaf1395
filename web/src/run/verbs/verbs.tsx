/** What can be done to a run now. Each word says what will happen; dialogs say it with names and numbers. */
import {
  Ban, Check, CircleHelp, Download, Ellipsis, FastForward, FlaskConical, GitBranch, Link2, Pause, Play, RotateCw, SkipForward, SquarePen,
} from "lucide-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { saying } from "../../api/client";
import { act, currentQuery, exportAddress, graphQuery, type Outline, outlineQuery, type RunStep } from "../../api/run";
import { Button, LinkButton } from "../../parts/button";
import { download } from "../../parts/download";
import { Menu, MenuItem, MenuLine } from "../../parts/menu";
import { toast } from "../../parts/toast";
import { hasEnded } from "../live";
import type { Places } from "../place";
import { credentialOf } from "../sentence";
import { isOver } from "../travel";
import styles from "./verbs.module.css";

/** Steps that a verb can be about. */
export function waitingStep(steps: readonly RunStep[]): RunStep | undefined {
  return steps.find((one) => one.kind === "wait" && one.status === "waiting" && one.reason !== "uncertain");
}
export function uncertainStep(steps: readonly RunStep[]): RunStep | undefined {
  return steps.find((one) => one.reason === "uncertain");
}
/** Steps that the run is at: they can be skipped or tried again. */
export function currentSteps(steps: readonly RunStep[]): RunStep[] {
  return steps.filter((one) => !isOver(one.status) && one.status !== "pending");
}

interface Props {
  id: string;
  outline: Outline;
  places: Places;
}

export function Verbs({ id, outline, places }: Props) {
  const { run, steps } = outline;
  const ended = hasEnded(run.status);
  const wait = ended ? undefined : waitingStep(steps);
  const uncertain = ended ? undefined : uncertainStep(steps);
  const { data: workflow } = useQuery(currentQuery(run.workflow_id));
  const ask = (verb: string) => places.go({ verb });
  const now = useNow(id);
  const paused = run.status === "paused";
  const current = workflow?.current_version ?? run.version;
  const retry = ended && run.status !== "completed";
  return (
    <div className={styles["verbs"]} role="group" aria-label="What can be done">
      {uncertain && (
        <Button kind="primary" needs="resolve_run_step" onClick={() => ask("resolve")}>
          <CircleHelp className="icon" aria-hidden />
          Say what happened…
        </Button>
      )}
      {wait && !uncertain && (
        <Button kind="primary" needs="answer_run_step" onClick={() => ask("answer")}>
          <Check className="icon" aria-hidden />
          Answer…
        </Button>
      )}
      {retry && (
        <Button kind="primary" needs="retry_run" onClick={() => ask("retry")}>
          <RotateCw className="icon" aria-hidden />
          Retry…
        </Button>
      )}
      {!ended && !paused && (
        <Button className={styles["wide"]} needs="pause_run" onClick={() => now("pause", "Paused. Attempts in flight end, nothing new starts")}>
          <Pause className="icon" aria-hidden />
          Pause
        </Button>
      )}
      {paused && run.paused_by === "credential" && (
        <LinkButton kind="primary" needs="connect_credential" to={`/admin/credentials?credential=${encodeURIComponent(credentialOf(outline) ?? "")}`}>
          <Link2 className="icon" aria-hidden />
          Reconnect…
        </LinkButton>
      )}
      {paused && !uncertain && (
        <Button kind={wait || run.paused_by === "credential" ? "plain" : "primary"} needs="resume_run" onClick={() => now("resume", "Resumed")}>
          <Play className="icon" aria-hidden />
          Resume
        </Button>
      )}
      {!ended && (
        <Button className={styles["wide"]} needs="cancel_run" onClick={() => ask("cancel")}>
          <Ban className="icon" aria-hidden />
          Cancel…
        </Button>
      )}
      {ended && (
        <Button className={styles["wide"]} needs="rerun_run" onClick={() => ask("rerun")}>
          <SquarePen className="icon" aria-hidden />
          Run again…
        </Button>
      )}
      <Menu
        align="end"
        button={
          <Button square aria-label="More that can be done">
            <Ellipsis className="icon" aria-hidden />
          </Button>
        }
      >
        {!ended && !paused && (
          <MenuItem icon={Pause} needs="pause_run" onSelect={() => now("pause", "Paused. Attempts in flight end, nothing new starts")} hint="Attempts in flight end, nothing new starts">
            Pause
          </MenuItem>
        )}
        {!ended && currentSteps(steps).length > 0 && (
          <>
            <MenuItem icon={SkipForward} needs="skip_run_step" onSelect={() => ask("skip")} hint="Says what is skipped with it">
              Skip a step…
            </MenuItem>
            <MenuItem icon={RotateCw} needs="reattempt_run_step" onSelect={() => ask("reattempt")} hint="Stops the attempt in flight and starts another">
              Try a step again…
            </MenuItem>
          </>
        )}
        {!ended && (
          <>
            <MenuItem icon={FastForward} needs="finish_run" onSelect={() => ask("finish")} hint="Steps that have not ended are skipped">
              Complete it now…
            </MenuItem>
            {current !== run.version && (
              <MenuItem icon={GitBranch} needs="move_run" onSelect={() => ask("move")} hint={`It goes on with version ${current}`}>
                Move to version {current}…
              </MenuItem>
            )}
            <MenuItem icon={Ban} danger needs="cancel_run" onSelect={() => ask("cancel")} hint="Open steps end cancelled">
              Cancel…
            </MenuItem>
          </>
        )}
        <MenuLine />
        <MenuItem icon={SquarePen} needs="rerun_run" onSelect={() => ask("rerun")} hint={`A new run from the beginning, on version ${current}`}>
          Run again with edits…
        </MenuItem>
        <MenuItem icon={GitBranch} needs="fork_run" onSelect={() => ask("fork")} hint="A new run that begins at a step">
          Fork from a step…
        </MenuItem>
        <MenuLine />
        <MenuItem icon={FlaskConical} onSelect={() => download(exportAddress(id, "test"))} hint="A Python file that replays this run">
          Save as test
        </MenuItem>
        {(workflow?.form === "steps" || workflow?.form === "graph") && (
          <MenuItem icon={FlaskConical} onSelect={() => download(exportAddress(id, "test-yaml"))} hint="A YAML file for detent test">
            Save as YAML test
          </MenuItem>
        )}
        <MenuItem icon={Download} onSelect={() => download(exportAddress(id, "json"))} hint="Run, journal and definition">
          Export JSON
        </MenuItem>
      </Menu>
    </div>
  );
}

/** Do something at once, and say that it was done. */
export function useNow(id: string): (verb: string, done: string, body?: unknown) => void {
  const queries = useQueryClient();
  return (verb, done, body) => {
    act(id, verb, body).then(
      () => {
        toast(done);
        void queries.invalidateQueries({ queryKey: outlineQuery(id).queryKey });
        void queries.invalidateQueries({ queryKey: graphQuery(id).queryKey });
      },
      (error: unknown) => toast(saying(error), { tone: "fail" }),
    );
  };
}
