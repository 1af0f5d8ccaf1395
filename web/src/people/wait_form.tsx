/** What a wait asks, and how it is answered: by a button where the definition says what it compares with, or by a body. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowRight, Check, ChevronRight, Send } from "lucide-react";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import type { Wait } from "../api/documents";
import { answer } from "../api/run";
import { now, useMay } from "../api/session";
import { definitionQuery, waitsQuery, withoutWait } from "../api/waits";
import { moment } from "../look/time";
import { useActing } from "../parts/act";
import { Button } from "../parts/button";
import { CodeField } from "../parts/field";
import { JsonBox } from "../parts/json/box";
import { Notice } from "../parts/notice";
import { parsed } from "../parts/parse";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { askedChoices, askedDraft, choicesOf, draftOf } from "./choices";
import { Deadline } from "./inbox";
import styles from "./inbox.module.css";

export function AnswerForm({ wait, onAnswered }: { wait: Wait; onAnswered: () => void }) {
  const { run, step } = wait;
  const definition = useQuery(definitionQuery(run.workflow_id, run.version));
  return (
    <article className={styles["wait"]}>
      <header>
        <Status of="waiting" pill />
        <h2>{wait.title ?? step}</h2>
      </header>
      {wait.question && <p className={styles["question"]}>{wait.question}</p>}
      <dl className={styles["facts"]}>
        <dt>Step</dt>
        <dd>
          <Link href={`/runs/${run.id}?step=${encodeURIComponent(step)}`}>{step}</Link> of{" "}
          <Link href={`/workflows/${encodeURIComponent(run.workflow)}`}>{run.workflow}</Link>
        </dd>
        {run.hero && (
          <>
            <dt>About</dt>
            <dd>
              <Link href={`/heroes/${encodeURIComponent(run.hero.type)}/${encodeURIComponent(run.hero.id)}`}>
                {run.hero.type} {run.hero.id}
              </Link>
            </dd>
          </>
        )}
        <dt>Asked</dt>
        <dd>
          <Time at={wait.created_at} />
        </dd>
        <dt>Deadline</dt>
        <dd>
          <Deadline until={wait.until} />
          {wait.until && (
            <span className={styles["soft"]}>
              {moment(Date.parse(wait.until), "local", now())}
            </span>
          )}
        </dd>
      </dl>
      {wait.ask?.text && <p className={styles["question"]}>{wait.ask.text}</p>}
      {wait.ask?.data !== null && wait.ask?.data !== undefined && (
        <div className={styles["led"]}>
          <h3>What is asked about</h3>
          <JsonBox value={wait.ask.data} label="What is asked about" />
        </div>
      )}
      {definition.isPending ? null : <Answer wait={wait} definition={definition.data} onAnswered={onAnswered} />}
      {wait.input !== null && wait.input !== undefined && (
        <div className={styles["led"]}>
          <h3>What led here</h3>
          <JsonBox value={wait.input} label="What led here" />
        </div>
      )}
      <Link href={`/runs/${run.id}`} className={styles["go"] ?? ""}>
        Open the run
        <ArrowRight className="icon small" aria-hidden />
      </Link>
    </article>
  );
}

function Answer({ wait, definition, onAnswered }: { wait: Wait; definition: unknown; onAnswered: () => void }) {
  const queries = useQueryClient();
  const acting = useActing();
  const may = useMay()("answer_run_step");
  const choices = useMemo(() => askedChoices(wait.ask) ?? choicesOf(wait.step, definition), [wait.ask, wait.step, definition]);
  const [text, setText] = useState(() => JSON.stringify(askedDraft(wait.ask) ?? draftOf(wait.step, definition), null, 2));
  const { value, problem } = parsed(text);
  const send = async (body: unknown) => {
    if (!(await acting.run(() => answer(wait.run.id, wait.step, body)))) return;
    queries.setQueryData(waitsQuery().queryKey, (pages) => withoutWait(pages, wait.run.id, wait.step));
    void queries.invalidateQueries({ queryKey: ["waits"] });
    void queries.invalidateQueries({ queryKey: ["runs", "counts"] });
    toast(`Answered ${wait.title ?? wait.step}; the run goes on`);
    onAnswered();
  };
  return (
    <div className={styles["answer"]}>
      {choices.length > 0 && (
        <div className={styles["choices"]} role="group" aria-label="Answer by a button">
          {choices.map((one, i) => (
            <Button key={one.word} needs="answer_run_step" kind={i === 0 ? "primary" : "plain"} disabled={acting.busy} onClick={() => void send(one.body)}>
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
          onSend={() => may && problem === null && void send(value)}
        />
        <Button needs="answer_run_step" kind={choices.length > 0 ? "plain" : "primary"} disabled={acting.busy || problem !== null} onClick={() => void send(value)}>
          <Send className="icon" aria-hidden />
          Answer with this body
        </Button>
      </details>
      {acting.error && <Notice tone="fail">{acting.error}</Notice>}
    </div>
  );
}
