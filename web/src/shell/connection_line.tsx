/** A quiet line below the bar when the server does not answer. No toast: it goes by itself. */
import { live, useConnection } from "../api/live";
import { useNow } from "../api/session";
import styles from "./connection_line.module.css";

export function ConnectionLine() {
  const connection = useConnection();
  return connection.state === "lost" ? <Lost again={connection.again} /> : null;
}

function Lost({ again }: { again: number }) {
  useNow();
  const seconds = Math.max(0, Math.ceil((again - Date.now()) / 1000));
  return (
    <p className={styles["line"]} role="status">
      <span>No live updates: the server does not answer.</span>
      <span aria-hidden>{seconds > 0 ? `Next try in ${seconds} s` : "Trying now"}</span>
      <button type="button" onClick={() => live.retry()}>
        Try now
      </button>
    </p>
  );
}
