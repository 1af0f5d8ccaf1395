/** A dialog: the browser's own, so focus, Escape and the ground behind it work by themselves. */
import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { Button } from "./button";
import styles from "./dialog.module.css";

interface Props {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  /** Buttons at the end. */
  actions?: ReactNode;
  wide?: boolean;
  /** No head: the content brings its own, as in the palette. */
  bare?: boolean;
}

export function Dialog(props: Props) {
  return props.open ? <Opened {...props} /> : null;
}

function Opened({ onClose, title, children, actions, wide, bare }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    // The first field is what a person came for; where there is none, Enter leaves the dialog and does nothing.
    const field = dialog?.querySelector<HTMLElement>("input, select, textarea");
    (field ?? dialog?.querySelector<HTMLElement>("footer button"))?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      className={[styles["dialog"], wide && styles["wide"], bare && styles["bare"]].filter(Boolean).join(" ")}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <div className={styles["sheet"]}>
        <header className={bare ? "unseen" : styles["head"]}>
          <h2 id={name}>{title}</h2>
          {!bare && (
            <Button kind="ghost" square aria-label="Close" onClick={onClose}>
              <X className="icon" aria-hidden />
            </Button>
          )}
        </header>
        <div className={styles["body"]}>{children}</div>
        {actions && <footer className={styles["actions"]}>{actions}</footer>}
      </div>
    </dialog>
  );
}
