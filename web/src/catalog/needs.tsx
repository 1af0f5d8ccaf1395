/** What a connector needs of its environment, and whether the node that answers has it. */
import { CircleCheck } from "lucide-react";
import type { Connector } from "../api/catalog";
import { CopyButton } from "../parts/copy";
import { Notice } from "../parts/notice";
import styles from "./catalog.module.css";
import { variablesOf } from "./words";

export function Needs({ connector }: { connector: Connector }) {
  const names = variablesOf(connector);
  if (names.length === 0) return null;
  const missing = new Set(connector.missing);
  if (missing.size === 0) {
    return (
      <p className={styles["set"]}>
        <CircleCheck className="icon small t-ok" aria-hidden />
        <span>
          This node has{" "}
          {names.map((name, i) => (
            <span key={name}>
              {i > 0 && " and "}
              <code>{name}</code>
            </span>
          ))}
          .
        </span>
      </p>
    );
  }
  return (
    <Notice tone="hold">
      This node lacks{" "}
      {[...missing].map((name, i) => (
        <span key={name}>
          {i > 0 && " and "}
          <code>{name}</code>
          <CopyButton text={name} what={name} />
        </span>
      ))}
      . Set {missing.size === 1 ? "it" : "them"} in the environment of every node and start it again. Until then steps fail with{" "}
      <code>missing_credential</code>.
    </Notice>
  );
}
