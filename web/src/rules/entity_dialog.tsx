/** Add an entity, or change its title and the JSON Schema of its records. */
import { useQueryClient } from "@tanstack/react-query";
import { DetentError, type FieldProblem } from "detent-client";
import { useState } from "react";
import { useLocation } from "wouter";
import { saying } from "../api/client";
import { type Entity, saveEntity } from "../api/rules";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { CodeField, TextField } from "../parts/field";
import { Notice } from "../parts/notice";
import { parsed } from "../parts/parse";
import { toast } from "../parts/toast";
import { entityPlace } from "./words";
import styles from "./edit.module.css";

const EXAMPLE = { type: "object", properties: { id: { type: "integer" }, status: { type: "string" } } };

export default function EntityDialog({ entity, onClose }: { entity: Entity | null; onClose: () => void }) {
  const [name, setName] = useState(entity?.name ?? "");
  const [title, setTitle] = useState(entity?.title ?? "");
  const [text, setText] = useState(() => (entity && entity.fields === null ? "" : JSON.stringify(entity?.fields ?? EXAMPLE, null, 2)));
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<{ message: string; problems: readonly FieldProblem[] } | null>(null);
  const queries = useQueryClient();
  const [, go] = useLocation();
  const read = parsed(text);
  const of = (field: string) => refusal?.problems.find((one) => one.field === field)?.message;
  const others = refusal?.problems.filter((one) => one.field !== "name" && one.field !== "title") ?? [];
  const save = async () => {
    if (read.problem !== null || busy || name.trim() === "") return;
    setBusy(true);
    try {
      const saved = await saveEntity(entity?.name ?? null, { name: name.trim(), title: title.trim(), fields: read.value });
      void queries.invalidateQueries({ queryKey: ["entities"] });
      toast(entity ? `Saved: ${saved.name}` : `Added: ${saved.name}`);
      if (entity) onClose();
      else go(entityPlace(saved.name));
    } catch (error) {
      setRefusal(error instanceof DetentError ? { message: error.message, problems: error.problems } : { message: saying(error), problems: [] });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={entity ? `Edit ${entity.name}` : "Add an entity"}
      actions={
        <>
          <Button onClick={onClose}>Do nothing</Button>
          <Button kind="primary" needs="change_entity" disabled={busy || read.problem !== null || name.trim() === ""} onClick={() => void save()}>
            {entity ? "Save it" : "Add it"}
          </Button>
        </>
      }
    >
      <div className={styles["body"]}>
        <div className={styles["row"]}>
          {!entity && <TextField label="Name" value={name} problem={of("name")} hint="As events and rules call it. It never changes." onChange={(event) => setName(event.currentTarget.value)} />}
          <TextField label="Title" value={title} problem={of("title")} hint="What people read." onChange={(event) => setTitle(event.currentTarget.value)} />
        </div>
        <CodeField
          label="JSON Schema of a record"
          value={text}
          rows={14}
          problem={read.problem}
          hint="With it, rules that read another field are refused. Empty if the fields are not known. Ctrl Enter saves."
          onText={setText}
          onSend={() => void save()}
        />
        {refusal && (
          <Notice tone="fail">
            Nothing was saved: {refusal.message}
            {others.length > 0 && (
              <ul className={styles["problems"]} aria-label="Problems">
                {others.map((one, i) => (
                  <li key={i}>
                    {one.field && <code>{one.field}</code>} {one.message}
                  </li>
                ))}
              </ul>
            )}
          </Notice>
        )}
      </div>
    </Dialog>
  );
}
