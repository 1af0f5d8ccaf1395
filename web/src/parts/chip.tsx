/** A filter that is on: what, which, and a way to take it off. */
import { X } from "lucide-react";
import styles from "./chip.module.css";

interface Props {
  name: string;
  value: string;
  onRemove?: () => void;
  onEdit?: () => void;
  /** A filter that the server does not know. */
  wrong?: boolean;
}

export function Chip({ name, value, onRemove, onEdit, wrong }: Props) {
  const words = (
    <>
      <i>{name}</i> <span>{value}</span>
    </>
  );
  return (
    <span className={wrong ? `${styles["chip"]} ${styles["wrong"]}` : styles["chip"]}>
      {onEdit ? (
        <button type="button" className={styles["words"]} onClick={onEdit} aria-label={`Change filter ${name} ${value}`}>
          {words}
        </button>
      ) : (
        <span className={styles["words"]}>{words}</span>
      )}
      {onRemove && (
        <button type="button" className={styles["remove"]} onClick={onRemove} aria-label={`Remove filter ${name} ${value}`}>
          <X className="icon small" aria-hidden />
        </button>
      )}
    </span>
  );
}
