import { type Edge, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import { useEdge } from "./states";
import styles from "./graph.module.css";

export type StepEdge = Edge<{ index: number; line: string }, "step">;

/** An edge along its way through the layout. Taken ones are bold, dead ones dashed; the tip says why. */
export const EdgeOfStep = memo(function EdgeOfStep({ id, data }: EdgeProps<StepEdge>) {
  const edge = useEdge(data?.index ?? -1);
  if (!data || !edge) return null;
  return (
    <g className={styles["way"]}>
      <path id={id} d={data.line} className={`${styles["edge"]} ${styles[edge.state] ?? ""}`} />
      {edge.tip && (
        <path d={data.line} className={styles["reach"]}>
          <title>{edge.tip}</title>
        </path>
      )}
    </g>
  );
});
