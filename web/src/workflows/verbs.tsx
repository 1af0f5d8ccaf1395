/** What can be done to a workflow. Which dialog is open is in the URL (`?do=`), so that it can be linked to. */
import { Archive, ArchiveRestore, ChevronsRight, CirclePause, CirclePlay, Ellipsis, Play, Trash2, Upload } from "lucide-react";
import type { Workflow } from "../api/documents";
import { Button } from "../parts/button";
import { Menu, MenuItem, MenuLine } from "../parts/menu";
import { usePlace } from "../shell/place";
import styles from "./verbs.module.css";

export function Verbs({ workflow }: { workflow: Workflow }) {
  const place = usePlace();
  const open = (verb: string) => () => place.set({ do: verb });
  const isArchived = workflow.status === "archived";
  const canStart = workflow.status === "active" && workflow.enabled;
  return (
    <div className={styles["verbs"]} role="group" aria-label="What can be done">
      {workflow.draft && !isArchived && (
        <Button kind={canStart ? "plain" : "primary"} needs="publish_workflow" onClick={open("publish")}>
          <Upload className="icon" aria-hidden />
          Publish…
        </Button>
      )}
      {isArchived ? (
        <Button needs="reactivate_workflow" onClick={open("reactivate")}>
          <ArchiveRestore className="icon" aria-hidden />
          Reactivate…
        </Button>
      ) : !workflow.enabled ? (
        <Button needs="enable_workflow" onClick={open("enable")}>
          <CirclePlay className="icon" aria-hidden />
          Enable…
        </Button>
      ) : null}
      {canStart && (
        <Button kind="primary" needs="trigger_workflow" onClick={open("start")}>
          <Play className="icon" aria-hidden />
          Start a run…
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
        {workflow.current_version > 0 && (
          <MenuItem icon={ChevronsRight} needs="move_many_runs" onSelect={open("move")} hint="Counts first, then moves those that can be">
            Move runs in flight…
          </MenuItem>
        )}
        {workflow.enabled && !isArchived && (
          <MenuItem icon={CirclePause} needs="disable_workflow" onSelect={open("disable")} hint="Nothing starts it until it is enabled">
            Disable…
          </MenuItem>
        )}
        {!isArchived && workflow.current_version > 0 && (
          <MenuItem icon={Archive} needs="archive_workflow" onSelect={open("archive")} hint="Its runs go on; it stays readable">
            Archive…
          </MenuItem>
        )}
        {workflow.draft && (
          <>
            <MenuLine />
            <MenuItem icon={Trash2} danger needs="discard_workflow_draft" onSelect={open("discard")} hint={`Revision ${workflow.draft.revision} is lost`}>
              Discard the draft…
            </MenuItem>
          </>
        )}
      </Menu>
    </div>
  );
}
