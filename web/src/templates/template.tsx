/** One template: what it does, and a form made of the schema of its config. Its result is the draft of a workflow. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { DetentError } from "detent-client";
import { PencilLine } from "lucide-react";
import { type FormEvent, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { isMissing, saying } from "../api/client";
import { useMay, useTitle } from "../api/session";
import { instantiate, type Template, templateQuery } from "../api/templates";
import { several } from "../look/numbers";
import { Button } from "../parts/button";
import { Crumbs } from "../parts/crumbs";
import { TextField } from "../parts/field";
import { JsonBox } from "../parts/json/box";
import { Notice } from "../parts/notice";
import { SchemaField } from "../parts/schema/field";
import { fieldsOf, valueOf } from "../parts/schema/fields";
import { Empty, Failure, isLost, Waiting } from "../parts/states";
import { toast } from "../parts/toast";
import { placeOf } from "../workflows/state";
import { stepsOf } from "./steps";
import styles from "./templates.module.css";

export default function TemplatePage({ params }: { params: Record<string, string | undefined> }) {
  const id = params["template"] ?? "";
  const { data, error, refetch } = useQuery(templateQuery(id));
  useTitle(data?.title ?? id);
  if (error && isMissing(error)) {
    return (
      <Empty title="There is no such template">
        <p>
          No template has the id {id}. <Link href="/catalog/templates" className={styles["link"] ?? ""}>Show all templates</Link>
        </p>
      </Empty>
    );
  }
  if (isLost(error, data)) return <Failure error={error} what={`The template ${id} could not be shown`} onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The template is loading" />;
  return (
    <div className={styles["page"]}>
      <header className={styles["header"]}>
        <Crumbs way={[["Catalog", "/catalog"], ["Templates", "/catalog/templates"]]}>
          <span>{id}</span>
        </Crumbs>
        <h1>{data.title}</h1>
        <p>{data.description}</p>
      </header>
      <div className={styles["body"]}>
        <Config key={id} template={data} />
        <Inside template={data} />
      </div>
    </div>
  );
}

function Config({ template }: { template: Template }) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  const fields = useMemo(() => fieldsOf(template.config_schema), [template.config_schema]);
  const [name, setName] = useState(template.id);
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [isSent, setSent] = useState(false);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ message: string; fields: Record<string, string> } | null>(null);
  const may = useMay()("instantiate_workflow_template");
  const { value, problems } = valueOf(fields, texts);
  const shown = (field: string) => refused?.fields[field] ?? (isSent ? problems[field] : undefined);
  const write = (field: string, text: string) => {
    setTexts((now) => ({ ...now, [field]: text }));
    setRefused(null);
  };
  const make = async (event: FormEvent) => {
    event.preventDefault();
    setSent(true);
    if (busy || !may || Object.keys(problems).length > 0) return;
    setBusy(true);
    try {
      const made = await instantiate(template.id, name.trim(), value);
      await queries.invalidateQueries({ queryKey: ["workflows"] });
      toast(made.problems.length === 0 ? `${made.workflow} is a draft` : `${made.workflow} is a draft with ${several(made.problems.length, "problem")}`);
      go(placeOf(made.workflow, "versions", "/draft"));
    } catch (error) {
      setRefused(refusalOf(error));
      setBusy(false);
    }
  };
  return (
    <form className={styles["form"]} onSubmit={(event) => void make(event)} noValidate aria-label="Config">
      <TextField label="Name of the workflow" value={name} autoCapitalize="off" spellCheck={false} problem={refused?.fields["name"]} onChange={(event) => setName(event.currentTarget.value)} />
      {fields.map((field) => (
        <SchemaField key={field.name} field={field} text={texts[field.name] ?? field.first} problem={shown(field.name)} onText={(text) => write(field.name, text)} />
      ))}
      {refused && <Notice tone="fail">{refused.message}</Notice>}
      {isSent && Object.keys(problems).length > 0 && !refused && <Notice tone="fail">{several(Object.keys(problems).length, "field needs", "fields need")} an answer.</Notice>}
      <div>
        <Button type="submit" kind="primary" needs="instantiate_workflow_template" disabled={busy || name.trim() === ""}>
          <PencilLine className="icon" aria-hidden />
          Make a draft of it
        </Button>
      </div>
      <p className={styles["soft"]}>Nothing runs before the draft is published.</p>
    </form>
  );
}

function Inside({ template }: { template: Template }) {
  const steps = stepsOf(template.definition);
  return (
    <section className={styles["inside"]} aria-label="What is in it">
      <h2>{several(steps.length, "step")}</h2>
      <ol>
        {steps.map((one) => (
          <li key={one.name}>
            <b>{one.name}</b>
            <span>{one.does}</span>
            {one.note && <small>{one.note}</small>}
          </li>
        ))}
      </ol>
      <details>
        <summary>Its definition</summary>
        <JsonBox value={template.definition ?? {}} label="Definition" most={520} />
      </details>
    </section>
  );
}

/** What the server refused, by the field that it means. */
function refusalOf(error: unknown): { message: string; fields: Record<string, string> } {
  if (!(error instanceof DetentError) || error.problems.length === 0) return { message: saying(error), fields: {} };
  const named = error.problems.map((one) => [(one.field ?? "").replace(/^config\./, "").split(/[.[]/)[0] ?? "", one.message] as const);
  return { message: error.message, fields: Object.fromEntries(named) };
}
