/** What differs between two versions: by steps and edges, not by lines. */
import { ArrowRight, Minus, Pencil, Plus } from "lucide-react";
import type { ReactNode } from "react";
import type { Diff, FieldChange } from "../api/workflows";
import { several } from "../look/numbers";
import { kindOf } from "../look/kinds";
import { saidDiff, written } from "./diff_words";
import styles from "./diff.module.css";

/** `step` is what the parts of the graph are called: a rule has actions. */
export function DiffView({ diff, step = "step" }: { diff: Diff; step?: "step" | "action" }) {
  if (diff.same) {
    return (
      <p className={styles["same"]}>
        {said(diff.from)} and {said(diff.to)} do the same.
      </p>
    );
  }
  const { steps, edges, settings } = diff;
  return (
    <div className={styles["diff"]}>
      <p className={styles["same"]}>{saidDiff(diff, step)}</p>
      {steps.added.length + steps.removed.length + steps.changed.length > 0 && (
        <Part title={step === "step" ? "Steps" : "Actions"}>
          {steps.added.map((one) => (
            <Line key={`+${named(one)}`} sign="added" name={named(one)} note={kindOf(String(one["kind"] ?? "")).word}>
              <Fields fields={doing(one)} />
            </Line>
          ))}
          {steps.removed.map((one) => (
            <Line key={`-${named(one)}`} sign="removed" name={named(one)} note={kindOf(String(one["kind"] ?? "")).word} />
          ))}
          {steps.changed.map((one) => (
            <Line key={one.name} sign="changed" name={one.name} note={several(one.fields.length, "field")}>
              <Fields fields={one.fields} />
            </Line>
          ))}
        </Part>
      )}
      {edges.added.length + edges.removed.length + edges.changed.length > 0 && (
        <Part title="Edges">
          {edges.added.map((one, i) => (
            <Line key={i} sign="added" name={edgeName(one)} note={edgeNote(one)} />
          ))}
          {edges.removed.map((one, i) => (
            <Line key={i} sign="removed" name={edgeName(one)} note={edgeNote(one)} />
          ))}
          {edges.changed.map((one, i) => (
            <Line key={i} sign="changed" name={edgeName(one as never)} note="">
              <Fields fields={one.fields} />
            </Line>
          ))}
        </Part>
      )}
      {settings.length > 0 && (
        <Part title="Everything else">
          <li className={styles["line"]}>
            <Fields fields={settings} />
          </li>
        </Part>
      )}
    </div>
  );
}

function said(version: number | string): string {
  return version === "draft" ? "The draft" : `Version ${version}`;
}

function named(step: Record<string, unknown>): string {
  return String(step["name"] ?? "");
}

function edgeName(edge: Record<string, unknown>): ReactNode {
  return (
    <>
      {String(edge["source"])} <ArrowRight className="icon small" role="img" aria-label="to" /> {String(edge["target"])}
    </>
  );
}

function edgeNote(edge: Record<string, unknown>): string {
  return [edge["when"], edge["condition"]].filter((one) => one && one !== "success").join(", ");
}

/** What a new step does, as new fields; how it is tried and for how long is left to its definition. */
function doing(step: Record<string, unknown>): FieldChange[] {
  const config = step["config"];
  if (typeof config !== "object" || config === null) return [];
  return Object.entries(config).flatMap(([field, value]) => (value === null ? [] : [{ field, new: value as unknown }]));
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3>{title}</h3>
      <ul>{children}</ul>
    </section>
  );
}

const SIGNS = {
  added: { icon: Plus, word: "Added" },
  removed: { icon: Minus, word: "Removed" },
  changed: { icon: Pencil, word: "Changed" },
} as const;

function Line({ sign, name, note, children }: { sign: keyof typeof SIGNS; name: ReactNode; note: string; children?: ReactNode }) {
  const { icon: Icon, word } = SIGNS[sign];
  return (
    <li className={`${styles["line"]} ${styles[sign]}`}>
      <p>
        <Icon className="icon small" role="img" aria-label={word} />
        <b>{name}</b>
        <small>{note}</small>
      </p>
      {children}
    </li>
  );
}

function Fields({ fields }: { fields: readonly FieldChange[] }) {
  return (
    <dl className={styles["fields"]}>
      {fields.map((one) => (
        <div key={one.field}>
          <dt>{one.field}</dt>
          <dd>
            {"old" in one && (
              <del>
                <span className="unseen">was </span>
                {written(one.old)}
              </del>
            )}
            {"new" in one && (
              <ins>
                <span className="unseen">is </span>
                {written(one.new)}
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
