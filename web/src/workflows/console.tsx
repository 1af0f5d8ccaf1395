/** The test console: sends a real request to a webhook, or a real event, and shows what came back. */
import { useQueryClient } from "@tanstack/react-query";
import { ArrowRight, Send } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { Trigger } from "../api/documents";
import type { Operation } from "../api/policy";
import { useMay } from "../api/session";
import { type Answered, callWebhook, sendEvent } from "../api/triggers";
import { span } from "../look/time";
import { useActing } from "../parts/act";
import { Button } from "../parts/button";
import { CodeField, TextField } from "../parts/field";
import { JsonBox } from "../parts/json/box";
import { Notice } from "../parts/notice";
import { headersOf, parsed } from "../parts/parse";
import styles from "./triggers.module.css";

const PLAIN_HEADERS = "Content-Type: application/json";

export function WebhookConsole({ trigger }: { trigger: Trigger }) {
  const queries = useQueryClient();
  const acting = useActing();
  const [headers, setHeaders] = useState(PLAIN_HEADERS);
  const [body, setBody] = useState('{"order_id": 8841}');
  const [answer, setAnswer] = useState<Answered | null>(null);
  const read = headersOf(headers);
  const isSigned = trigger.config["signature"] != null || trigger.config["secret"] != null;
  const send = async () => {
    if (read.problem) return;
    setAnswer(null);
    await acting.run(async () => setAnswer(await callWebhook(trigger.url ?? "", read.headers, body)));
    void queries.invalidateQueries({ queryKey: ["firings"] });
    void queries.invalidateQueries({ queryKey: ["triggers"] });
  };
  return (
    <div className={styles["console"]}>
      {isSigned && <Notice>This trigger checks a signature. Without a valid one in the headers it answers 401, and lists the request as refused.</Notice>}
      <div className={styles["request"]}>
        <CodeField label="Body, sent as it is" value={body} rows={6} onText={setBody} onSend={() => void send()} hint="Ctrl Enter sends it. It starts a real run." />
        <CodeField label="Headers" value={headers} rows={6} problem={read.problem} onText={setHeaders} onSend={() => void send()} />
      </div>
      <Sending busy={acting.busy} disabled={read.problem !== null} word="Send the request" onSend={() => void send()} />
      {acting.error && <Notice tone="fail">{acting.error}</Notice>}
      {answer && <AnswerView answer={answer} />}
    </div>
  );
}

export function EventConsole({ trigger }: { trigger: Trigger }) {
  const queries = useQueryClient();
  const acting = useActing();
  const listened = trigger.config["event"] ?? trigger.config["event_type"] ?? trigger.config["type"];
  const [type, setType] = useState(() => (typeof listened === "string" ? listened.replace(/\*$/, "test") : ""));
  const [text, setText] = useState("{}");
  const [answer, setAnswer] = useState<Answered | null>(null);
  const { value, problem } = parsed(text);
  const may = useMay()("send_event");
  const send = async () => {
    if (problem || !may) return;
    setAnswer(null);
    const began = performance.now();
    await acting.run(async () => {
      const said = await sendEvent(type, value);
      setAnswer({ status: 202, ms: performance.now() - began, body: said, runId: said.firings[0]?.run_id ?? null });
    });
    void queries.invalidateQueries({ queryKey: ["firings"] });
  };
  return (
    <div className={styles["console"]}>
      <TextField label="Type of the event" value={type} onChange={(event) => setType(event.currentTarget.value)} />
      <CodeField label="Data, as JSON" value={text} rows={5} problem={problem} onText={setText} onSend={() => void send()} hint="It fires every trigger that listens, of every workflow." />
      <Sending busy={acting.busy} disabled={problem !== null || type === ""} word="Send the event" needs="send_event" onSend={() => void send()} />
      {acting.error && <Notice tone="fail">{acting.error}</Notice>}
      {answer && <AnswerView answer={answer} />}
    </div>
  );
}

function Sending({ busy, disabled, word, needs, onSend }: { busy: boolean; disabled: boolean; word: string; needs?: Operation; onSend: () => void }) {
  return (
    <div>
      <Button kind="primary" needs={needs} disabled={busy || disabled} onClick={onSend}>
        <Send className="icon" aria-hidden />
        {word}
      </Button>
    </div>
  );
}

function AnswerView({ answer }: { answer: Answered }) {
  return (
    <section className={styles["answer"]} aria-label="Answer" aria-live="polite">
      <p>
        <b className={answer.status < 300 ? styles["good"] : styles["bad"]}>{answer.status}</b> after {span(answer.ms)}
        {answer.runId && (
          <Link href={`/runs/${answer.runId}`}>
            Open the run
            <ArrowRight className="icon small" aria-hidden />
          </Link>
        )}
      </p>
      <JsonBox value={answer.body} label="Answer" />
    </section>
  );
}
