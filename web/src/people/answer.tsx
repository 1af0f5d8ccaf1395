/** How a wait is answered: an approval by a decision, a form by its fields, and any other wait by a button or a body. */
import { useQueryClient } from "@tanstack/react-query";
import { Check, ChevronRight, Send, X } from "lucide-react";
import { type FormEvent, useMemo, useState } from "react";
import type { Ask, Wait } from "../api/documents";
import { answer } from "../api/run";
import { useMay } from "../api/session";
import { waitsQuery, withoutWait } from "../api/waits";
import { several } from "../look/numbers";
import { useActing } from "../parts/act";
import { Button } from "../parts/button";
import { CodeField, TextField } from "../parts/field";
import { Notice } from "../parts/notice";
import { parsed } from "../parts/parse";
import { SchemaField } from "../parts/schema/field";
import { fieldsOf, type FormField, type FormValue, valueOf } from "../parts/schema/fields";
import { toast } from "../parts/toast";
import { askedChoices, choicesOf, draftOf } from "./choices";
import styles from "./inbox.module.css";

interface Props {
  wait: Wait;
  definition: unknown;
  onAnswered: () => void;
}

/** What a wait is called: by its title, or by what it asks. */
export function nameOf(wait: Wait): string {
  return wait.title ?? wait.question ?? wait.step;
}

interface Sending {
  busy: boolean;
  send: (body: unknown) => void;
}

export function Answer({ wait, definition, onAnswered }: Props) {
  const queries = useQueryClient();
  const acting = useActing();
  const { ask } = wait;
  const send = async (body: unknown) => {
    if (!(await acting.run(() => answer(wait.run.id, wait.step, body)))) return;
    queries.setQueryData(waitsQuery().queryKey, (pages) => withoutWait(pages, wait.run.id, wait.step));
    void queries.invalidateQueries({ queryKey: ["waits"] });
    void queries.invalidateQueries({ queryKey: ["runs", "counts"] });
    toast(`Answered ${nameOf(wait)}`);
    onAnswered();
  };
  const sending: Sending = { busy: acting.busy, send: (body) => void send(body) };
  return (
    <div className={styles["answer"]}>
      {ask?.kind === "approval" ? (
        <Decision ask={ask} {...sending} />
      ) : ask?.form ? (
        <Form form={ask.form} {...sending} />
      ) : (
        <Body wait={wait} definition={definition} {...sending} />
      )}
      {acting.error && <Notice tone="fail">{acting.error}</Notice>}
    </div>
  );
}

/** What a person writes into the fields of a schema. `problems` are shown after the first attempt to send. */
function useFields(schema: unknown) {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [isTried, setTried] = useState(false);
  const found: FormValue = valueOf(fields, texts);
  const missing = Object.keys(found.problems).length;
  const shown = fields.map((field: FormField) => (
    <SchemaField
      key={field.name}
      field={field}
      text={texts[field.name] ?? field.first}
      problem={isTried ? found.problems[field.name] : undefined}
      onText={(text) => setTexts((now) => ({ ...now, [field.name]: text }))}
    />
  ));
  const notice = isTried && missing > 0 && <Notice tone="fail">{several(missing, "field needs", "fields need")} an answer.</Notice>;
  const fits = () => {
    setTried(true);
    return missing === 0;
  };
  return { shown, notice, fits, value: found.value, isEmpty: fields.length === 0 };
}

function Decision({ ask, busy, send }: { ask: Ask } & Sending) {
  const form = useFields(ask.form);
  const [comment, setComment] = useState("");
  const may = useMay()("answer_run_step");
  if (!ask.may_decide) {
    const who = ask.assignees.length > 0 ? ` It asks ${ask.assignees.join(", ")}.` : "";
    return <Notice>You may not decide this, or have decided it already.{who}</Notice>;
  }
  const said = comment.trim() ? { comment: comment.trim() } : {};
  const approve = (event: FormEvent) => {
    event.preventDefault();
    if (!may || busy || !form.fits()) return;
    send({ approved: true, ...said, ...(!form.isEmpty && { answer: form.value }) });
  };
  return (
    <form className={styles["form"]} onSubmit={approve} noValidate aria-label="Decision">
      {form.shown}
      <TextField label="Comment (optional)" value={comment} onChange={(event) => setComment(event.currentTarget.value)} />
      {form.notice}
      <div className={styles["choices"]} role="group" aria-label="Decide">
        <Button type="submit" needs="answer_run_step" kind="primary" disabled={busy}>
          <Check className="icon" aria-hidden />
          Approve
        </Button>
        <Button needs="answer_run_step" disabled={busy} onClick={() => send({ approved: false, ...said })}>
          <X className="icon" aria-hidden />
          Reject
        </Button>
      </div>
    </form>
  );
}

function Form({ form, busy, send }: { form: unknown } & Sending) {
  const fields = useFields(form);
  const may = useMay()("answer_run_step");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (may && !busy && fields.fits()) send(fields.value);
  };
  return (
    <form className={styles["form"]} onSubmit={submit} noValidate aria-label="Answer">
      {fields.shown}
      {fields.notice}
      <div className={styles["choices"]}>
        <Button type="submit" needs="answer_run_step" kind="primary" disabled={busy}>
          <Send className="icon" aria-hidden />
          Send
        </Button>
      </div>
    </form>
  );
}

function Body({ wait, definition, busy, send }: { wait: Wait; definition: unknown } & Sending) {
  const may = useMay()("answer_run_step");
  const choices = useMemo(() => askedChoices(wait.ask) ?? choicesOf(wait.step, definition), [wait.ask, wait.step, definition]);
  const [text, setText] = useState(() => JSON.stringify(draftOf(wait.step, definition), null, 2));
  const { value, problem } = parsed(text);
  return (
    <>
      {choices.length > 0 && (
        <div className={styles["choices"]} role="group" aria-label="Answer by a button">
          {choices.map((one, i) => (
            <Button key={one.word} needs="answer_run_step" kind={i === 0 ? "primary" : "plain"} disabled={busy} onClick={() => send(one.body)}>
              {i === 0 && <Check className="icon" aria-hidden />}
              {one.word}
            </Button>
          ))}
        </div>
      )}
      <details open={choices.length === 0}>
        <summary>
          <ChevronRight className="icon small" aria-hidden />
          {choices.length > 0 ? "Answer with another body" : "Answer"}
        </summary>
        <CodeField
          label="Body, as JSON"
          hint={
            <>
              Later steps read it as <code>tasks.{wait.step}.body</code>. Ctrl Enter sends it.
            </>
          }
          value={text}
          rows={5}
          problem={problem}
          onText={setText}
          onSend={() => may && problem === null && send(value)}
        />
        <Button needs="answer_run_step" kind={choices.length > 0 ? "plain" : "primary"} disabled={busy || problem !== null} onClick={() => send(value)}>
          <Send className="icon" aria-hidden />
          Answer with this body
        </Button>
      </details>
    </>
  );
}
