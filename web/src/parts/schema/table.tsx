/** A JSON Schema as a table, with the schema itself below it for those who want it. */
import { ChevronRight } from "lucide-react";
import { count } from "../../look/numbers";
import { JsonBox } from "../json/box";
import { isSchema, schemaRows } from "./rows";
import styles from "./schema.module.css";

export function SchemaTable({ title, schema, empty }: { title: string; schema: unknown; empty: string }) {
  const rows = schemaRows(schema);
  const needed = rows.filter((one) => one.required && one.depth === 0).length;
  return (
    <section className={styles["part"]} aria-label={title}>
      <h2>
        {title}
        {needed > 0 && <small>{count(needed)} required</small>}
      </h2>
      {rows.length === 0 ? (
        <p className={styles["none"]}>{empty}</p>
      ) : (
        <ul className={styles["rows"]}>
          {rows.map((row) => (
            <li key={row.path} style={{ paddingLeft: row.depth * 18 }}>
              <div className={styles["head"]}>
                <code>{row.depth === 0 ? row.path : row.path.split(".").at(-1)}</code>
                <span className={styles["type"]}>{row.type}</span>
                {row.required && <em>required</em>}
                {row.preset && (
                  <span className={styles["soft"]}>
                    default <code>{row.preset}</code>
                  </span>
                )}
                {row.limits && <span className={styles["soft"]}>{row.limits}</span>}
              </div>
              {row.says && <p>{row.says}</p>}
            </li>
          ))}
        </ul>
      )}
      {isSchema(schema) && Object.keys(schema).length > 0 && (
        <details className={styles["raw"]}>
          <summary>
            <ChevronRight className="icon small" aria-hidden />
            JSON Schema
          </summary>
          <JsonBox value={schema} label={`JSON Schema of ${title.toLowerCase()}`} most={420} />
        </details>
      )}
    </section>
  );
}
