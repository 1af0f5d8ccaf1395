/** Parts of the views of rules: conditions that were true or false, and the fields of a record before and after. */
import { CircleCheck, CircleX } from "lucide-react";
import type { Condition } from "../api/rules";
import { changesOf, conditionRows, valueText } from "./words";
import styles from "./page.module.css";

/** Each condition, whether it is true, and the values that decided. */
export function Conditions({ parts }: { parts: readonly Condition[] }) {
  return (
    <ul className={styles["parts"]} aria-label="Conditions">
      {conditionRows(parts).map(({ key, depth, condition }) => {
        const Icon = condition.is_true ? CircleCheck : CircleX;
        return (
          <li key={key} className={styles[condition.is_true ? "true" : "false"]} style={{ paddingLeft: 12 + depth * 20 }}>
            <Icon className="icon" role="img" aria-label={condition.is_true ? "True" : "False"} />
            <b>{condition.match ? `${condition.match === "any" ? "Any" : "All"} of these` : condition.words}</b>
            {!condition.match && <small>{saidValues(condition)}</small>}
            {condition.error && <span className={styles["error"]}>{condition.error}</span>}
          </li>
        );
      })}
    </ul>
  );
}

function saidValues({ before, after, field }: Condition): string {
  const [was, is] = [valueText(before ?? null), valueText(after ?? null)];
  return was === is ? `${field ?? "it"} is ${is}` : `${field ?? "it"} was ${was}, is ${is}`;
}

type Fields = Record<string, unknown> | null | undefined;

/** The fields of a record before and after, changed ones first. */
export function Changes({ before, after }: { before: Fields; after: Fields }) {
  const rows = changesOf(before, after);
  const both = Boolean(before && after);
  return (
    <table className={styles["changes"]}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          {before && <th scope="col">{both ? "Before" : "Was"}</th>}
          {after && <th scope="col">{both ? "After" : "Is"}</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map((one) => (
          <tr key={one.field} className={both && one.isChanged ? styles["changed"] : undefined}>
            <th scope="row">{one.field}</th>
            {before && (
              <td className={styles["was"]}>
                <code>{shortly(one.before)}</code>
              </td>
            )}
            {after && (
              <td className={styles["is"]}>
                <code>{shortly(one.after)}</code>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const LONGEST = 500;

function shortly(value: unknown): string {
  const text = valueText(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
