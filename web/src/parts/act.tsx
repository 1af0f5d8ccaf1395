/** Doing something that a person asked for: what is under way, what went wrong, and a dialog around both. */
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { saying } from "../api/client";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { Notice } from "./notice";
import styles from "./act.module.css";

export interface Acting {
  busy: boolean;
  error: string | null;
  /** Do it. False if it went wrong; then `error` says why. */
  run: (job: () => Promise<unknown>) => Promise<boolean>;
  forget: () => void;
}

export function useActing(): Acting {
  const [state, setState] = useState<{ busy: boolean; error: string | null }>({ busy: false, error: null });
  return {
    ...state,
    run: async (job) => {
      setState({ busy: true, error: null });
      try {
        await job();
        setState({ busy: false, error: null });
        return true;
      } catch (error) {
        setState({ busy: false, error: saying(error) });
        return false;
      }
    },
    forget: () => setState({ busy: false, error: null }),
  };
}

interface Props {
  title: string;
  /** The verb on the button; without it there is only a way out. */
  word?: string;
  acting: Acting;
  onClose: () => void;
  onDo?: () => void;
  danger?: boolean;
  disabled?: boolean;
  wide?: boolean;
  /** Further buttons, before the verb. */
  more?: ReactNode;
  /** The word on the way out. */
  leave?: string;
  children: ReactNode;
}

export function ActDialog({ title, word, acting, onClose, onDo, danger, disabled, wide, more, leave, children }: Props) {
  const isOff = acting.busy || (disabled ?? false);
  // Enter in a line of text does it, as in any form.
  const onKeyDown = (event: KeyboardEvent) => {
    const isLine = event.target instanceof HTMLInputElement && event.target.type !== "checkbox" && event.target.type !== "radio";
    if (event.key !== "Enter" || !isLine || event.nativeEvent.isComposing || event.isDefaultPrevented() || !word || isOff) return;
    event.preventDefault();
    onDo?.();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      wide={wide ?? false}
      actions={
        <>
          <Button onClick={onClose}>{leave ?? "Do nothing"}</Button>
          {more}
          {word && (
            <Button kind={danger ? "danger" : "primary"} disabled={isOff} onClick={onDo}>
              {word}
            </Button>
          )}
        </>
      }
    >
      <div className={styles["body"]} onKeyDown={onKeyDown}>
        {children}
        {acting.error !== null && <Notice tone="fail">{acting.error}</Notice>}
      </div>
    </Dialog>
  );
}
