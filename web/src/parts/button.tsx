/** Buttons. The word says what will happen. */
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { Link } from "wouter";
import styles from "./button.module.css";

type Kind = "plain" | "primary" | "ghost" | "danger";

interface Looks {
  kind?: Kind;
  /** Only an icon: give `aria-label` too. */
  square?: boolean;
  children: ReactNode;
}

function classes(kind: Kind, square: boolean | undefined, more = ""): string {
  return [styles["button"], styles[kind], square && styles["square"], more].filter(Boolean).join(" ");
}

export type ButtonProps = Looks & ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement> };

export function Button({ kind = "plain", square, className, type = "button", ...rest }: ButtonProps) {
  return <button type={type} className={classes(kind, square, className)} {...rest} />;
}

/** A link that looks like a button. */
export function LinkButton({ kind = "plain", square, to, children }: Looks & { to: string }) {
  return (
    <Link href={to} className={classes(kind, square)}>
      {children}
    </Link>
  );
}
