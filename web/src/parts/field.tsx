/** Fields of forms: each has a label, a hint, and says what is wrong with it. */
import { type InputHTMLAttributes, type KeyboardEvent, type ReactNode, type SelectHTMLAttributes, useId } from "react";
import styles from "./field.module.css";

interface Frame {
  label: string;
  hint?: ReactNode;
  problem?: string | null | undefined;
  /** The label is for screen readers alone. */
  bare?: boolean;
}

function Framed({ id, label, hint, problem, bare, children }: Frame & { id: string; children: ReactNode }) {
  return (
    <div className={styles["field"]}>
      <label htmlFor={id} className={bare ? "unseen" : undefined}>
        {label}
      </label>
      {children}
      {problem ? (
        <p className={styles["problem"]} id={`${id}-says`} role="alert">
          {problem}
        </p>
      ) : (
        hint && (
          <p className={styles["hint"]} id={`${id}-says`}>
            {hint}
          </p>
        )
      )}
    </div>
  );
}

export function TextField({ label, hint, problem, bare, ...rest }: Frame & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <Framed id={id} label={label} hint={hint} problem={problem} bare={bare ?? false}>
      <input id={id} className={styles["input"]} aria-invalid={problem ? true : undefined} aria-describedby={hint || problem ? `${id}-says` : undefined} {...rest} />
    </Framed>
  );
}

export function SelectField({ label, hint, problem, bare, children, ...rest }: Frame & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId();
  return (
    <Framed id={id} label={label} hint={hint} problem={problem} bare={bare ?? false}>
      <select id={id} className={styles["input"]} {...rest}>
        {children}
      </select>
    </Framed>
  );
}

/** A text of several lines in a fixed font, as JSON or headers. Ctrl Enter sends it. */
export function CodeField({
  label,
  hint,
  problem,
  value,
  onText,
  onSend,
  rows = 8,
}: Frame & { value: string; onText: (text: string) => void; onSend?: () => void; rows?: number }) {
  const id = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !onSend) return;
    event.preventDefault();
    onSend();
  };
  return (
    <Framed id={id} label={label} hint={hint} problem={problem}>
      <textarea
        id={id}
        className={styles["code"]}
        rows={rows}
        value={value}
        spellCheck={false}
        autoCapitalize="off"
        autoCorrect="off"
        aria-invalid={problem ? true : undefined}
        aria-describedby={hint || problem ? `${id}-says` : undefined}
        onChange={(event) => onText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </Framed>
  );
}

export function Tick({ label, checked, onTick }: { label: ReactNode; checked: boolean; onTick: (checked: boolean) => void }) {
  return (
    <label className={styles["tick"]}>
      <input type="checkbox" checked={checked} onChange={(event) => onTick(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
