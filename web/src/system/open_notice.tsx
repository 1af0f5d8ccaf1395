/** Says that the API is open while it does not ask who calls. */
import { useMe } from "../api/session";
import { Notice } from "../parts/notice";
import styles from "./system.module.css";

export function OpenNotice() {
  const me = useMe();
  if (!me) return null;
  return (
    <div className={styles["notice"]}>
      {!me.authenticated && (
        <Notice tone="hold">
          This API is open: it does not ask who calls. Everything on this page can be done by every program and person that reaches {location.host}. Keep it
          on this machine, or put it behind a proxy that authenticates.
        </Notice>
      )}
      <p className={styles["soft"]}>
        Detent {me.version}, you are <b>{me.caller.name}</b>, tenant {me.caller.tenant}. <a href="docs">All routes of the API</a>
      </p>
    </div>
  );
}
