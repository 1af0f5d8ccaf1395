/** Two panes with an edge between them that can be dragged, or moved by arrow keys. Its place is kept. */
import { type CSSProperties, type ReactNode, useRef } from "react";
import { usePreference } from "../../shell/preferences";
import { clamped } from "./share";
import styles from "./split.module.css";

interface Props {
  /** Its place is kept under this name. */
  name: string;
  /** `rows`: one above the other. */
  direction: "rows" | "columns";
  first: ReactNode;
  second: ReactNode;
  label: string;
  /** Parts of the whole that the first pane takes, in percent. */
  initial?: number;
  least?: number;
  most?: number;
}

export function Split({ name, direction, first, second, label, initial = 50, least = 15, most = 85 }: Props) {
  const [kept, keep] = usePreference(`split.${name}`, String(initial));
  const box = useRef<HTMLDivElement>(null);
  const share = clamped(Number(kept) || initial, least, most);
  const move = (to: number) => keep(String(Math.round(clamped(to, least, most) * 10) / 10));
  return (
    <div ref={box} className={styles[direction]} style={{ "--share": `${share}%` } as CSSProperties}>
      <div className={styles["pane"]}>{first}</div>
      <div
        className={styles["edge"]}
        role="separator"
        tabIndex={0}
        aria-label={label}
        aria-orientation={direction === "rows" ? "horizontal" : "vertical"}
        aria-valuenow={Math.round(share)}
        aria-valuemin={least}
        aria-valuemax={most}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={(event) => {
          if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
          const whole = box.current?.getBoundingClientRect();
          if (!whole) return;
          const part = direction === "rows" ? (event.clientY - whole.top) / whole.height : (event.clientX - whole.left) / whole.width;
          move(part * 100);
        }}
        onDoubleClick={() => move(initial)}
        onKeyDown={(event) => {
          const step = { ArrowUp: -2, ArrowLeft: -2, ArrowDown: 2, ArrowRight: 2 }[event.key];
          if (step) move(share + step);
        }}
      />
      <div className={styles["pane"]}>{second}</div>
    </div>
  );
}
