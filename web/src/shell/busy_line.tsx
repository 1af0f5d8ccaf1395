/** A thin line at the top while a first answer takes longer than a moment. What is there is renewed without a sign. */
import { type Query, useIsFetching } from "@tanstack/react-query";
import styles from "./busy_line.module.css";

const isFirst = (query: Query) => query.state.data === undefined;

export function BusyLine() {
  return useIsFetching({ predicate: isFirst }) > 0 ? <div className={styles["busy"]} aria-hidden /> : null;
}
