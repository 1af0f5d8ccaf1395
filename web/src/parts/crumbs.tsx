/** The way to what is shown. */
import { ChevronRight } from "lucide-react";
import { Fragment } from "react";
import { Link } from "wouter";
import styles from "./crumbs.module.css";

export function Crumbs({ way, children }: { way: [word: string, to: string][]; children?: React.ReactNode }) {
  return (
    <nav className={styles["crumbs"]} aria-label="Breadcrumb">
      {way.map(([word, to], i) => (
        <Fragment key={to}>
          {i > 0 && <ChevronRight className="icon small" aria-hidden />}
          <Link href={to}>{word}</Link>
        </Fragment>
      ))}
      {children && (
        <>
          <ChevronRight className="icon small" aria-hidden />
          {children}
        </>
      )}
    </nav>
  );
}
