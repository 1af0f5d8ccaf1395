/** Buttons. The word says what will happen. */
import { type ButtonHTMLAttributes, lazy, type ReactNode, type Ref, Suspense } from "react";
import { Link } from "wouter";
import type { Operation } from "../api/policy";
import { useDenied } from "../api/session";
import styles from "./button.module.css";

type Kind = "plain" | "primary" | "ghost" | "danger";

interface Looks {
  kind?: Kind;
  /** Only an icon: give `aria-label` too. */
  square?: boolean;
  /** What the caller must be allowed to do. Without that the button does nothing and says which scope is missing. */
  needs?: Operation | undefined;
  children: ReactNode;
}

// Only callers that may not do everything load it.
const Denied = lazy(() => import("./denied"));

function classes(kind: Kind, square: boolean | undefined, more = ""): string {
  return [styles["button"], styles[kind], square && styles["square"], more].filter(Boolean).join(" ");
}

export type ButtonProps = Looks & ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement> };

export function Button({ kind = "plain", square, className, type = "button", needs, ...rest }: ButtonProps) {
  const why = useDenied(needs);
  const looks = classes(kind, square, className);
  if (why === undefined) return <button type={type} className={looks} {...rest} />;
  return <Refused why={why} className={looks} label={rest["aria-label"]} children={rest.children} />;
}

/** A link that looks like a button. */
export function LinkButton({ kind = "plain", square, needs, to, children }: Looks & { to: string }) {
  const why = useDenied(needs);
  const looks = classes(kind, square);
  if (why !== undefined) return <Refused why={why} className={looks} children={children} />;
  return (
    <Link href={to} className={looks}>
      {children}
    </Link>
  );
}

function Refused(props: { why: string; className: string; label?: string | undefined; children: ReactNode }) {
  const plain = (
    <button type="button" className={props.className} aria-disabled aria-label={props.label}>
      {props.children}
    </button>
  );
  return (
    <Suspense fallback={plain}>
      <Denied {...props} />
    </Suspense>
  );
}
