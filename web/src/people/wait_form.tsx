/** What a wait asks: about what, of whom, and until when. */
import { useQuery } from "@tanstack/react-query";
import { ArrowRight } from "lucide-react";
import { Fragment, type ReactNode } from "react";
import { Link } from "wouter";
import type { Ask, Wait } from "../api/documents";
import { now } from "../api/session";
import { definitionQuery } from "../api/waits";
import { several } from "../look/numbers";
import { moment } from "../look/time";
import { JsonBox } from "../parts/json/box";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { Answer, nameOf } from "./answer";
import { Deadline } from "./inbox";
import styles from "./inbox.module.css";

export function AnswerForm({ wait, onAnswered }: { wait: Wait; onAnswered: () => void }) {
  const { run, step } = wait;
  const definition = useQuery(definitionQuery(run.workflow_id, run.version));
  return (
    <article className={styles["wait"]}>
      <header>
        <Status of="waiting" pill />
        <h2>{nameOf(wait)}</h2>
      </header>
      {wait.title && wait.question && <p className={styles["question"]}>{wait.question}</p>}
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
              {wait.ask && AT_THE_END[wait.ask.on_timeout]}
            </span>
          )}
        </dd>
        {wait.ask?.kind === "approval" && <Progress ask={wait.ask} />}
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

/** What becomes of an approval when its time is over. */
const AT_THE_END: Record<string, string> = { approve: ", then it counts as approved", reject: ", then it counts as rejected" };

/** Of whom an approval asks, how far it is, and who is told when. */
function Progress({ ask }: { ask: Ask }) {
  const facts: [string, ReactNode][] = [];
  if (ask.assignees.length > 0) facts.push(["Asks", ask.assignees.join(", ")]);
  if (ask.quorum > 1) facts.push(["Approved by", `${ask.decisions.filter((one) => one.approved).length} of ${ask.quorum}`]);
  for (const one of ask.decisions) {
    const said = one.comment ? `: ${one.comment}` : "";
    facts.push([one.approved ? "Yes" : "No", <>{one.name ?? one.by}, <Time at={one.at} />{said}</>]);
  }
  if (ask.reminders > 0 || ask.next_reminder_at) {
    const next = ask.next_reminder_at && <>, the next <Time at={ask.next_reminder_at} /></>;
    facts.push(["Reminders", <>{ask.reminders === 0 ? "none yet" : several(ask.reminders, "reminder")}{next}</>]);
  }
  if (ask.escalates_at) facts.push(["Escalates", <><Time at={ask.escalates_at} />: {ask.escalates_to.join(", ")} may decide too</>]);
  return facts.map(([name, value], i) => (
    <Fragment key={`${name} ${i}`}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </Fragment>
  ));
}
