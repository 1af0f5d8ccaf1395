/** A JSON value in a frame that is as high as it needs, up to a limit; beyond it the value scrolls. */
import { beginsOpen, flatten } from "./flatten";
import { JsonTree } from "./tree";
import styles from "./box.module.css";

const HEAD = 42;
const ROW = 24;
const LEAST = 1;

/** The height that a value needs when its upper branches are open. */
export function heightOf(value: unknown, most: number): number {
  const rows = flatten(value, (_, depth, size) => beginsOpen(depth, size)).length;
  return Math.min(most, HEAD + ROW * Math.max(LEAST, rows) + 8);
}

export function JsonBox({ value, label, most = 320 }: { value: unknown; label: string; most?: number }) {
  return (
    <div className={styles["box"]} style={{ height: heightOf(value, most) }}>
      <JsonTree value={value} label={label} />
    </div>
  );
}
