import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import { Check, Minus, X } from "lucide-react";
import { memo } from "react";
import { kindOf } from "../look/kinds";
import { lookOf } from "../look/status";
import type { Guard } from "./model";
import { useStep } from "./states";
import styles from "./graph.module.css";

export type StepNode = Node<Record<string, never>, "step">;

/** States that have a rule of their own in the style sheet. */
const MARKED: Readonly<Record<string, string | undefined>> = {
  running: styles["lively"],
  waiting: styles["lively"],
  person: styles["loud"],
  scheduled: styles["lively"],
  paused: styles["lively"],
  uncertain: styles["loud"],
  failed: styles["loud"],
  timeout: styles["loud"],
  template_error: styles["loud"],
  skipped: styles["skipped"],
  pending: styles["pending"],
};

/** A step: icon, name, one line about it, and its state. */
export const NodeOfStep = memo(function NodeOfStep({ id, selected }: NodeProps<StepNode>) {
  const step = useStep(id);
  if (!step) return null;
  const look = step.state === null ? null : lookOf(step.state);
  const kind = kindOf(step.progress ? "map" : step.kind);
  const Kind = kind.icon;
  const State = look?.icon;
  const names = [styles["node"], `t-${look?.tone ?? "idle"}`, MARKED[step.state ?? ""], selected ? styles["selected"] : ""];
  return (
    <div className={names.filter(Boolean).join(" ")} data-state={step.state ?? undefined}>
      {step.guard && <GuardChip guard={step.guard} />}
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className={styles["tile"]}>
        <Kind className="icon" aria-hidden />
      </span>
      <span className={styles["words"]}>
        <b title={step.name}>{step.title ?? step.name}</b>
        <small>{step.note}</small>
      </span>
      {look && State && (
        <State className={`icon ${styles["state"]} ${step.state === "running" ? "turning" : ""}`} role="img" aria-label={look.word} />
      )}
      {step.progress && <ProgressBar {...step.progress} />}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

function GuardChip({ guard }: { guard: Guard }) {
  const Icon = guard.held === null ? Minus : guard.held ? Check : X;
  return (
    <span className={`${styles["guard"]} ${guard.held ? styles["held"] : ""}`} title={guard.tip}>
      <Icon aria-hidden />
      <span>{guard.text}</span>
    </span>
  );
}

function ProgressBar({ done, failed, count }: { done: number; failed: number; count: number }) {
  const share = (n: number) => (count ? (100 * n) / count : 0);
  return (
    <svg className={styles["progress"]} viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden>
      <rect className={styles["done"]} width={share(done)} height="3" />
      <rect className={styles["lost"]} x={share(done - failed)} width={share(failed)} height="3" />
    </svg>
  );
}
